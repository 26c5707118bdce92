"""What a shuffler holds: records on disk that are a uniformly random permutation, whatever the order of arrival.

Arrivals go to slots drawn with the system's generator (`slots`). All records of a survey have one length, so SQLite overwrites them
in place: neither the table nor its pages know who came first. What was received is remembered the same way, in an order of its
own. The arrivals of the last moment lie apart until many are mixed in at once; then they and the log are deleted and overwritten.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deniable.collector.slots import place_among, random_order, read_slots, rows_table
from deniable.errors import InvalidParameter
from deniable.surveys import PrivateDatabase

if TYPE_CHECKING:
    from collections.abc import Iterator

APPLICATION, VERSION = 0x646E7368, 2
"""'dnsh' in the file's header."""
NEW, KNOWN, SPENT = "new", "known", "spent"
"""What became of an arrival: taken now, taken before, or its token was spent on another report."""
CHUNK = 1000
MIX_RECORDS = 50_000
"""So many arrivals are mixed in at once; fewer after a moment."""
KEY = 16
_TABLES = (
    "CREATE TABLE surveys (hash TEXT PRIMARY KEY, released INTEGER NOT NULL, seen INTEGER NOT NULL, place INTEGER UNIQUE NOT NULL)",
    "CREATE TABLE batches (number INTEGER PRIMARY KEY AUTOINCREMENT, survey TEXT NOT NULL, n INTEGER NOT NULL,"
    " mixed INTEGER NOT NULL, sent INTEGER, size INTEGER, UNIQUE (survey, number))",
    "CREATE TABLE recent (number INTEGER PRIMARY KEY, batch INTEGER NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL)",
)
# Not among the others: files of the same version that are older do not have it, and do not need it.
_DOCUMENTS = "CREATE TABLE IF NOT EXISTS documents (hash TEXT PRIMARY KEY, data BLOB NOT NULL)"


class Sealed(NamedTuple):
    """One arrival: its key, its token's name (the key again where there is none), and what is forwarded."""

    key: bytes
    nonce: bytes
    record: bytes


class Batch(NamedTuple):
    """A batch that is being forwarded: how many records it has, and how many were acknowledged."""

    number: int
    survey: str
    n: int
    sent: int


