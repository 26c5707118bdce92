"""Transactions on a collector's database, and whether it is still the one that was opened, as this release made it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Table, event, select
from sqlalchemy.dialects import postgresql, sqlite

from deniable.collector.database import DatabaseReplaced, check_files, engine_of
from deniable.collector.deadlines import patiently
from deniable.collector.schema import APPLICATION, VERSION, TablesMoved, marked_version, prepare
from deniable.collector.tables import CHANGES, INCOMING, PARTS, RECENT, REPORTS, SPENT, STEPS, SUMS, SURVEYS


class Transactions:
    """One database: transactions that read or write, and whether it is still the one that was opened."""

    def __init__(self, url: str) -> None:
        self.engine = engine_of(url)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        self._newer: int | None = None
        """The version of the tables, once another release has brought them forward under us."""
        try:
            prepare(self.engine)
        except BaseException:
            self.engine.dispose()
            raise
        if self.is_sqlite:
            event.listen(self.engine, "connect", _recognise, insert=True)

    def close(self) -> None:
        """Give the connections back."""
        self.engine.dispose()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes."""
        if self._newer is not None:
            raise TablesMoved(self._newer)
        with self.engine.begin() as connection:
            files = connection.info.get("files")
            yield connection
        if self.is_sqlite:
            check_files(self.engine, files)

    @contextmanager
    def unhurried(self) -> Iterator[Connection]:
        """A transaction that writes and may take a minute: millions of rows go, and nobody waits for it."""
        with patiently(), self.writing() as connection:
            if not self.is_sqlite:
                connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads."""
        with self.engine.execution_options(reads=True).connect() as connection:
            if self.is_sqlite:
                check_files(self.engine, connection.info.get("files"))
            yield connection

    def insert(self, table: Table) -> Any:
        """An insert that can say what to do about rows that are there already; each database has its own."""
        return sqlite.insert(table) if self.is_sqlite else postgresql.insert(table)

    def probe(self) -> None:
        """Write something that is no report: raises when nothing can be written, or a table that counting needs is gone."""
        with self.writing() as connection:
            self._bump("write", connection)
            for table in (SURVEYS, PARTS, SUMS, RECENT, STEPS, INCOMING, REPORTS, SPENT):
                connection.execute(select(table).limit(0))

    def changes(self) -> int:
        """A number that moves whenever surveys or tokens do. Notices when another release changes the tables."""
        with self.reading() as connection:
            version = marked_version(connection)
            self._newer = None if version == VERSION else version
            return connection.execute(select(CHANGES.c.number).where(CHANGES.c.name == "catalog")).scalar() or 0

    def _bump(self, name: str, connection: Connection | None = None) -> None:
        if connection is None:
            with self.writing() as connection:
                self._bump(name, connection)
            return
        row = self.insert(CHANGES).values(name=name, number=1)
        more = {"number": CHANGES.c.number + 1}
        connection.execute(row.on_conflict_do_update(index_elements=["name"], set_=more))


def _recognise(connection: Any, _: object) -> None:
    """A file that took the place of ours is used only if it is one of ours, too: a backup that was put back."""
    marks = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    if marks != [APPLICATION, VERSION]:
        connection.close()
        raise DatabaseReplaced
