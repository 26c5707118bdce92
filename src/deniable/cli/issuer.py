"""`deniable issuer`: who may answer, once, without being recognised."""

from __future__ import annotations

import secrets
import shlex
from typing import Any

import click

from deniable.cli.listening import announce, listen, listening_options, serving_of
from deniable.cli.terminal import print_json
from deniable.errors import InvalidParameter


@click.command(short_help="Give every invited person tokens that do not name them.")
@click.option(
    "--key", "keys", multiple=True, metavar="FILE.pem", help="The issuer's private key. May be repeated, one for each round."
)
@click.option("--new-key", type=click.Path(dir_okay=False), metavar="FILE.pem", help="Make a key, print its public part, and stop.")
@click.option("--new-codes", type=click.IntRange(1, 10**6), metavar="N", help="Print this many new invitation codes, and stop.")
@click.option(
    "--invitations",
    type=click.Path(exists=True, dir_okay=False),
    help="Admit people by one-time codes: a file with one code per line.",
)
@click.option("--attest", metavar="COMMAND", help="Admit people by a program: it reads the credential and exits with 0 to admit.")
@click.option(
    "--tokens", default=1, show_default=True, type=click.IntRange(1, 1000), help="How many tokens each person gets per key."
)
@click.option(
    "--database",
    default="issuer.db",
    show_default=True,
    type=click.Path(dir_okay=False),
    help="Where requests are recorded, as hashes.",
)
@listening_options(8020)
def issuer(
    keys: tuple[str, ...],
    new_key: str | None,
    new_codes: int | None,
    invitations: str | None,
    attest: str | None,
    tokens: int,
    database: str,
    as_json: bool,
    **where: Any,
) -> None:
    """Sign tokens for people who may answer a survey.

    The issuer learns who asked, not which token they got: tokens are signed blindly (RFC 9474, RFC 9578). A survey with
    [admission] in its file counts a report only with such a token, and each token once. The database holds hashes of requests,
    not names.
    """
    import deniable.collector as collector

    if new_codes is not None:
        codes = [secrets.token_hex(16) for _ in range(new_codes)]
        print_json({"codes": codes}) if as_json else click.echo("\n".join(codes))
        return
    if new_key is not None:
        text = collector.issuer_key(new_key, new=True).text
        print_json({"key": text, "file": new_key}) if as_json else click.echo(text)
        return
    if not keys:
        raise InvalidParameter("--key is missing: the issuer's private key; `deniable issuer --new-key issuer.pem` makes one")
    if (invitations is None) == (attest is None):
        raise InvalidParameter("give one of --invitations and --attest: how are people admitted?")
    attestation: Any
    if invitations is not None:
        attestation = collector.Invitations(invitations)
    else:
        attestation = collector.AttestationCommand(tuple(shlex.split(str(attest))))
    files = [collector.issuer_key(path) for path in keys]
    issued = collector.Issued(database, files[0].secret)
    app = collector.Issuer([file.issuer for file in files], attestation, issued, tokens=tokens)
    serving = serving_of(**where)
    listening, address = listen(serving)
    public = [file.text for file in files]
    collector.serve_app(
        app,
        serving,
        listening,
        ready=lambda: announce(f"Issuing at {address}", {"address": address, "keys": public}, as_json=as_json),
    )
