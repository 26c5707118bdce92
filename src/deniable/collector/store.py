"""Durable storage: what was counted, exactly once. SQLite in a file, or PostgreSQL by its URL."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, Table, create_engine, event, func, select, text, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError

from deniable.accumulators import Accumulator, accumulator_for
from deniable.accumulators.choose import accumulator_from_bytes
from deniable.batch import Reports
from deniable.collector.tables import METADATA, PLANS, REPORTS, SUMS, SURVEYS, TOKENS
from deniable.errors import InvalidParameter
from deniable.surveys import Survey
from deniable.wire import encode_reports

SHARDS = 16
ROLES = ("admin", "submit")
# All keys in one parameter: a statement with a thousand parameters would cost more than the insert itself.
_RECEIVE_SQLITE = text(
    "WITH RECURSIVE numbers(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i + 1 < :count) "
    "INSERT INTO receipts (survey, key) SELECT :survey, substr(:keys, 16 * i + 1, 16) FROM numbers WHERE true "
    "ON CONFLICT DO NOTHING RETURNING key"
)
_RECEIVE_POSTGRESQL = text(
    "INSERT INTO receipts (survey, key) SELECT :survey, unnest(CAST(:keys AS bytea[])) ON CONFLICT DO NOTHING RETURNING key"
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """Reports under one key, checked and decoded, waiting to be counted."""

    survey: Survey
    period: str
    key: bytes
    reports: Any
    """`Reports`, or a list of `Report`."""
    count: int


class Store:
    """One database. Every method is one transaction."""

    def __init__(self, url: str) -> None:
        self.engine = _engine(url)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        self.shard = secrets.randbelow(SHARDS)
        try:
            METADATA.create_all(self.engine)
        except DBAPIError as error:
            # Its first line says what is wrong; the address, which may hold a password, is not in it.
            why = str(error.orig).splitlines()[0]
            raise InvalidParameter(f"database cannot be used: {why}") from None

    def close(self) -> None:
        """Give the connections back."""
        self.engine.dispose()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self.engine.begin() as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self.engine.execution_options(reads=True).connect() as connection:
            yield connection

    def _insert(self, table: Table) -> Any:
        """An insert that can say what to do about rows that are there already; each database has its own."""
        return sqlite.insert(table) if self.is_sqlite else postgresql.insert(table)

    def add_survey(self, survey: Survey) -> bool:
        """Open a survey; False when it was there already (it is not opened again if it was closed)."""
        try:
            with self._writing() as connection:
                connection.execute(SURVEYS.insert().values(hash=survey.hash, document=survey.to_json(), open=True))
        except IntegrityError:
            return False
        return True

    def add_plan(self, text: str, survey_hash: str, reasons: dict[str, str]) -> None:
        """Remember what a survey file became, and why; what is there already stays."""
        row = {"source": digest(text), "survey": survey_hash, "reasons": json.dumps(reasons)}
        with self._writing() as connection:
            connection.execute(self._insert(PLANS).values(row).on_conflict_do_nothing())

    def planned(self, text: str) -> str | None:
        """The hash of the survey that this file became before."""
        with self._reading() as connection:
            found: str | None = connection.execute(select(PLANS.c.survey).where(PLANS.c.source == digest(text))).scalar()
        return found

    def reasons(self, survey_hash: str) -> dict[str, str]:
        """Why the mechanisms of a survey were chosen, by attribute; empty when its author named them."""
        with self._reading() as connection:
            rows = connection.execute(select(PLANS.c.reasons).where(PLANS.c.survey == survey_hash).order_by(PLANS.c.source))
            return {name: why for row in rows for name, why in json.loads(row.reasons).items()}

    def close_survey(self, survey_hash: str) -> bool:
        """No more submissions; False when there is no such survey."""
        with self._writing() as connection:
            return connection.execute(update(SURVEYS).where(SURVEYS.c.hash == survey_hash).values(open=False)).rowcount > 0

    def surveys(self) -> list[tuple[Survey, bool]]:
        """Every survey, and whether it is open."""
        with self._reading() as connection:
            rows = connection.execute(select(SURVEYS.c.document, SURVEYS.c.open).order_by(SURVEYS.c.hash)).fetchall()
        return [(Survey.from_json(bytes(row.document), allow_large=True), bool(row.open)) for row in rows]

    def open_hashes(self) -> dict[str, bool]:
        """Which surveys there are, and whether each is open."""
        with self._reading() as connection:
            return {row.hash: bool(row.open) for row in connection.execute(select(SURVEYS.c.hash, SURVEYS.c.open))}

    def survey(self, survey_hash: str) -> Survey | None:
        """One survey."""
        with self._reading() as connection:
            data = connection.execute(select(SURVEYS.c.document).where(SURVEYS.c.hash == survey_hash)).scalar()
        return None if data is None else Survey.from_json(bytes(data), allow_large=True)

    def count(self, arrivals: Sequence[Arrival]) -> list[bool]:
        """Count what is new and write the receipts, all in one transaction; for every arrival, was it new?

        When this returns, it is durable. When it raises, nothing was counted.
        """
        fresh = [False] * len(arrivals)
        with self._writing() as connection:
            for survey_hash, places in _by(arrivals, lambda arrival: arrival.survey.hash).items():
                first: dict[bytes, int] = {}
                for place in places:
                    first.setdefault(arrivals[place].key, place)
                for key in self._receive(connection, survey_hash, list(first)):
                    fresh[first[key]] = True
            new = [arrival for arrival, is_new in zip(arrivals, fresh, strict=True) if is_new]
            for group in _by(new, lambda arrival: (arrival.survey.hash, arrival.period)).values():
                self._fold(connection, [new[place] for place in group])
        return fresh

    def _receive(self, connection: Connection, survey_hash: str, keys: list[bytes]) -> list[bytes]:
        """Write receipts for the keys that have none; which were they?"""
        # In one order everywhere, so that two writers cannot wait for each other's keys.
        keys = sorted(keys)
        if self.is_sqlite:
            given = {"survey": survey_hash, "keys": b"".join(keys), "count": len(keys)}
            rows = connection.execute(_RECEIVE_SQLITE, given)
        else:
            rows = connection.execute(_RECEIVE_POSTGRESQL, {"survey": survey_hash, "keys": keys})
        return [bytes(row[0]) for row in rows]

    def _fold(self, connection: Connection, arrivals: list[Arrival]) -> None:
        survey, period = arrivals[0].survey, arrivals[0].period
        place = (SUMS.c.survey == survey.hash) & (SUMS.c.period == period) & (SUMS.c.shard == self.shard)
        read = select(SUMS.c.data).where(place).with_for_update()
        data = connection.execute(read).scalar()
        if data is None:
            # Another writer may have begun the same row; whoever is second waits here and goes on from its sums.
            empty = accumulator_for(survey.mechanism).to_bytes()
            row = {"survey": survey.hash, "period": period, "shard": self.shard, "n": 0, "data": empty}
            connection.execute(self._insert(SUMS).values(row).on_conflict_do_nothing())
            data = connection.execute(read).scalar_one()
        sums = accumulator_from_bytes(survey.mechanism, bytes(data))
        singles = [report for arrival in arrivals if isinstance(arrival.reports, list) for report in arrival.reports]
        if singles:
            sums.add(singles)
        for arrival in arrivals:
            if isinstance(arrival.reports, Reports):
                sums.add(arrival.reports)
        connection.execute(update(SUMS).where(place).values(n=sums.n, data=sums.to_bytes()))
        if survey.keep_reports:
            self._keep(connection, arrivals, singles)

    def _keep(self, connection: Connection, arrivals: list[Arrival], singles: list[Any]) -> None:
        survey, period = arrivals[0].survey, arrivals[0].period
        frames = [arrival.reports.to_bytes() for arrival in arrivals if isinstance(arrival.reports, Reports)]
        if singles:
            frames.append(encode_reports(survey.mechanism, singles))
        rows = [{"survey": survey.hash, "period": period, "data": frame} for frame in frames]
        connection.execute(REPORTS.insert(), rows)

    def sums(self, survey: Survey) -> dict[str, Accumulator]:
        """The accumulator of every window, shards merged."""
        found: dict[str, Accumulator] = {}
        for period, _, data in self.raw_sums(survey.hash):
            part = accumulator_from_bytes(survey.mechanism, data)
            found[period] = part if period not in found else found[period].merge(part)
        return found

    def raw_sums(self, survey_hash: str) -> list[tuple[str, int, bytes]]:
        """Window, shard and accumulator bytes of a survey."""
        query = select(SUMS.c.period, SUMS.c.shard, SUMS.c.data).where(SUMS.c.survey == survey_hash)
        with self._reading() as connection:
            rows = connection.execute(query.order_by(SUMS.c.period, SUMS.c.shard))
            return [(row.period, row.shard, bytes(row.data)) for row in rows]

    def counted(self) -> dict[str, int]:
        """The number of reports of every survey that has any."""
        with self._reading() as connection:
            rows = connection.execute(select(SUMS.c.survey, func.sum(SUMS.c.n)).group_by(SUMS.c.survey)).fetchall()
        return {row[0]: int(row[1]) for row in rows}

    def kept_reports(self, survey_hash: str) -> Iterator[tuple[str, bytes]]:
        """Window and wire batch of everything that was kept, a few at a time."""
        last = 0
        while True:
            query = select(REPORTS).where((REPORTS.c.survey == survey_hash) & (REPORTS.c.number > last))
            with self._reading() as connection:
                rows = connection.execute(query.order_by(REPORTS.c.number).limit(100)).fetchall()
            if not rows:
                return
            for row in rows:
                yield row.period, bytes(row.data)
            last = rows[-1].number

    def add_token(self, name: str, role: str) -> str:
        """A new token; it is shown now and never again."""
        if not name.strip() or len(name) > 100 or not name.isprintable():
            raise InvalidParameter("name must be 1 to 100 letters that say whose token it is")
        if role not in ROLES:
            raise InvalidParameter(f"role must be one of {', '.join(ROLES)}")
        token = secrets.token_urlsafe(32)
        try:
            with self._writing() as connection:
                connection.execute(TOKENS.insert().values(digest=digest(token), name=name, role=role))
        except IntegrityError:
            raise InvalidParameter("name: there is already a token of this name") from None
        return token

    def tokens(self) -> dict[bytes, tuple[str, str]]:
        """Digest to name and role."""
        with self._reading() as connection:
            return {bytes(row.digest): (row.name, row.role) for row in connection.execute(select(TOKENS))}

    def alive(self) -> bool:
        """Does the database answer?"""
        with self._reading() as connection:
            return connection.execute(text("SELECT 1")).scalar() == 1


def digest(text: str) -> bytes:
    """What is stored of a token, and of a survey file."""
    return hashlib.sha256(text.encode()).digest()


def _by(arrivals: Sequence[Arrival], name: Any) -> dict[Any, list[int]]:
    """Places grouped by a name, in order."""
    found: dict[Any, list[int]] = {}
    for place, arrival in enumerate(arrivals):
        found.setdefault(name(arrival), []).append(place)
    return dict(sorted(found.items()))


def _engine(url: str) -> Engine:
    if url.startswith("sqlite"):
        engine = create_engine(url, connect_args={"timeout": 30})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_immediate)
        path = engine.url.database
        if path and path != ":memory:" and not os.path.exists(path):
            # Only the operator reads the sums; SQLite gives the files beside it the same mode.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        return engine
    if url.startswith("postgresql+psycopg://"):
        try:
            return create_engine(url, pool_pre_ping=True, pool_size=4, max_overflow=4)
        except (ArgumentError, ValueError):
            raise InvalidParameter("database is not a URL such as postgresql+psycopg://user@host/name") from None
    raise InvalidParameter("database must be a URL that begins with sqlite:/// or postgresql+psycopg://")


def _prepare_sqlite(connection: Any, _: object) -> None:
    # SQLAlchemy's own BEGIN is used instead of the driver's, which would begin too late.
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_immediate(connection: Connection) -> None:
    # A writer takes its place at once: one that read first could not be let in afterwards.
    connection.exec_driver_sql("BEGIN" if connection.get_execution_options().get("reads") else "BEGIN IMMEDIATE")
