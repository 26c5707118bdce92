"""`deniable relay`: between devices and a collector, so that neither network nor collector knows whose report it is."""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

import click

from deniable.cli.listening import WORKER, announce, listen, listening_options, serving_of, workers_option


@click.command()
@click.option("--gateway", required=True, help="The collector's address: https://collector.example.org.")
@click.option("--ca", type=click.Path(exists=True, dir_okay=False), help="CA certificates (PEM) to trust for the gateway.")
@workers_option
@listening_options(8010, says="Say where it listens as JSON.")
def relay(gateway: str, ca: str | None, workers: int, as_json: bool, **where: Any) -> None:
    """Pass encrypted reports on to a collector.

    The relay sees addresses and cannot read reports; the collector reads reports and sees only the relay. It stores and logs
    nothing. That separates the two only if different people run them.
    """
    import deniable.collector as collector
    from deniable.surveys import checked_url

    checked_url(gateway)
    serving = serving_of(**where)
    if WORKER in os.environ:
        collector.serve_relay(serving, gateway, socket.socket(fileno=int(os.environ[WORKER])), ca=ca)
        return
    listening, address = listen(serving)

    def ready() -> None:
        announce(f"Relaying at {address} to {gateway}", {"address": address, "gateway": gateway}, as_json=as_json)

    if workers > 1:
        ready()
        sys.exit(collector.run_workers(sys.argv[1:], workers, listening, log=serving.log))
    collector.serve_relay(serving, gateway, listening, ca=ca, ready=ready)
