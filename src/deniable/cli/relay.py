"""`deniable relay`: between devices and a collector, so that neither network nor collector knows whose report it is."""

from __future__ import annotations

import json
import os
import socket
import sys

import click

from deniable.cli.listening import address_options, connection_options, tls_options, workers_option
from deniable.cli.serve import WORKER, address_of, refuse_plain_http
from deniable.errors import InvalidParameter


@click.command()
@click.option("--gateway", required=True, help="The collector's address: https://collector.example.org.")
@address_options(port=8010)
@workers_option
@click.option("--ca", type=click.Path(exists=True, dir_okay=False), help="CA certificates (PEM) to trust for the gateway.")
@tls_options
@click.option("--trusted-proxy", "proxies", multiple=True, metavar="ADDRESS", help="A proxy in front. May be repeated.")
@click.option("--allow-plain-http", is_flag=True, help="Serve other machines without TLS or a proxy.")
@connection_options
@click.option("--json", "as_json", is_flag=True, help="Say where it listens as JSON.")
def relay(
    gateway: str,
    host: str,
    port: int,
    workers: int,
    ca: str | None,
    tls_certificate: str | None,
    tls_key: str | None,
    proxies: tuple[str, ...],
    allow_plain_http: bool,
    connections: int,
    connections_per_address: int,
    as_json: bool,
) -> None:
    """Pass encrypted reports on to a collector.

    The relay sees addresses and cannot read reports; the collector reads reports and sees only the relay. It stores and logs
    nothing. That separates the two only if different people run them.
    """
    import deniable.collector as collector

    if (tls_certificate is None) != (tls_key is None):
        raise InvalidParameter("give both --tls-certificate and --tls-key, or neither")
    from deniable.surveys import checked_url, is_loopback

    checked_url(gateway)
    if not (tls_certificate or proxies or is_loopback(host)):
        refuse_plain_http(host, allow_plain_http)
    serving = collector.Serving(
        database="",
        host=host,
        port=port,
        certificate=tls_certificate,
        private_key=tls_key,
        proxies=collector.Proxies.parse(proxies),
        limits=collector.Limits(connections=connections, connections_per_address=connections_per_address),
    )
    if WORKER in os.environ:
        collector.serve_relay(serving, gateway, socket.socket(fileno=int(os.environ[WORKER])), ca=ca)
        return
    listening = collector.listening_socket(host, port)
    address = address_of(host, listening.getsockname()[1], secure=tls_certificate is not None)

    def announce() -> None:
        if as_json:
            click.echo(json.dumps({"address": address, "gateway": gateway}))
        else:
            click.echo(f"Relaying at {address} to {gateway}\nStop with Ctrl-C.")
        sys.stdout.flush()

    if workers > 1:
        announce()
        sys.exit(collector.run_workers(sys.argv[1:], workers, listening))
    collector.serve_relay(serving, gateway, listening, ca=ca, ready=announce)
