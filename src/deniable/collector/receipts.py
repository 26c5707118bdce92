"""The keys that were counted, in parts that are dropped whole: one part of a survey, or one for each of its windows.

A part is a table of its own, `receipts_7`, that holds keys and nothing else. New keys go into the survey's last part; a key that
is in an earlier one is known. Where an operator bounds how many windows are remembered, the first reports of a new window begin a
new part, and the oldest are dropped: their pages are free at once, and nothing has to be looked through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, TextClause, bindparam, delete, select, text

from deniable.collector.tables import PARTS

# Asked in every transaction, so in the driver's own words: to have them put together would take longer than the answer.
_PARTS = {
    dialect: "SELECT p.number, p.period, s.receipt_windows FROM surveys s LEFT JOIN receipt_parts p ON p.survey = s.hash "  # noqa: S608
    f"WHERE s.hash = {mark} ORDER BY p.number"
    for dialect, mark in (("sqlite", "?"), ("postgresql", "%s"))
}
_COUNTING, _CUTTING = (text(f"SELECT pg_advisory_xact_lock{kind}(:class, :survey)") for kind in ("_shared", ""))
_LOCKS = 1_684_369_017
"""The class of these advisory locks; any number does."""


class NewPart(Exception):
    """The survey needs a part for this window; nothing was written."""

    def __init__(self, survey: str, period: str) -> None:
        super().__init__("the survey's receipts need another part")
        self.survey, self.period = survey, period


@dataclass(frozen=True)
class Parts:
    """A survey's parts, oldest first, and how many windows before the present one are remembered; None: all."""

    numbers: tuple[int, ...]
    last: str
    """The window of the last part; empty when it is of no window."""
    windows: int | None

    def lacks(self, period: str) -> bool:
        """Must reports of this window begin a part? A clock that went back must not."""
        return not self.numbers or (self.windows is not None and self.last < period)

    @property
    def outdated(self) -> tuple[int, ...]:
        """Those that are dropped when the last one was just begun."""
        return () if self.windows is None else self.numbers[: -(self.windows + 1)]


def parts_of(connection: Connection, survey: str) -> Parts:
    """What there is now."""
    rows = connection.exec_driver_sql(_PARTS[connection.dialect.name], (survey,)).fetchall()
    if not rows:
        raise LookupError("the survey was deleted")
    _, last, windows = rows[-1]
    return Parts(tuple(row[0] for row in rows if row[0] is not None), last or "", windows)


def receive(connection: Connection, survey: str, period: str, keys: Sequence[bytes]) -> list[bytes]:
    """Write receipts for the keys that have none; which were they?"""
    # Nobody begins a part while others count: a key could be new in both.
    _lock(connection, survey, _COUNTING)
    parts = parts_of(connection, survey)
    if parts.lacks(period):
        raise NewPart(survey, period)
    # In one order everywhere, so that two writers cannot wait for each other's keys.
    ordered = sorted(keys)
    given: tuple[Any, ...] = (len(ordered), b"".join(ordered)) if connection.dialect.name == "sqlite" else (ordered,)
    rows = connection.exec_driver_sql(_insert(connection.dialect.name, parts.numbers), given).fetchall()
    return [bytes(row[0]) for row in rows]


def known(connection: Connection, survey: str, keys: Sequence[bytes]) -> set[bytes]:
    """Those of the keys that have receipts."""
    counted: set[bytes] = set()
    for number in parts_of(connection, survey).numbers:
        for begin in range(0, len(keys), 1000):
            counted.update(map(bytes, connection.execute(_known(number), {"keys": keys[begin : begin + 1000]}).scalars()))
    return counted


def begin_part(connection: Connection, survey: str, period: str) -> None:
    """Begin the part of a window, unless another writer just did, and drop those that are too old."""
    _lock(connection, survey, _CUTTING)
    before = parts_of(connection, survey)
    if before.lacks(period):
        add_part(connection, survey, "" if before.windows is None else period)
        _drop(connection, parts_of(connection, survey).outdated)


def add_part(connection: Connection, survey: str, period: str) -> int:
    """A new table; its number."""
    number = int(connection.execute(PARTS.insert().values(survey=survey, period=period).returning(PARTS.c.number)).scalar_one())
    column = "key BLOB PRIMARY KEY NOT NULL) WITHOUT ROWID" if connection.dialect.name == "sqlite" else "key BYTEA PRIMARY KEY)"
    connection.exec_driver_sql(f"CREATE TABLE receipts_{number} ({column}")
    return number


def drop_receipts(connection: Connection, survey: str) -> int:
    """Forget which keys of a survey were counted; how many parts went."""
    _lock(connection, survey, _CUTTING)
    query = select(PARTS.c.number).where(PARTS.c.survey == survey)
    numbers = tuple(connection.execute(query).scalars())
    _drop(connection, numbers)
    return len(numbers)


def _drop(connection: Connection, numbers: Sequence[int]) -> None:
    for number in numbers:
        connection.exec_driver_sql(f"DROP TABLE receipts_{number}")
        connection.execute(delete(PARTS).where(PARTS.c.number == number))


def _lock(connection: Connection, survey: str, how: TextClause) -> None:
    """PostgreSQL: until the transaction ends. A writer of SQLite is alone anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(how, {"class": _LOCKS, "survey": int(survey[:8], 16) - (1 << 31)})


# All keys in one parameter: a statement with a thousand parameters would cost more than the insert itself.
@lru_cache(maxsize=256)
def _insert(dialect: str, numbers: tuple[int, ...]) -> str:
    new = "".join(f" AND NOT EXISTS (SELECT 1 FROM receipts_{number} WHERE key = k)" for number in numbers[:-1])  # noqa: S608
    if dialect == "sqlite":
        return (
            "WITH RECURSIVE numbers(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i + 1 < ?) "  # noqa: S608 - numbers of ours
            f"INSERT INTO receipts_{numbers[-1]} (key) SELECT k FROM (SELECT substr(?, 16 * i + 1, 16) AS k FROM numbers) "
            f"WHERE true{new} ON CONFLICT DO NOTHING RETURNING key"
        )
    return (
        f"INSERT INTO receipts_{numbers[-1]} (key) SELECT k FROM unnest(CAST(%s AS bytea[])) AS k "  # noqa: S608 - numbers of ours
        f"WHERE true{new} ORDER BY k ON CONFLICT DO NOTHING RETURNING key"
    )


@lru_cache(maxsize=256)
def _known(number: int) -> TextClause:
    return text(f"SELECT key FROM receipts_{number} WHERE key IN :keys").bindparams(bindparam("keys", expanding=True))  # noqa: S608
