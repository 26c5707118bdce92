"""Opening a database, and leaving as little as possible in it: SQLite in a file, or PostgreSQL by its URL."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import ArgumentError, DBAPIError

from deniable._extras import required
from deniable.errors import InvalidParameter

BUSY_SECONDS = 30
"""How long a transaction waits for another one's."""
TIDY_MILLISECONDS = 250
"""How long tidying up waits for somebody who reads; then the next turn tries again."""


def engine_of(url: str) -> Engine:
    """Connections to a database."""
    if url.startswith("sqlite"):
        engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_immediate)
        path = engine.url.database
        if path and path != ":memory:" and not os.path.exists(path):
            # Only the operator reads the sums; SQLite gives the files beside it the same mode.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        return engine
    if url.startswith("postgresql+psycopg://"):
        required("psycopg")
        try:
            return create_engine(url, pool_pre_ping=True, pool_size=4, max_overflow=4)
        except (ArgumentError, ValueError):
            raise InvalidParameter("database is not a URL such as postgresql+psycopg://user@host/name") from None
    raise InvalidParameter("database must be a URL that begins with sqlite:/// or postgresql+psycopg://")


def empty_log(engine: Engine) -> bool:
    """SQLite: put the write-ahead log into the database and cut it to nothing; False when a reader is in the way."""
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {TIDY_MILLISECONDS}")
        busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout = {1000 * BUSY_SECONDS}")
        return not busy
    finally:
        connection.close()


def rewrite_tables(engine: Engine, tables: list[str]) -> bool:
    """PostgreSQL: write small tables anew, without their dead rows; False when somebody holds one of them for long."""
    with engine.connect() as connection:
        # VACUUM frees dead rows but leaves their bytes in the pages; only a rewrite gives up the file they are in.
        alone = connection.execution_options(isolation_level="AUTOCOMMIT")
        alone.exec_driver_sql(f"SET lock_timeout = {TIDY_MILLISECONDS}")
        try:
            alone.exec_driver_sql(f"VACUUM FULL {', '.join(tables)}")
        except DBAPIError:
            return False
        finally:
            with suppress(DBAPIError):
                alone.exec_driver_sql("RESET lock_timeout")
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


def _begin_immediate(connection: Connection) -> None:
    # A writer takes its place at once: one that read first could not be let in afterwards.
    connection.exec_driver_sql("BEGIN" if connection.get_execution_options().get("reads") else "BEGIN IMMEDIATE")
