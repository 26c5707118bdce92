"""Answers to repeated questions: the permanent layer is drawn once, kept on disk, and never drawn again."""

from __future__ import annotations

import hashlib
import hmac
import os
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from deniable.core import SYSTEM, Coins, Mechanism, Number, Rappor, Report, encode_report, report_to_json
from deniable.errors import InvalidParameter, NotSupported
from deniable.surveys.client import Client
from deniable.surveys.database import PrivateDatabase, is_new, stamp
from deniable.surveys.limits import USUAL_LIMIT, check_cost, checked_limit

APPLICATION = 0x646E6D6F
"""'dnmo' in the file's header: what tells a memo from other SQLite files."""
VERSION = 1
KEY_BYTES = 32

SCHEMA = """
CREATE TABLE secret (one INTEGER PRIMARY KEY CHECK (one = 1), key BLOB, proof BLOB NOT NULL);
CREATE TABLE kept (recipe TEXT, question TEXT, tag BLOB, bits BLOB NOT NULL, epsilon TEXT NOT NULL,
                   PRIMARY KEY (recipe, question, tag)) WITHOUT ROWID;
"""


class Memo:
    """The permanent bits of this device's answers, in a file that only its owner can read (mode 0600).

    Bits are on disk, committed and flushed, before anything made of them is returned; two processes with one
    file agree on them. They are filed under the recipe, the question and an HMAC of the value, so the value is
    nowhere in clear and two devices' files cannot be compared. What that does not do: the key lies in the same
    file unless `key` is given, so whoever has the whole file can try every value of a small domain. With `key`
    (32 bytes from the system's keystore) the file alone tells only the bits, which are private at the
    permanent level, and how many different values there were. Nothing protects from who can read memory.

    `limit` is the most that all kept bits cost together, of all recipes and questions: the permanent level once for each
    value. It is 8 unless your own code says otherwise.

    Never delete a memo or put back an old copy while its questions are still asked: the bits would be drawn
    again, and every draw costs the permanent level once more.
    """

    __slots__ = ("_file", "_key", "limit")

    def __init__(self, path: str | os.PathLike[str], *, key: bytes | None = None, limit: Number = USUAL_LIMIT) -> None:
        self.limit = checked_limit("limit", limit)
        if key is not None and (not isinstance(key, bytes) or len(key) != KEY_BYTES):
            raise InvalidParameter(f"key must be {KEY_BYTES} random bytes")
        self._file = PrivateDatabase(path)
        self._key = self._file.identify("memo", lambda connection: _memo_key(connection, key))

    @property
    def path(self) -> Path:
        """The file on disk, which must not be deleted while its questions are asked."""
        return self._file.path

    def keep(
        self,
        recipe: str,
        question: str,
        value: bytes,
        draw: Callable[[], bytes],
        *,
        epsilon: Fraction,
        budget: Fraction | None = None,
    ) -> bytes:
        """The bits kept for a value; drawn by `draw` and committed to disk when there are none yet.

        New bits cost `epsilon`, the permanent level: refused when the recipe's `budget` or the memo's limit has less left.
        """
        tag = hmac.new(self._key, _framed(recipe.encode(), question.encode(), value), hashlib.sha256).digest()
        with self._file.reading() as connection:
            bits = _look_up(connection, recipe, question, tag)
        if bits is not None:
            return bits
        with self._file.writing() as connection:
            # Looked up again under the lock: another process may have been faster, and the first draw stands.
            bits = _look_up(connection, recipe, question, tag)
            if bits is None:
                before = [(row[0], Fraction(row[1])) for row in connection.execute("SELECT recipe, epsilon FROM kept")]
                mine = sum((level for name, level in before if name == recipe), start=Fraction(0))
                whole = sum((level for _, level in before), start=Fraction(0))
                limits = [] if budget is None else [("your max_epsilon", mine, budget)]
                check_cost(epsilon, *limits, ("your own limit", whole, self.limit))
                bits = draw()
                connection.execute("INSERT INTO kept VALUES (?, ?, ?, ?, ?)", (recipe, question, tag, bits, str(epsilon)))
        return bits

    def different_values(self, recipe: str, question: str = "") -> int:
        """How many different values were reported; between people who change at the same times, each costs the permanent level."""
        with self._file.reading() as connection:
            query = "SELECT count(*) FROM kept WHERE recipe = ? AND question = ?"
            return int(connection.execute(query, (recipe, question)).fetchone()[0])

    def __repr__(self) -> str:
        return f"Memo({str(self.path)!r})"


