"""What every role that listens is asked: where, with which certificate, how many connections."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from deniable.cli.serve import address_of, refuse_plain_http
from deniable.errors import InvalidParameter

Command = TypeVar("Command", bound=Callable[..., Any])


def listening_options(port: int) -> Callable[[Command], Command]:
    """--host, --port and the rest."""
    options = [
        click.option(
            "--host",
            default="127.0.0.1",
            show_default=True,
            help="The interface to listen on; one that other machines can reach needs TLS or a proxy.",
        ),
        click.option(
            "--port",
            default=port,
            show_default=True,
            type=click.IntRange(0, 65535),
            help="The port to listen on; 0 takes any free one.",
        ),
        click.option(
            "--tls-certificate", type=click.Path(exists=True, dir_okay=False), help="The certificate for HTTPS, a PEM file."
        ),
        click.option("--tls-key", type=click.Path(exists=True, dir_okay=False), help="The certificate's private key, a PEM file."),
        click.option("--trusted-proxy", "proxies", multiple=True, metavar="ADDRESS", help="A proxy in front. May be repeated."),
        click.option("--allow-plain-http", is_flag=True, help="Serve other machines without TLS or a proxy."),
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    ]

    def wrapped(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return wrapped


def listen(
    *,
    host: str,
    port: int,
    tls_certificate: str | None,
    tls_key: str | None,
    proxies: tuple[str, ...],
    allow_plain_http: bool,
) -> tuple[Any, socket.socket, str]:
    """How to serve, the socket, and its address."""
    import deniable.collector as collector
    from deniable.surveys import is_loopback

    if (tls_certificate is None) != (tls_key is None):
        raise InvalidParameter("give both --tls-certificate and --tls-key, or neither")
    if not (tls_certificate or proxies or is_loopback(host)):
        refuse_plain_http(host, allow_plain_http)
    serving = collector.Serving(
        database="",
        host=host,
        port=port,
        certificate=tls_certificate,
        private_key=tls_key,
        proxies=collector.Proxies.parse(proxies),
    )
    listening = collector.listening_socket(host, port)
    return serving, listening, address_of(host, listening.getsockname()[1], secure=tls_certificate is not None)


def announce(words: str, document: dict[str, Any], *, as_json: bool) -> None:
    """Say where it listens."""
    click.echo(json.dumps(document) if as_json else f"{words}\nStop with Ctrl-C.")
    sys.stdout.flush()
