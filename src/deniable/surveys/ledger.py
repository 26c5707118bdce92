"""What this device has spent and drawn, in one SQLite file: written before anything leaves."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from deniable.core import SYSTEM, Number
from deniable.errors import AlreadyAnswered, InvalidParameter
from deniable.surveys.database import PrivateDatabase, is_new, stamp
from deniable.surveys.limits import USUAL_LIMIT, check_cost, checked_limit
from deniable.surveys.submission import KEY_BYTES

APPLICATION = 0x646E6C67
"""'dnlg' in the file's header: what tells a ledger from other SQLite files."""
VERSION = 1

TURN = b"turn"
"""What a turn is kept under; values are kept under digits."""
MEMORY = b"memory"
"""What a stream's memory is kept under."""
TWICE = "the question was already answered in this window; a second draw would cost privacy again"

SCHEMA = """
CREATE TABLE secret (one INTEGER PRIMARY KEY CHECK (one = 1), key BLOB NOT NULL);
CREATE TABLE spent (survey TEXT, draw INTEGER, epsilon TEXT NOT NULL, PRIMARY KEY (survey, draw)) WITHOUT ROWID;
CREATE TABLE kept (survey TEXT, tag BLOB, report BLOB NOT NULL, PRIMARY KEY (survey, tag)) WITHOUT ROWID;
CREATE TABLE answers (survey TEXT, period TEXT, key BLOB, report BLOB, state TEXT NOT NULL,
                      PRIMARY KEY (survey, period)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Pending:
    """A drawn report that is not yet acknowledged."""

    survey: str
    period: str
    key: bytes
    report: bytes


class Ledger:
    """Every draw this device ever made, and what it cost; only its owner can read the file (mode 0600).

    A draw, its cost and the key it will be sent under are committed and flushed together, before the report is
    returned. A crash at any moment therefore leaves either nothing, or a report that will be sent as it is: never
    two draws. `limit` is the most epsilon this person spends on all surveys together, under whatever names and in
    whatever windows they come: 8 unless your own code says otherwise.

    The values are not in the file. For permanent answers it holds an HMAC of the value beside the report; its key
    lies in the same file, so whoever has the file can try the values of a small domain. In a survey of changes (`changes:C`)
    the file does hold the last yes or no, because only that shows a change: protect it as the answer itself. After a report
    is acknowledged it is forgotten, unless it is permanent. Never delete a ledger or put back an old copy: what was
    spent would be spent again.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Ledger(folder + "/ledger.db", limit=4).spent()
    Fraction(0, 1)
    """

    __slots__ = ("_file", "_key", "limit")

    def __init__(self, path: str | os.PathLike[str], *, limit: Number = USUAL_LIMIT) -> None:
        self.limit = checked_limit("limit", limit)
        self._file = PrivateDatabase(path)
        self._key = self._file.identify("ledger", _ledger_key)

    @property
    def path(self) -> Path:
        """The file on disk, which must not be deleted: what was spent would be spent again."""
        return self._file.path

    def draw(
        self,
        survey: str,
        period: str,
        *,
        epsilon: Fraction,
        budget: Fraction,
        make: Callable[[], bytes],
        permanent: bytes | None = None,
        around: Callable[[bytes], bytes] | None = None,
    ) -> Pending:
        """The report for this period, drawn by `make` and written down with its cost; refused when that is too much.

        With `permanent` (the encoded value) a report kept for the same value is used again, at no cost. With `around`, what is
        kept is not sent: what `around` draws from it afresh is. A report
        drawn for this period that was never acknowledged is given back as it is: it stands, whatever the value is now.
        """
        with self._file.writing() as connection:
            before = _answered(connection, survey, period)
            if before is not None:
                return before
            report = self._kept(connection, survey, permanent)
            if report is None:
                self._check(connection, survey, epsilon, budget)
                report = make()
                _spend(connection, survey, epsilon)
                if permanent is not None:
                    connection.execute("INSERT INTO kept VALUES (?, ?, ?)", (survey, self._tag(survey, permanent), report))
            report = report if around is None else around(report)
            key = os.urandom(KEY_BYTES)
            connection.execute("INSERT INTO answers VALUES (?, ?, ?, ?, 'pending')", (survey, period, key, report))
        return Pending(survey, period, key, report)

    def walk(
        self,
        survey: str,
        period: str,
        *,
        epsilon: Fraction,
        budget: Fraction,
        begin: Callable[[], dict[str, Any]],
        step: Callable[[dict[str, Any]], bytes | None],
    ) -> Pending | None:
        """The report of a stream for this period, or None where it is silent; its memory is kept with it, in one transaction.

        `begin` draws the memory, once in a life, which is when epsilon is spent; `step` changes it and may draw a report.
        """
        with self._file.writing() as connection:
            before = _answered(connection, survey, period)
            if before is not None:
                return before
            kept, tag = self._kept(connection, survey, MEMORY), self._tag(survey, MEMORY)
            if kept is None:
                self._check(connection, survey, epsilon, budget)
                memory = begin()
                _spend(connection, survey, epsilon)
            else:
                memory = json.loads(kept)
            report = step(memory)
            written = json.dumps(memory, sort_keys=True).encode()
            if written != kept:
                connection.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", (survey, tag, written))
            if report is None:
                return None
            key = os.urandom(KEY_BYTES)
            connection.execute("INSERT INTO answers VALUES (?, ?, ?, ?, 'pending')", (survey, period, key, report))
        return Pending(survey, period, key, report)

    def turn(self, survey: str, turns: int) -> int:
        """The device's own turn of so many, drawn once and kept. It says nothing about an answer and costs nothing."""
        with self._file.writing() as connection:
            kept = self._kept(connection, survey, TURN)
            if kept is None:
                kept = str(SYSTEM.below(turns)).encode()
                connection.execute("INSERT INTO kept VALUES (?, ?, ?)", (survey, self._tag(survey, TURN), kept))
        return int(kept)

    def spend(self, survey: str, period: str, *, epsilon: Fraction, budget: Fraction) -> None:
        """Write down what an answer costs before it is drawn elsewhere, with a partner: at most one for each period.

        The answer that follows may fail; what was written stays spent, and no second one is begun.
        """
        with self._file.writing() as connection:
            query = "SELECT 1 FROM answers WHERE survey = ? AND period = ?"
            if connection.execute(query, (survey, period)).fetchone() is not None:
                raise AlreadyAnswered(TWICE)
            self._check(connection, survey, epsilon, budget)
            _spend(connection, survey, epsilon)
            connection.execute("INSERT INTO answers VALUES (?, ?, NULL, NULL, 'sent')", (survey, period))

    def settle(self, pending: Pending, *, refused: bool = False) -> None:
        """The collector has answered for good: forget the report. What it cost stays spent."""
        with self._file.writing() as connection:
            connection.execute(
                "UPDATE answers SET state = ?, key = NULL, report = NULL WHERE survey = ? AND period = ? AND key = ?",
                ("refused" if refused else "sent", pending.survey, pending.period, pending.key),
            )

    def pending(self, survey: str | None = None) -> list[Pending]:
        """What was drawn and not yet acknowledged."""
        query = "SELECT survey, period, key, report FROM answers WHERE state = 'pending' AND (survey = ? OR ? IS NULL)"
        with self._file.reading() as connection:
            rows = connection.execute(query, (survey, survey)).fetchall()
        return [Pending(row[0], row[1], bytes(row[2]), bytes(row[3])) for row in rows]

    def spent(self, survey: str | None = None) -> Fraction:
        """The epsilons of all draws, added exactly."""
        with self._file.reading() as connection:
            return _spent(connection, survey)

    def left(self) -> Fraction:
        """What this person may still spend, on all surveys together."""
        return max(self.limit - self.spent(), Fraction(0))

    def _check(self, connection: sqlite3.Connection, survey: str, epsilon: Fraction, budget: Fraction) -> None:
        check_cost(
            epsilon,
            ("the survey's lifetime budget", _spent(connection, survey), budget),
            ("your own limit", _spent(connection, None), self.limit),
        )

    def _kept(self, connection: sqlite3.Connection, survey: str, permanent: bytes | None) -> bytes | None:
        if permanent is None:
            return None
        row = connection.execute(
            "SELECT report FROM kept WHERE survey = ? AND tag = ?", (survey, self._tag(survey, permanent))
        ).fetchone()
        return None if row is None else bytes(row[0])

    def _tag(self, survey: str, value: bytes) -> bytes:
        return hmac.new(self._key, survey.encode() + b"\0" + value, hashlib.sha256).digest()

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"