class Repeated:
    """Reports of a value that is asked for again and again: kept bits, and fresh noise on every report.

    `question` tells apart questions that share a recipe: equal answers to different questions must not share
    their bits, or the collector could see that they are equal. Given a Client, its `max_epsilon` bounds all values of its
    recipe together; the memo's limit bounds everything in the file.

    >>> import tempfile
    >>> from deniable.core import Categories
    >>> weekly = Rappor(domain=Categories(5), epsilon=1, permanent=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     answers = Repeated(weekly, Memo(folder + "/memo.db"), question="commute")
    ...     _ = [answers.report(2) for week in range(50)]
    ...     answers.lifetime_level()
    3.0
    """

    __slots__ = ("_budget", "mechanism", "memo", "question")

    def __init__(self, mechanism: Mechanism | Client, memo: Memo, question: str = "") -> None:
        layered = mechanism.mechanism if isinstance(mechanism, Client) else mechanism
        if not isinstance(layered, Rappor):
            raise NotSupported(f"{type(layered).__name__} has no permanent layer to keep; use rappor for repeated questions")
        if not isinstance(memo, Memo):
            raise InvalidParameter(f"memo must be a Memo, got {type(memo).__name__}")
        if not isinstance(question, str):
            raise InvalidParameter(f"question must be text, got {type(question).__name__}")
        self._budget = mechanism.max_epsilon if isinstance(mechanism, Client) else None
        self.mechanism = layered
        self.memo = memo
        self.question = question

    def report(self, value: Any, coins: Coins = SYSTEM) -> Report:
        """A fresh report; the value's permanent bits are on disk before it exists."""
        return self.mechanism.report_kept(self._kept(value, coins), coins)

    def randomize(self, value: Any) -> bytes:
        """A fresh report as bytes ready to send."""
        return encode_report(self.mechanism, self.report(value))

    def randomize_json(self, value: Any) -> str:
        """A fresh report as JSON text."""
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

        name, value = mechanism.fingerprint, index.to_bytes(8, "big")
        kept = self.memo.keep(name, self.question, value, draw, epsilon=mechanism.lifetime, budget=self._budget)
        if len(kept) != width:
            raise InvalidParameter("memo holds bits of another length for this recipe: the file is damaged")
        return int.from_bytes(kept, "little")

    def __repr__(self) -> str:
        return f"Repeated({self.mechanism!r}, {self.memo!r}, question={self.question!r})"


def _memo_key(connection: sqlite3.Connection, given: bytes | None) -> bytes:
    """The memo's key, once the file is seen to be a memo and the key to be the one it was made with."""
    if is_new(connection, SCHEMA, APPLICATION, VERSION):
        key = os.urandom(KEY_BYTES) if given is None else given
        connection.execute("INSERT INTO secret VALUES (1, ?, ?)", (key if given is None else None, _proof(key)))
        return key
    application, version = stamp(connection)
    if application != APPLICATION:
        raise InvalidParameter("path must be a memo or a new file; this is another program's database")
    if version != VERSION:
        raise InvalidParameter(f"path: this release reads version {VERSION} of memos, got version {version}")
    stored, proof = connection.execute("SELECT key, proof FROM secret").fetchone()
    if (stored is None) != (given is not None):
        raise InvalidParameter("key must be given exactly when the memo was made with one")
    key = bytes(stored) if given is None else given
    # With a wrong key nothing would be found, and everything would be drawn a second time.
    if not hmac.compare_digest(_proof(key), proof):
        raise InvalidParameter("key is not the one this memo was made with")
    return key


def _look_up(connection: sqlite3.Connection, recipe: str, question: str, tag: bytes) -> bytes | None:
    query = "SELECT bits FROM kept WHERE recipe = ? AND question = ? AND tag = ?"
    row = connection.execute(query, (recipe, question, tag)).fetchone()
    return None if row is None else bytes(row[0])


def _proof(key: bytes) -> bytes:
    return hmac.new(key, b"deniable memo", hashlib.sha256).digest()


def _framed(*parts: bytes) -> bytes:
    """The parts with their lengths, so that no two lists of parts look alike."""
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)
