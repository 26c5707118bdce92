"""What was submitted from this machine, so that nobody in a file is counted twice by running a command twice."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from deniable.surveys import PrivateDatabase

SCHEMA = """
CREATE TABLE IF NOT EXISTS secret (value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS sent (survey TEXT NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (survey, digest)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outbox (number INTEGER PRIMARY KEY, survey TEXT NOT NULL, body BLOB NOT NULL);
"""


def usual_place() -> Path:
    """Where the journal is unless one is named: in the user's own folder for such things."""
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return Path(home) / "deniable" / "submitted.db"


class Journal:
    """Which people of which files were submitted, by keyed digests, and batches that were drawn but not acknowledged yet.

    A batch and the digests of its people are committed together before it is sent. A run that was stopped at any moment is
    continued by the next one: what was drawn is sent as it is, never drawn again.
    """

    def __init__(self, path: str | os.PathLike[str], survey_hash: str) -> None:
        Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = PrivateDatabase(path)
        self._survey = survey_hash
        self._secret = self._file.identify("journal of deniable submit", _secret_of)

    def digest(self, name: bytes) -> bytes:
        """What stands for a person or a part of a file; worthless without the journal's own secret."""
        return hmac.digest(self._secret, bytes.fromhex(self._survey) + name, hashlib.sha256)[:16]

    def known(self, digests: Iterable[bytes]) -> set[bytes]:
        """Those that were submitted before."""
        with self._file.reading() as connection:
            asked = "SELECT 1 FROM sent WHERE survey = ? AND digest = ?"
            return {one for one in digests if connection.execute(asked, (self._survey, one)).fetchone()}

    def add(self, digests: Sequence[bytes], body: bytes) -> int | None:
        """Keep a batch until it is acknowledged; its number. None when another run has submitted some of it meanwhile."""
        with self._file.writing() as connection:
            rows = [(self._survey, one) for one in digests]
            asked = "SELECT 1 FROM sent WHERE survey = ? AND digest = ?"
            if any(connection.execute(asked, row).fetchone() for row in rows):
                return None
            connection.executemany("INSERT INTO sent VALUES (?, ?)", rows)
            return int(connection.execute("INSERT INTO outbox (survey, body) VALUES (?, ?)", (self._survey, body)).lastrowid or 0)

    def acknowledged(self, number: int) -> None:
        """A batch is counted; forget it."""
        with self._file.writing() as connection:
            connection.execute("DELETE FROM outbox WHERE number = ?", (number,))

    def waiting(self) -> list[tuple[int, bytes]]:
        """Batches of this survey that were never acknowledged."""
        with self._file.reading() as connection:
            rows = connection.execute("SELECT number, body FROM outbox WHERE survey = ? ORDER BY number", (self._survey,))
            return [(int(number), bytes(body)) for number, body in rows]


def _secret_of(connection: sqlite3.Connection) -> bytes:
    for statement in filter(str.strip, SCHEMA.split(";")):
        connection.execute(statement)
    row = connection.execute("SELECT value FROM secret").fetchone()
    if row is None:
        row = (secrets.token_bytes(32),)
        connection.execute("INSERT INTO secret VALUES (?)", row)
    return bytes(row[0])
