"""For commands that work on a collector's database: which one, and which of its surveys is meant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from deniable.errors import InvalidParameter, MissingPackage

SHORTEST = 8
"""Digits of a hash that are enough when no other survey begins with them."""
LISTED = "`deniable survey list` shows all of them"

database_option = click.option(
    "--database",
    default="sqlite:///collector.db",
    envvar="DENIABLE_DATABASE",
    show_default=True,
    help="The collector's database, also $DENIABLE_DATABASE.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@contextmanager
def opened_store(database: str, *, new: bool = False) -> Iterator[Any]:
    """The database of a collector, which may be running meanwhile; without `new`, one that is there already."""
    path = database.removeprefix("sqlite:///")
    if not new and path != database and not Path(path).exists():
        raise InvalidParameter(f"--database: there is no file {path}; `deniable serve` makes one")
    try:
        from deniable.collector import Store, refusals_in_words
    except ImportError as error:
        raise MissingPackage(f"a collector's database needs {error.name}: pip install 'deniable[collector]'") from None
    store = Store(database)
    try:
        with refusals_in_words():
            yield store
    finally:
        store.close()


def named_survey(store: Any, name: str) -> str:
    """The hash of a survey, from all of it or its beginning."""
    hashes = [known for known in store.open_hashes() if known.startswith(name)] if len(name) >= SHORTEST else []
    if len(hashes) == 1:
        return str(hashes[0])
    if len(name) < SHORTEST:
        raise InvalidParameter(f"SURVEY must be a survey's hash, or at least its first {SHORTEST} digits; {LISTED}")
    raise InvalidParameter(
        f"{'several surveys have hashes that begin' if hashes else 'no survey has a hash that begins'} with these digits; {LISTED}"
    )
