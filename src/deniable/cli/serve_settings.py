"""Where `deniable serve` gets its options from: the command line, else the environment, else one TOML file."""

from __future__ import annotations

import os
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import click

from deniable.errors import InvalidParameter

PREFIX = "DENIABLE"
PAUSE = 0.5
T = TypeVar("T")


def read_settings(ctx: click.Context, _: click.Parameter, path: str | None) -> None:
    """The file's values become the defaults of the options they are named for."""
    if path is None:
        return
    name = Path(path).name
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise InvalidParameter(f"{name} is not a TOML file; write one option on each line, such as port = 8000") from None
    options = {_key(option): option for option in ctx.command.params if option.name != "settings"}
    values: dict[str, Any] = {}
    for key, value in document.items():
        option = options.get(key.replace("_", "-"))
        if option is None or option.name is None:
            raise InvalidParameter(f"{name}: serve has no option {key[:60]!r}; there are {', '.join(sorted(options))}")
        if option.multiple or option.nargs == -1:
            values[option.name] = [str(part) for part in (value if isinstance(value, list) else [value])]
        else:
            values[option.name] = value
    ctx.default_map = values


def _key(option: click.Parameter) -> str:
    return next((text.removeprefix("--") for text in option.opts if text.startswith("--")), option.name or "")


def hide_password(ctx: click.Context, database: str) -> None:
    """Everyone on the machine can read a command line."""
    typed = ctx.get_parameter_source("database") is click.core.ParameterSource.COMMANDLINE
    if typed and urlsplit(database).password and "DENIABLE_SOCKET" not in os.environ:
        step = f"set {PREFIX}_DATABASE, or write it into the file of --settings"
        click.echo(f"deniable: WARNING: others on this machine can see the password in --database; {step}", err=True)


def waiting_for(open_database: Callable[[], T], seconds: float) -> T:
    """Open a database that may not be there yet; says so once, and gives up after so many seconds."""
    until, told = time.monotonic() + seconds, False
    while True:
        try:
            return open_database()
        except InvalidParameter as error:
            if not _passing(error.__cause__) or time.monotonic() + PAUSE > until:
                raise
            if not told:
                click.echo(f"deniable: {error}; waiting up to {seconds:g} seconds for it", err=True)
                told = True
        time.sleep(PAUSE)


def _passing(error: BaseException | None) -> bool:
    """Is this something that waiting can mend: a server that starts or recovers, a lock? A wrong password is not."""
    original = getattr(error, "orig", None)
    state = getattr(original, "sqlstate", None)
    if state is not None:
        return str(state) in ("57P03", "53300") or str(state).startswith("08")
    words = str(original)
    # libpq has no state for servers it did not reach; what they refuse themselves begins with FATAL.
    return "locked" in words or ("FATAL" not in words and "connection" in words) or "starting up" in words or "recovery" in words
