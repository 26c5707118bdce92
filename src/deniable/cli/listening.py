"""The options of every command that listens for connections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

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
