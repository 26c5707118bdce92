"""A SQLite file that only its owner can read, written so that what is committed survives a crash."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from deniable.errors import InvalidParameter, NotStored

PATIENCE = 30.0
"""Seconds to wait for another process that is writing."""
Content = TypeVar("Content")


class PrivateDatabase:
    """One file (mode 0600) with one name. Deleted content is overwritten; every transaction is flushed before it counts."""

    __slots__ = ("path",)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()  # stays the same when the process moves to another folder
        # Created empty with its mode before SQLite sees it; what SQLite puts beside it gets the same mode.
        try:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o600)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise InvalidParameter("path must be the file itself, not a symbolic link to it") from None
        status = os.fstat(file)
        os.close(file)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            # After a crash, only the name that was written under would lead to what SQLite has to undo.
            raise InvalidParameter("path must be a file with one name: not a device, and without a second (hard) link")
        if os.name == "posix" and status.st_mode & 0o077:
            raise InvalidParameter("path must be a file that only its owner can read and write (mode 0600)")
        folder = self.path.parent.stat().st_mode
        if os.name == "posix" and folder & stat.S_IWOTH and not folder & stat.S_ISVTX:
            raise InvalidParameter("path must lie in a folder that not everybody can write to")

    def identify(self, kind: str, look: Callable[[sqlite3.Connection], Content]) -> Content:
        """What `look` reads from the file, which must be a `kind` or empty."""
        try:
            with self.writing() as connection:
                return look(connection)
        except sqlite3.DatabaseError:
            raise InvalidParameter(f"path must be a {kind} or a new file; this file is something else or damaged") from None

    def connect(self) -> sqlite3.Connection:
        """A connection of its own for every use: none is shared between threads or carried over a fork."""
        # A file that is gone is not made again: an empty one would look as if nothing had been spent.
        connection = sqlite3.connect(f"{self.path.as_uri()}?mode=rw", timeout=PATIENCE, isolation_level=None, uri=True)
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA secure_delete = ON")
        return connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that is closed when the block ends."""
        why = None
        try:
            with closing(self.connect()) as connection:
                yield connection
        except sqlite3.OperationalError as error:
            why = str(error).splitlines()[0] if str(error) else "it cannot be used"
        if why is not None:  # outside the handler: what is raised does not carry the statement that failed
            raise NotStored(f"{self.path.name} cannot be used now: {why}. Nothing was drawn or spent; free it, and try again")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, alone: committed and flushed when the block ends, undone when it fails."""
        with self.reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:  # a full disk has already undone it
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")


def is_new(connection: sqlite3.Connection, schema: str, mark: int, version: int) -> bool:
    """Was the file empty? Then it has its tables now, and `mark` in its header tells it from other SQLite files."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != 0 or tables != 0:
        return False
    for statement in filter(str.strip, schema.split(";")):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {mark}")
    connection.execute(f"PRAGMA user_version = {version}")
    return True


def stamp(connection: sqlite3.Connection) -> tuple[int, int]:
    """The file's mark and version."""
    application, version = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    return int(application), int(version)
