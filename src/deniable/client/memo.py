"""Answers to repeated questions: the permanent layer is drawn once, kept on disk, and never drawn again."""

from __future__ import annotations

import hashlib
import hmac
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from deniable.client.client import Client
from deniable.errors import InvalidParameter, NotSupported
from deniable.mechanisms import Mechanism
from deniable.mechanisms.categorical.rappor import Rappor
from deniable.randomness import SYSTEM, Coins
from deniable.reports import Report
from deniable.wire import encode_report, report_to_json

APPLICATION = 0x646E6D6F
"""'dnmo' in the file's header: what tells a memo from other SQLite files."""
VERSION = 1
KEY_BYTES = 32
PATIENCE = 30.0
"""Seconds to wait for another process that is writing."""

SCHEMA = """
CREATE TABLE secret (one INTEGER PRIMARY KEY CHECK (one = 1), key BLOB, proof BLOB NOT NULL);
CREATE TABLE kept (recipe TEXT, question TEXT, tag BLOB, bits BLOB NOT NULL, PRIMARY KEY (recipe, question, tag)) WITHOUT ROWID;
"""


class Memo:
    """The permanent bits of this device's answers, in a file that only its owner can read (mode 0600).

    Bits are on disk, committed and flushed, before anything made of them is returned; two processes with one
    file agree on them. They are filed under the recipe, the question and an HMAC of the value, so the value is
    nowhere in clear and two devices' files cannot be compared. What that does not do: the key lies in the same
    file unless `key` is given, so whoever has the whole file can try every value of a small domain. With `key`
    (32 bytes from the system's keystore) the file alone tells only the bits, which are private at the
    permanent level, and how many different values there were. Nothing protects from who can read memory.

    Never delete a memo or put back an old copy while its questions are still asked: the bits would be drawn
    again, and every draw costs the permanent level once more.
    """

    __slots__ = ("_key", "path")

    def __init__(self, path: str | os.PathLike[str], *, key: bytes | None = None) -> None:
        if key is not None and (not isinstance(key, bytes) or len(key) != KEY_BYTES):
            raise InvalidParameter(f"key must be {KEY_BYTES} random bytes")
        self.path = Path(path)
        # Created empty with its mode before SQLite sees it; what SQLite puts beside it gets the same mode.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600))
        if os.name == "posix" and self.path.stat().st_mode & 0o077:
            raise InvalidParameter("path must be a file that only its owner can read and write (mode 0600)")
        try:
            with self._writing() as connection:
                self._key = _opened(connection, key)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            raise InvalidParameter("path must be a memo or a new file; this file is something else or damaged") from None

    def keep(self, recipe: str, question: str, value: bytes, draw: Callable[[], bytes]) -> bytes:
        """The bits kept for a value; drawn by `draw` and committed to disk when there are none yet."""
        tag = hmac.new(self._key, _framed(recipe.encode(), question.encode(), value), hashlib.sha256).digest()
        with closing(self._connect()) as connection:
            found = _look_up(connection, recipe, question, tag)
        if found is not None:
            return found
        with self._writing() as connection:
            # Looked up again under the lock: another process may have been faster, and the first draw stands.
            found = _look_up(connection, recipe, question, tag)
            if found is None:
                found = draw()
                connection.execute("INSERT INTO kept VALUES (?, ?, ?, ?)", (recipe, question, tag, found))
        return found

    def different_values(self, recipe: str, question: str = "") -> int:
        """How many different values were reported: the lifetime level is so many times the permanent one."""
        with closing(self._connect()) as connection:
            query = "SELECT count(*) FROM kept WHERE recipe = ? AND question = ?"
            return int(connection.execute(query, (recipe, question)).fetchone()[0])

    def _connect(self) -> sqlite3.Connection:
        """A connection of its own for every use: none is shared between threads or carried over a fork."""
        connection = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
        connection.execute("PRAGMA synchronous = EXTRA")
        return connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, alone: committed and flushed when the block ends, undone when it fails."""
        with closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:  # a full disk has already undone it
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def __repr__(self) -> str:
        return f"Memo({str(self.path)!r})"


class Repeated:
    """Reports of a value that is asked for again and again: kept bits, and fresh noise on every report.

    `question` tells apart questions that share a recipe: equal answers to different questions must not share
    their bits, or the collector could see that they are equal.

    >>> import tempfile
    >>> from deniable.domains import Categories
    >>> weekly = Rappor(domain=Categories(5), epsilon=1, permanent=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     answers = Repeated(weekly, Memo(folder + "/memo.db"), question="commute")
    ...     _ = [answers.report(2) for week in range(50)]
    ...     answers.lifetime_level()
    3.0
    """

    __slots__ = ("mechanism", "memo", "question")

    def __init__(self, mechanism: Mechanism | Client, memo: Memo, question: str = "") -> None:
        found = mechanism.mechanism if isinstance(mechanism, Client) else mechanism
        if not isinstance(found, Rappor):
            raise NotSupported(f"{type(found).__name__} has no permanent layer to keep; use rappor for repeated questions")
        if not isinstance(memo, Memo):
            raise InvalidParameter(f"memo must be a Memo, got {type(memo).__name__}")
        if not isinstance(question, str):
            raise InvalidParameter(f"question must be text, got {type(question).__name__}")
        self.mechanism = found
        self.memo = memo
        self.question = question

    def report(self, value: Any, coins: Coins = SYSTEM) -> Report:
        """A fresh report; the value's permanent bits are on disk before it exists."""
        return self.mechanism.report_kept(self._kept(value, coins), coins)

    def randomize(self, value: Any) -> bytes:
        """The same as bytes ready to send."""
        return encode_report(self.mechanism, self.report(value))

    def randomize_json(self, value: Any) -> str:
        """The same as JSON text."""
        return report_to_json(self.mechanism, self.report(value))

    def lifetime_level(self) -> float:
        """The level of everything reported so far and ever after, as long as no new value comes: values * permanent."""
        return self.memo.different_values(self.mechanism.fingerprint, self.question) * float(self.mechanism.lifetime)

    def _kept(self, value: Any, coins: Coins) -> int:
        mechanism = self.mechanism
        index = mechanism.encode(value)
        width = -(-mechanism.domain.size // 8)

        def draw() -> bytes:
            return mechanism.first_layer.draw(index, coins).to_bytes(width, "little")

        kept = self.memo.keep(mechanism.fingerprint, self.question, index.to_bytes(8, "big"), draw)
        if len(kept) != width:
            raise InvalidParameter("memo holds bits of another length for this recipe: the file is damaged")
        return int.from_bytes(kept, "little")

    def __repr__(self) -> str:
        return f"Repeated({self.mechanism!r}, {self.memo!r}, question={self.question!r})"


def _opened(connection: sqlite3.Connection, given: bytes | None) -> bytes:
    """The memo's key, once the file is seen to be a memo and the key to be the one it was made with."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application == 0 and tables == 0:
        key = os.urandom(KEY_BYTES) if given is None else given
        for statement in filter(str.strip, SCHEMA.split(";")):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("INSERT INTO secret VALUES (1, ?, ?)", (key if given is None else None, _proof(key)))
        return key
    if application != APPLICATION:
        raise InvalidParameter("path must be a memo or a new file; this is another program's database")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        raise InvalidParameter(f"path: this release reads version {VERSION} of memos, got version {version}")
    stored, proof = connection.execute("SELECT key, proof FROM secret").fetchone()
    if (stored is None) != (given is not None):
        raise InvalidParameter("key must be given exactly when the memo was made with one")
    found: bytes = stored if given is None else given
    # With a wrong key nothing would be found, and everything would be drawn a second time.
    if not hmac.compare_digest(_proof(found), proof):
        raise InvalidParameter("key is not the one this memo was made with")
    return found


def _look_up(connection: sqlite3.Connection, recipe: str, question: str, tag: bytes) -> bytes | None:
    query = "SELECT bits FROM kept WHERE recipe = ? AND question = ? AND tag = ?"
    row = connection.execute(query, (recipe, question, tag)).fetchone()
    return None if row is None else bytes(row[0])


def _proof(key: bytes) -> bytes:
    return hmac.new(key, b"deniable memo", hashlib.sha256).digest()


def _framed(*parts: bytes) -> bytes:
    """The parts with their lengths, so that no two lists of parts look alike."""
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)
