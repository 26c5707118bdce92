"""The version of the tables: what is there is recognised, brought forward, or refused before anything is written to it.

Version 1 has no mark; it is recognised by its tables. From version 2 on SQLite files carry `application_id` and `user_version`,
and PostgreSQL databases a row in `deniable_schema`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext

from sqlalchemy import Connection, Engine, inspect, select, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from deniable.collector.deadlines import patiently
from deniable.collector.receipts import add_part
from deniable.collector.tables import METADATA, SURVEYS
from deniable.errors import InvalidParameter

APPLICATION = 0x64656E79
"""SQLite's application_id of a collector's database: the letters "deny"."""
VERSION = 5
MIGRATIONS: Mapping[int, Sequence[str]] = {
    1: (
        "ALTER TABLE surveys ADD COLUMN closed BIGINT",
        "ALTER TABLE surveys ADD COLUMN successor VARCHAR(64)",
        "ALTER TABLE surveys ADD COLUMN reports_days INTEGER",
        "ALTER TABLE surveys ADD COLUMN receipts_days INTEGER",
        "ALTER TABLE tokens ADD COLUMN expires BIGINT",
    ),
    2: (),
    3: ("ALTER TABLE surveys ADD COLUMN receipt_windows INTEGER",),
    4: (),
}
"""What makes the next version of each; tables that are new are created afterwards."""
RECEIPTS_IN_PARTS = 4
MOST_SECONDS = 6 * 3600.0
"""How long bringing a database forward may take: receipts are copied, some hundred thousand a second."""
_LOCK = 7_236_987_641
"""An arbitrary number: one collector brings a PostgreSQL database forward, the others wait."""


class TablesMoved(SQLAlchemyError):
    """Another release brought the tables forward, or back, while this one is running."""

    def __init__(self, version: int) -> None:
        super().__init__(
            f"the tables are of version {version} now, and this release writes version {VERSION}: start the other release"
        )


def prepare(engine: Engine) -> None:
    """Make the tables, bring them forward, or refuse a database that is not one of ours or not one of ours any more."""
    try:
        with engine.execution_options(reads=True).connect() as connection:
            version = version_of(connection)
        copies = version is not None and version < RECEIPTS_IN_PARTS
        with patiently(MOST_SECONDS) if copies else nullcontext(), engine.begin() as connection:
            _prepare(connection)
    except DBAPIError as error:
        raise InvalidParameter(f"database cannot be used: {reason(error)}") from error


def reason(error: Exception) -> str:
    """What a database says is wrong: one line, without the statement, its parameters, or an address that may hold a password."""
    words = str(error.orig if isinstance(error, DBAPIError) else error).strip()
    return words.splitlines()[0][:200] if words else type(error).__name__


@contextmanager
def refusals_in_words() -> Iterator[None]:
    """For a command: a full disk, a lock, or a server that is away or read-only is said in one line."""
    try:
        yield
    except SQLAlchemyError as error:
        raise InvalidParameter(f"--database: {reason(error)}; once that is repaired, run the command again") from None


def _prepare(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _LOCK})
    version = version_of(connection)
    if version is not None and version > VERSION:
        raise InvalidParameter(
            f"database has tables of version {version}, and this release knows versions up to {VERSION}: "
            "serve it with the release that made it, or a later one"
        )
    for step in range(version or VERSION, VERSION):
        for statement in MIGRATIONS[step]:
            connection.execute(text(statement))
    if version != VERSION:
        METADATA.create_all(connection)
        if version is not None and version < RECEIPTS_IN_PARTS:
            _cut_receipts(connection)
        _mark(connection)
    _check_columns(connection)


def _cut_receipts(connection: Connection) -> None:
    """Up to version 3 all receipts lay in one table; each survey gets a part of its own."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL statement_timeout = 0"))
    has_any = text("SELECT 1 FROM receipts WHERE survey = :survey LIMIT 1")
    for survey in connection.execute(select(SURVEYS.c.hash)).scalars().all():
        if connection.execute(has_any, {"survey": survey}).first() is not None:
            number = add_part(connection, survey, "")
            copy = text(f"INSERT INTO receipts_{number} (key) SELECT key FROM receipts WHERE survey = :survey")  # noqa: S608
            connection.execute(copy, {"survey": survey})
    connection.execute(text("DROP TABLE receipts"))


def version_of(connection: Connection) -> int | None:
    """The version of the tables; None when there are none yet."""
    names = set(inspect(connection).get_table_names())
    if connection.dialect.name == "postgresql":
        if "deniable_schema" in names:
            return int(connection.execute(text("SELECT version FROM deniable_schema")).scalar_one())
        return 1 if "surveys" in names else None
    application = connection.execute(text("PRAGMA application_id")).scalar_one()
    version = int(connection.execute(text("PRAGMA user_version")).scalar_one())
    if application == APPLICATION:
        return version
    if application or version or (names and "surveys" not in names):
        raise InvalidParameter("database is a SQLite file of another program; give a file of its own")
    return 1 if names else None


def marked_version(connection: Connection) -> int:
    """The version that a database of ours is marked with; costs one short statement."""
    is_postgresql = connection.dialect.name == "postgresql"
    return int(
        connection.exec_driver_sql("SELECT version FROM deniable_schema" if is_postgresql else "PRAGMA user_version").scalar_one()
    )


def _mark(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("CREATE TABLE IF NOT EXISTS deniable_schema (version INTEGER NOT NULL)"))
        connection.execute(text("DELETE FROM deniable_schema"))
        connection.execute(text("INSERT INTO deniable_schema VALUES (:version)"), {"version": VERSION})
    else:
        connection.execute(text(f"PRAGMA application_id = {APPLICATION}"))
        connection.execute(text(f"PRAGMA user_version = {VERSION}"))


def _check_columns(connection: Connection) -> None:
    """A column more, which nobody fills, or one less would make every report fail: better now, and with words."""
    look = inspect(connection)
    for table in METADATA.sorted_tables:
        if not look.has_table(table.name):
            raise InvalidParameter(f"database lacks the table {table.name}; restore it from a backup")
        columns, wanted = {column["name"] for column in look.get_columns(table.name)}, set(table.columns.keys())
        if columns != wanted:
            more, fewer = sorted(columns - wanted), sorted(wanted - columns)
            words = [f"has a column {name} that no release made" for name in more] + [f"lacks the column {name}" for name in fewer]
            raise InvalidParameter(f"database: the table {table.name} {' and '.join(words)}")
