"""`deniable token`: make, list and revoke the tokens of a collector."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import click

from deniable.cli.database_option import database_option, json_option, opened_store
from deniable.cli.terminal import console, print_json, table
from deniable.errors import InvalidParameter


class _Tokens(click.Group):
    """A group in which a name that is no command makes a token of that name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["make", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Tokens, short_help="Make, list and revoke tokens for the collector.")
def token() -> None:
    """Manage tokens: who may administer a collector, or send reports to one that requires a token.

    \b
    deniable token alice                     the same as `deniable token make alice`
    deniable token kiosk --role submit --expires 90
    deniable token list
    deniable token revoke kiosk
    """


@token.command()
@click.argument("name")
@click.option("--role", type=click.Choice(["admin", "submit"]), default="admin", show_default=True, help="What it allows.")
@click.option(
    "--expires", metavar="DAYS|DATE", help="Valid for this many days, or until the end of a day such as 2027-03-31 (UTC)."
)
@database_option
@json_option
def make(name: str, role: str, expires: str | None, database: str, as_json: bool) -> None:
    """Make a token called NAME and print it once.

    Only its hash is stored.
    """
    path = database.removeprefix("sqlite:///")
    is_new = database.startswith("sqlite:///") and not Path(path).exists()
    until = None if expires is None else moment(expires)
    with opened_store(database, new=True) as store:
        text = store.add_token(name, role, until)
    if as_json:
        print_json({"name": name, "role": role, "token": text, "expires": None if until is None else _day(until)})
    else:
        click.echo(text)
    if is_new:
        click.echo(f"deniable: {path} is a new database; the token is for a collector that is served with it", err=True)


@token.command("list")
@database_option
@json_option
def list_command(database: str, as_json: bool) -> None:
    """List tokens: their names, what they allow and when they expire. The tokens themselves are not stored."""
    with opened_store(database) as store:
        known = list(store.tokens().values())
    if as_json:
        rows = [
            {"name": one.name, "role": one.role, "expires": None if one.expires is None else _day(one.expires)} for one in known
        ]
        print_json(rows)
        return
    shown = table("name", "role", "valid until")
    for one in known:
        ended = one.expires is not None and one.expires <= time.time()
        shown.add_row(one.name, one.role, "no limit" if one.expires is None else _day(one.expires) + (" (over)" if ended else ""))
    console().print(shown)


@token.command()
@click.argument("name")
@database_option
@json_option
def revoke(name: str, database: str, as_json: bool) -> None:
    """Revoke the token called NAME, in every worker within a second."""
    with opened_store(database) as store:
        if not store.revoke_token(name):
            raise InvalidParameter(f"there is no token called {name[:60]!r}; `deniable token list` shows them")
    if as_json:
        print_json({"name": name, "revoked": True})
    else:
        click.echo(f"{name} is revoked")


def moment(text: str) -> int:
    """When a token ends, in seconds since 1970."""
    if text.isascii() and text.isdecimal() and 1 <= int(text[:6]) <= 36_500:
        return int((datetime.now(UTC) + timedelta(days=int(text))).timestamp())
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise InvalidParameter("--expires must be a number of days or a day such as 2027-03-31") from None
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) + 86_400


def _day(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
