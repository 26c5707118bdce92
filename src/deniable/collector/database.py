"""Opening a database, and leaving as little as possible in it: SQLite in a file, or PostgreSQL by its URL."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, SQLAlchemyError

from deniable._extras import required
from deniable.collector.deadlines import CONNECT_SECONDS, LOCK_SECONDS, LONG_SECONDS, TRANSACTION_SECONDS, Scissors, patiently
from deniable.errors import InvalidParameter

POOL = {"pool_size": 4, "max_overflow": 4, "pool_timeout": LOCK_SECONDS}
_DURABLE = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
"""A server may be set up to say that something is on disk before it is; we are not."""
TIDY_MILLISECONDS = 250
"""How long tidying up waits for somebody who reads; then the next turn tries again."""


class DatabaseReplaced(SQLAlchemyError):
    """The SQLite file or its log is not the one that was opened: what was written to it is lost."""

    def __init__(self) -> None:
        super().__init__("the database file or its log (-wal) was deleted or replaced while the collector was running")


def engine_of(url: str) -> Engine:
    """Connections to a database."""
    if url.startswith("sqlite"):
        return _sqlite(url)
    if url.startswith("postgresql+psycopg://"):
        return _postgresql(url)
    raise InvalidParameter("database must be a URL that begins with sqlite:/// or postgresql+psycopg://")


def _sqlite(url: str) -> Engine:
    path = create_engine(url).url.database
    if not path or path == ":memory:":
        raise InvalidParameter("database must name a file: sqlite:///collector.db")
    if not os.path.exists(path):
        # Only the operator reads the sums; SQLite gives the files beside it the same mode.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))

    def connect() -> sqlite3.Connection:
        # A file that was deleted must not come back empty: mode=rw opens only what is there.
        name = f"file:{quote(os.path.abspath(path))}?mode=rw"
        return sqlite3.connect(name, uri=True, timeout=LOCK_SECONDS, check_same_thread=False)

    engine = create_engine(url, creator=connect, **POOL)
    event.listen(engine, "connect", _prepare_sqlite)
    # The log is there from here on, for as long as anybody has the database open.
    event.listen(engine, "connect", lambda _, record: record.info.update(files=files_of(engine)))
    event.listen(engine, "begin", _begin_immediate)
    return engine


Files = tuple[tuple[int, int] | None, ...]
"""Device and inode of a database file and of its log; None for one that is not there."""


def files_of(engine: Engine) -> Files:
    """The files that are at a database's path now."""
    path = engine.url.database or ""
    return _identity(path), _identity(f"{path}-wal")


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def check_files(engine: Engine, opened: Files | None) -> None:
    """SQLite: are the files that a connection has open still those at the path? Otherwise nobody may be told that it is safe."""
    if opened != files_of(engine):
        engine.dispose()
        raise DatabaseReplaced


def _postgresql(url: str) -> Engine:
    required("psycopg")
    milliseconds = f"-c lock_timeout={int(1000 * LOCK_SECONDS)} -c statement_timeout={int(1000 * TRANSACTION_SECONDS)}"
    given: dict[str, Any] = {"connect_timeout": CONNECT_SECONDS}
    try:
        engine = create_engine(url, **POOL)
        if "options" not in engine.url.query:  # a pooler such as PgBouncer refuses options; `?options=` leaves them out
            given["options"] = f"{milliseconds} -c idle_in_transaction_session_timeout={int(1000 * LONG_SECONDS)}"
        engine = create_engine(url, connect_args=given, **POOL)
    except (ArgumentError, ValueError):
        raise InvalidParameter("database is not a URL such as postgresql+psycopg://user@host/name") from None
    scissors = Scissors()

    def taken(connection: Any, record: Any, _: object) -> None:
        scissors.hold(connection)
        try:
            engine.dialect.do_ping(connection)
            if "durable" not in record.info:
                connection.execute(_DURABLE)
                connection.commit()
                record.info["durable"] = True
        except Exception:
            raise DisconnectionError from None  # the pool opens another one

    event.listen(engine, "checkout", taken)
    for name in ("checkin", "invalidate", "close"):
        event.listen(engine, name, _released(scissors))
    return engine


def _released(scissors: Scissors) -> Callable[..., None]:
    return lambda connection, *_: scissors.release(connection)


def empty_log(engine: Engine) -> bool:
    """SQLite: put the write-ahead log into the database and cut it to nothing; False when a reader is in the way."""
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {TIDY_MILLISECONDS}")
        busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout = {int(1000 * LOCK_SECONDS)}")
        return not busy
    finally:
        connection.close()


def rewrite_tables(engine: Engine, tables: list[str]) -> bool:
    """PostgreSQL: write small tables anew, without their dead rows; False when somebody holds one of them for long."""
    with patiently(), engine.connect() as connection:
        # VACUUM frees dead rows but leaves their bytes in the pages; only a rewrite gives up the file they are in.
        alone = connection.execution_options(isolation_level="AUTOCOMMIT")
        alone.exec_driver_sql(f"SET lock_timeout = {TIDY_MILLISECONDS}")
        alone.exec_driver_sql(f"SET statement_timeout = {int(1000 * LONG_SECONDS)}")
        try:
            alone.exec_driver_sql(f"VACUUM FULL {', '.join(tables)}")
        except DBAPIError:
            return False
        finally:
            for name in ("lock_timeout", "statement_timeout"):
                with suppress(DBAPIError):
                    alone.exec_driver_sql(f"RESET {name}")
    return True


def _prepare_sqlite(connection: Any, _: object) -> None:
    # SQLAlchemy's own BEGIN is used instead of the driver's, which would begin too late.
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    # What is deleted or overwritten is zeroed, and what is sorted in between never gets a file of its own.
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("SELECT 1 FROM sqlite_schema").fetchone()  # opens the log


def _begin_immediate(connection: Connection) -> None:
    # A writer takes its place at once: one that read first could not be let in afterwards.
    connection.exec_driver_sql("BEGIN" if connection.get_execution_options().get("reads") else "BEGIN IMMEDIATE")
