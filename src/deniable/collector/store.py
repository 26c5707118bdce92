"""Durable storage: what was counted, exactly once."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select, text, update

from deniable.batch import Accumulator, Reports, accumulator_for, accumulator_from_bytes
from deniable.collector.database import empty_log, rewrite_tables
from deniable.collector.kept import keep, mix
from deniable.collector.registry import Registry
from deniable.collector.tables import RECEIPTS, REWRITTEN, SUMS
from deniable.surveys import Survey

SHARDS = 16
TIDY_SUBMISSIONS = 10_000
TIDY_SECONDS = {"sqlite": 2.0, "postgresql": 60.0}
"""After so many submissions or so many seconds nothing is left in the files but what the tables say."""
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


class _TooFew(Exception):
    """Fewer new reports than may be written at once."""


class Store(Registry):
    """One database. Every method is one transaction."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.shard = secrets.randbelow(SHARDS)
        self.tidy_seconds = TIDY_SECONDS[self.engine.dialect.name]
        self.tidy_submissions = TIDY_SUBMISSIONS if self.is_sqlite else sys.maxsize

    def count(self, arrivals: Sequence[Arrival], *, at_least: int = 1) -> list[bool | None]:
        """Count what is new and write the receipts; for every arrival, was it new?

        When this returns, it is durable. When it raises, nothing was counted. With `at_least`, the new reports of a window
        are written when there are so many of them; None says that one was not written, because there were too few.
        """
        if at_least == 1:
            with self.writing() as connection:
                fresh = self._counted(connection, arrivals)
            return list(fresh)
        answers: list[bool | None] = [None] * len(arrivals)
        for group in _by(arrivals, lambda arrival: (arrival.survey.hash, arrival.period)).values():
            mine = [arrivals[place] for place in group]
            try:
                with self.writing() as connection:
                    fresh = self._counted(connection, mine, at_least)
            except _TooFew:
                known = self.known(mine)
                fresh = [False if old else None for old in known]
            for place, new in zip(group, fresh, strict=True):
                answers[place] = new
        return answers

    def known(self, arrivals: Sequence[Arrival]) -> list[bool]:
        """For every arrival, was it counted before?"""
        found: set[tuple[str, bytes]] = set()
        with self.reading() as connection:
            for survey_hash, places in _by(arrivals, lambda arrival: arrival.survey.hash).items():
                for begin in range(0, len(places), 1000):
                    keys = [arrivals[place].key for place in places[begin : begin + 1000]]
                    query = select(RECEIPTS.c.key).where((RECEIPTS.c.survey == survey_hash) & RECEIPTS.c.key.in_(keys))
                    found.update((survey_hash, bytes(key)) for key in connection.execute(query).scalars())
        return [(arrival.survey.hash, arrival.key) in found for arrival in arrivals]

    def _counted(self, connection: Connection, arrivals: Sequence[Arrival], at_least: int = 1) -> list[bool | None]:
        fresh: list[bool | None] = [False] * len(arrivals)
        for survey_hash, places in _by(arrivals, lambda arrival: arrival.survey.hash).items():
            first: dict[bytes, int] = {}
            for place in places:
                first.setdefault(arrivals[place].key, place)
            for key in self._receive(connection, survey_hash, list(first)):
                fresh[first[key]] = True
        new = [arrival for arrival, is_new in zip(arrivals, fresh, strict=True) if is_new]
        if new and sum(arrival.count for arrival in new) < at_least:
            raise _TooFew
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
            connection.execute(self.insert(SUMS).values(row).on_conflict_do_nothing())
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
            keep(connection, arrivals)

    def tidy(self) -> bool:
        """Leave nothing in the files but what the tables say: no order of arrival, no old versions of sums.

        SQLite's log is emptied; PostgreSQL's small tables are rewritten. False when somebody is in the way: try again later.
        """
        mix(self)
        return empty_log(self.engine) if self.is_sqlite else rewrite_tables(self.engine, [table.name for table in REWRITTEN])

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
        with self.reading() as connection:
            rows = connection.execute(query.order_by(SUMS.c.period, SUMS.c.shard))
            return [(row.period, row.shard, bytes(row.data)) for row in rows]

    def counted(self) -> dict[str, int]:
        """The number of reports of every survey that has any."""
        with self.reading() as connection:
            rows = connection.execute(select(SUMS.c.survey, func.sum(SUMS.c.n)).group_by(SUMS.c.survey)).fetchall()
        return {row[0]: int(row[1]) for row in rows}


def _by(arrivals: Sequence[Arrival], name: Any) -> dict[Any, list[int]]:
    """Places grouped by a name, in order."""
    found: dict[Any, list[int]] = {}
    for place, arrival in enumerate(arrivals):
        found.setdefault(name(arrival), []).append(place)
    return dict(sorted(found.items()))