class Mixing:
    """One SQLite file, one process. Every method that writes is one transaction, flushed when it returns."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        file = PrivateDatabase(path)
        # Two shufflers on one file would each know only what they received themselves.
        self._held = file.path.open("rb")
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._held.close()
            raise InvalidParameter(f"{file.path.name} is used by another shuffler; give every shuffler a file of its own") from None
        file.identify("shuffler's file", _prepare)
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(f"{file.path.as_uri()}?mode=rw", uri=True, isolation_level=None, check_same_thread=False)
        for pragma in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "secure_delete = ON",
            "temp_store = MEMORY",
            "cache_size = -8000",
        ):
            self._connection.execute(f"PRAGMA {pragma}")
        self._keys: dict[str, set[bytes]] = {}
        self._nonces: dict[str, set[bytes]] = {}

    def open(self, survey: str, *, now: float | None = None) -> None:
        """Take records of a survey from now on."""
        with self._lock, self._writing() as connection:
            if connection.execute("SELECT 1 FROM surveys WHERE hash = ?", (survey,)).fetchone() is None:
                place = connection.execute("SELECT coalesce(max(place), 0) + 1 FROM surveys").fetchone()[0]
                moment = int(time.time() if now is None else now)
                connection.execute("INSERT INTO surveys VALUES (?, ?, 0, ?)", (survey, moment, place))
                connection.execute(rows_table(f"seen_{place}"))
                _begin(connection, survey)
            self._mix(connection, survey)
            seen, place = connection.execute("SELECT seen, place FROM surveys WHERE hash = ?", (survey,)).fetchone()
            entries = list(map(bytes, read_slots(connection, f"seen_{place}", 0, seen, 2 * KEY)))
        self._keys[survey] = {entry[:KEY] for entry in entries}
        # Where reports have no token, the name is the key.
        self._nonces[survey] = {entry[KEY:] for entry in entries if entry[KEY:] != entry[:KEY]}

    def keep_document(self, survey: str, data: bytes) -> None:
        """Remember what a survey says, so that a shuffler can start while its collector is away."""
        with self._lock, self._writing() as connection:
            connection.execute(_DOCUMENTS)
            connection.execute("INSERT INTO documents VALUES (?, ?) ON CONFLICT DO NOTHING", (survey, data))

    def document(self, survey: str) -> bytes | None:
        """What was remembered; None if nothing was."""
        with self._lock, self._writing() as connection:
            connection.execute(_DOCUMENTS)
            row = connection.execute("SELECT data FROM documents WHERE hash = ?", (survey,)).fetchone()
        return None if row is None else bytes(row[0])

    def add(self, survey: str, arrivals: Sequence[Sealed]) -> list[str]:
        """Take what is new; durable when this returns. For each arrival, what became of it."""
        with self._lock:
            keys, nonces = self._keys[survey], self._nonces[survey]
            answers, fresh = [], []
            taken_keys, taken_nonces = set[bytes](), set[bytes]()
            for one in arrivals:
                if one.key in keys or one.key in taken_keys:
                    answers.append(KNOWN)
                elif one.nonce in nonces or one.nonce in taken_nonces:
                    answers.append(SPENT)
                else:
                    answers.append(NEW)
                    fresh.append(one)
                    taken_keys.add(one.key)
                    if one.nonce != one.key:
                        taken_nonces.add(one.nonce)
            if fresh:
                with self._writing() as connection:
                    self._take(connection, survey, fresh)
                keys |= taken_keys
                nonces |= taken_nonces
        return answers

    def _take(self, connection: sqlite3.Connection, survey: str, fresh: list[Sealed]) -> None:
        query = "SELECT number, n, mixed FROM batches WHERE survey = ? AND sent IS NULL"
        number, n, mixed = connection.execute(query, (survey,)).fetchone()
        size = len(fresh[0].record)
        row = (number, size + 2 * KEY, b"".join(b"".join(fresh[place]) for place in random_order(len(fresh))))
        connection.execute("INSERT INTO recent (batch, size, data) VALUES (?, ?, ?)", row)
        connection.execute("UPDATE batches SET n = n + ?, size = ? WHERE number = ?", (len(fresh), size, number))
        if n + len(fresh) - mixed >= MIX_RECORDS:
            self._mix(connection, survey)

    def _mix(self, connection: sqlite3.Connection, survey: str) -> None:
        """Put the arrivals of the last moment among the others."""
        query = "SELECT number, mixed FROM batches WHERE survey = ? AND sent IS NULL"
        number, mixed = connection.execute(query, (survey,)).fetchone()
        rows = connection.execute("SELECT size, data FROM recent WHERE batch = ?", (number,)).fetchall()
        if rows:
            seen, place = connection.execute("SELECT seen, place FROM surveys WHERE hash = ?", (survey,)).fetchone()
            parts = np.concatenate([np.frombuffer(data, np.uint8).reshape(-1, size) for size, data in rows])
            place_among(connection, f"batch_{number}", mixed, parts[:, 2 * KEY :])
            place_among(connection, f"seen_{place}", seen, parts[:, : 2 * KEY])
            connection.execute("UPDATE batches SET mixed = mixed + ? WHERE number = ?", (len(parts), number))
            connection.execute("UPDATE surveys SET seen = seen + ? WHERE hash = ?", (len(parts), survey))
            connection.execute("DELETE FROM recent WHERE batch = ?", (number,))

    def waiting(self, survey: str) -> int:
        """How many records wait for others."""
        with self._lock:
            query = "SELECT n FROM batches WHERE survey = ? AND sent IS NULL"
            return int(self._connection.execute(query, (survey,)).fetchone()[0])

    def release(self, survey: str, *, at_least: int, seconds: float, now: float | None = None) -> bool:
        """Close the batch if it has at least so many records and so much time has passed since the last one; else nothing."""
        moment = time.time() if now is None else now
        with self._lock, self._writing() as connection:
            row = connection.execute("SELECT number, n FROM batches WHERE survey = ? AND sent IS NULL", (survey,)).fetchone()
            released = connection.execute("SELECT released FROM surveys WHERE hash = ?", (survey,)).fetchone()[0]
            if row[1] < at_least or moment < released + seconds:
                return False
            self._mix(connection, survey)
            connection.execute("UPDATE batches SET sent = 0 WHERE number = ?", (row[0],))
            connection.execute("UPDATE surveys SET released = ? WHERE hash = ?", (int(moment), survey))
            _begin(connection, survey)
            return True

    def sending(self) -> list[Batch]:
        """Batches that are on their way, oldest first."""
        with self._lock:
            rows = self._connection.execute("SELECT number, survey, n, sent FROM batches WHERE sent IS NOT NULL ORDER BY number")
            return [Batch(*row) for row in rows]

    def chunk(self, batch: Batch) -> list[bytes]:
        """The next records of a batch."""
        with self._lock:
            size = self._connection.execute("SELECT size FROM batches WHERE number = ?", (batch.number,)).fetchone()[0]
            last = min(batch.n, batch.sent + CHUNK)
            return list(map(bytes, read_slots(self._connection, f"batch_{batch.number}", batch.sent, last, size)))

    def acknowledged(self, batch: Batch, count: int) -> None:
        """The collector has these; a batch that it has whole is deleted."""
        with self._lock, self._writing() as connection:
            if batch.sent + count < batch.n:
                connection.execute("UPDATE batches SET sent = sent + ? WHERE number = ?", (count, batch.number))
            else:
                connection.execute(f"DROP TABLE batch_{batch.number}")
                connection.execute("DELETE FROM batches WHERE number = ?", (batch.number,))

    def tidy(self) -> None:
        """Mix what came last, and empty the log: they would tell the order of arrival."""
        with self._lock:
            with self._writing() as connection:
                for survey in self._keys:
                    self._mix(connection, survey)
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def close(self) -> None:
        """Leave nothing but the tables."""
        self.tidy()
        self.abandon()

    def abandon(self) -> None:
        """Let go of the file as it is."""
        self._connection.close()
        self._held.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")


def _begin(connection: sqlite3.Connection, survey: str) -> None:
    number = connection.execute("INSERT INTO batches (survey, n, mixed) VALUES (?, 0, 0)", (survey,)).lastrowid
    connection.execute(rows_table(f"batch_{number}"))


def _prepare(connection: sqlite3.Connection) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application == 0 and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    elif application != APPLICATION:
        raise InvalidParameter("the file is another program's database; give the shuffler a file of its own")
    elif connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
        raise InvalidParameter("the file is another version's; let that one pass its reports on, and begin with a new file")
