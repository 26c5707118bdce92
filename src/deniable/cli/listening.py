"""What every command that listens for connections is asked and says: where, with which certificate, how many connections."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

import click

from deniable.errors import InvalidParameter

WORKER = "DENIABLE_SOCKET"
"""Set for worker processes: the number of the listening socket they inherit."""

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def grouped(*options: Decorator) -> Decorator:
    """Several options as one, in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def address_options(port: int) -> Decorator:
    """Where to listen, with this port unless another is given."""
    return grouped(
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
    )


workers_option = click.option(
    "--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="How many processes serve requests."
)


_PEM = click.Path(exists=True, dir_okay=False)

tls_options = grouped(
    click.option("--tls-certificate", type=_PEM, help="The certificate for HTTPS, a PEM file."),
    click.option("--tls-key", type=_PEM, help="The certificate's private key, a PEM file."),
)

connection_options = grouped(
    click.option(
        "--connections",
        default=8000,
        show_default=True,
        type=click.IntRange(1),
        help="The most connections open at once, per worker.",
    ),
    click.option(
        "--connections-per-address",
        default=256,
        show_default=True,
        type=click.IntRange(1),
        help="The most connections from one address.",
    ),
)


proxy_options = grouped(
    click.option(
        "--trusted-proxy",
        "proxies",
        multiple=True,
        envvar="DENIABLE_TRUSTED_PROXY",
        metavar="ADDRESS",
        help="A proxy in front (an address or a network); only it may state the client's address. May be repeated.",
    ),
    click.option(
        "--allow-plain-http", is_flag=True, help="Serve other machines without TLS or a proxy: tokens are then sent unencrypted."
    ),
)


def listening_options(port: int, *, says: str = "Print JSON.") -> Decorator:
    """The options of a role beside the collector."""
    return grouped(
        address_options(port),
        tls_options,
        proxy_options,
        connection_options,
        click.option("--json", "as_json", is_flag=True, help=says),
    )


def refuse_plain_http(host: str, allowed: bool) -> None:
    """Whoever is on the way can read tokens and reports, and change them: only for those who ask for it."""
    if not allowed:
        raise InvalidParameter(
            f"--host {host} serves other machines, and without TLS tokens and reports can be read and changed on their way: give "
            "--tls-certificate and --tls-key, or the proxy that speaks TLS in front with --trusted-proxy ADDRESS; "
            "--allow-plain-http serves all the same"
        )
    if WORKER not in os.environ:
        click.echo(
            f"deniable: WARNING: serving {host} over plain HTTP. Everyone on the way can read tokens and reports, change them, and "
            "serve another page in place of this one.",
            err=True,
        )


def serving_of(
    *,
    host: str,
    port: int,
    tls_certificate: str | None,
    tls_key: str | None,
    proxies: tuple[str, ...],
    allow_plain_http: bool,
    connections: int,
    connections_per_address: int,
    **more: Any,
) -> Any:
    """How a role is served, by its `listening_options`; `more` is what only a collector has."""
    import deniable.collector as collector
    from deniable.surveys import is_loopback

    if (tls_certificate is None) != (tls_key is None):
        raise InvalidParameter("give both --tls-certificate and --tls-key, or neither")
    declared = collector.Proxies.parse(proxies)
    if not (tls_certificate or proxies or is_loopback(host)):
        refuse_plain_http(host, allow_plain_http)
    return collector.Serving(
        **{"database": "", **more},
        host=host,
        port=port,
        certificate=tls_certificate,
        private_key=tls_key,
        proxies=declared,
        limits=collector.Limits(connections=connections, connections_per_address=connections_per_address),
    )


def listen(serving: Any) -> tuple[socket.socket, str]:
    """The socket, and its address."""
    import deniable.collector as collector

    listening = collector.listening_socket(serving.host, serving.port)
    return listening, address_of(serving.host, listening.getsockname()[1], secure=serving.certificate is not None)


def address_of(host: str, port: int, *, secure: bool) -> str:
    """Where a server on this host and port is reached."""
    return f"{'https' if secure else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def announce(words: str, document: dict[str, Any], *, as_json: bool) -> None:
    """Say where it listens."""
    click.echo(json.dumps(document) if as_json else f"{words}\nStop with Ctrl-C.")
    sys.stdout.flush()