def _ledger_key(connection: sqlite3.Connection) -> bytes:
    """The ledger's key, once the file is seen to be a ledger."""
    if is_new(connection, SCHEMA, APPLICATION, VERSION):
        key = os.urandom(32)
        connection.execute("INSERT INTO secret VALUES (1, ?)", (key,))
        return key
    if stamp(connection) != (APPLICATION, VERSION):
        raise InvalidParameter(f"path must be a ledger of version {VERSION} or a new file; this is another database")
    return bytes(connection.execute("SELECT key FROM secret").fetchone()[0])


def _answered(connection: sqlite3.Connection, survey: str, period: str) -> Pending | None:
    """The report of a period that waits; refused where it is gone, None where there was none."""
    query = "SELECT key, report, state FROM answers WHERE survey = ? AND period = ?"
    row = connection.execute(query, (survey, period)).fetchone()
    if row is None:
        return None
    if row[2] != "pending":
        raise AlreadyAnswered(TWICE)
    return Pending(survey, period, bytes(row[0]), bytes(row[1]))


def _spend(connection: sqlite3.Connection, survey: str, epsilon: Fraction) -> None:
    draws = connection.execute("SELECT count(*) FROM spent WHERE survey = ?", (survey,)).fetchone()[0]
    connection.execute("INSERT INTO spent VALUES (?, ?, ?)", (survey, draws, str(epsilon)))


def _spent(connection: sqlite3.Connection, survey: str | None) -> Fraction:
    rows = connection.execute("SELECT epsilon FROM spent WHERE survey = ? OR ? IS NULL", (survey, survey)).fetchall()
    return sum((Fraction(row[0]) for row in rows), start=Fraction(0))
