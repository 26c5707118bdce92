"""Durable storage: what was counted, exactly once."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, select

from deniable.batch import Accumulator, Reports, accumulator_for, accumulator_from_bytes
from deniable.collector.database import empty_log, rewrite_tables
from deniable.collector.kept import keep, mix, shuffled, together
from deniable.collector.receipts import NewPart, begin_part, known, receive
from deniable.collector.registry import Registry
from deniable.collector.spending import admitted, owner
from deniable.collector.tables import COUNTS, RECENT, REWRITTEN, SUMS
from deniable.errors import DeniableError
from deniable.surveys import Survey

SHARDS = 16
LARGE_SUMS = 1 << 16
FEW = 16
"""Sums of more bytes are not written for so few reports that these take less than one part in `FEW` of them."""
TIDY_SUBMISSIONS = 10_000
TIDY_SECONDS = {"sqlite": 2.0, "postgresql": 60.0}
"""After so many submissions or so many seconds nothing is left in the files but what the tables say."""
# In the driver's own words: to have them put together takes longer than to run them.
_READ_SUMS = {
    "sqlite": "SELECT data FROM sums WHERE survey = ? AND period = ? AND shard = ?",
    "postgresql": "SELECT data FROM sums WHERE survey = %s AND period = %s AND shard = %s FOR UPDATE",
}
_WRITE_SUMS = {
    "sqlite": "UPDATE sums SET n = ?, data = ? WHERE survey = ? AND period = ? AND shard = ?",
    "postgresql": "UPDATE sums SET n = %s, data = %s WHERE survey = %s AND period = %s AND shard = %s",
}


@dataclass(slots=True)  # not frozen: that would make each of them take three times as long
class Arrival:
    """Reports under one key, checked and decoded, waiting to be counted."""

    survey: Survey
    period: str
    key: bytes
    reports: Any
    """`Reports`, or a list of `Report`."""
    count: int
    nonce: bytes | None = None
    """The name of the token that admits it, where the survey asks for one."""


class _TooFew(Exception):
    """Fewer new reports than may be written at once."""


class Store(Registry):
    """One database. Every method is one transaction."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.shard = secrets.randbelow(SHARDS)
        self._sizes: dict[str, int] = {}
        self.tidy_seconds = TIDY_SECONDS[self.engine.dialect.name]
        self.tidy_submissions = TIDY_SUBMISSIONS if self.is_sqlite else sys.maxsize

    def count(self, arrivals: Sequence[Arrival], *, at_least: int = 1) -> list[bool | None]:
        """Count what is new and write the receipts; for every arrival, was it new?

        When this returns, it is durable. When it raises, nothing was counted. With `at_least`, the new reports of a window
        are written when there are so many of them; None says that one was not written, because there were too few.
        """
        if at_least == 1:
            return self._in_parts(arrivals)
        answers: list[bool | None] = [None] * len(arrivals)
        for group in _by(arrivals, lambda arrival: (arrival.survey.hash, arrival.period)).values():
            mine = [arrivals[place] for place in group]
            try:
                fresh = self._in_parts(mine, at_least)
            except _TooFew:
                known = self.known(mine)
                fresh = [False if old else None for old in known]
            for place, new in zip(group, fresh, strict=True):
                answers[place] = new
        return answers

    def _in_parts(self, arrivals: Sequence[Arrival], at_least: int = 1) -> list[bool | None]:
        """One transaction; where a survey's receipts need another part first, one more for each that does."""
        # A part that was begun may be outdated at once, by a writer whose clock is a window ahead; not again and again.
        for _ in range(2 * len({arrival.survey.hash for arrival in arrivals})):
            try:
                with self.writing() as connection:
                    return self._counted(connection, arrivals, at_least)
            except NewPart as needed:
                with self.writing() as connection:
                    begin_part(connection, needed.survey, needed.period)
        with self.writing() as connection:
            return self._counted(connection, arrivals, at_least)

    def known(self, arrivals: Sequence[Arrival]) -> list[bool]:
        """For every arrival, was it counted before?"""
        receipts: set[tuple[str, bytes]] = set()
        with self.reading() as connection:
            for survey_hash, places in _by(arrivals, lambda arrival: arrival.survey.hash).items():
                keys = [arrivals[place].key for place in places]
                receipts.update((survey_hash, key) for key in known(connection, survey_hash, keys))
        return [(arrival.survey.hash, arrival.key) in receipts for arrival in arrivals]

    def token_owner(self, survey_hash: str, nonce: bytes) -> bytes | None:
        """The key of the report that spent a token; None when none did."""
        with self.reading() as connection:
            return owner(connection, survey_hash, nonce)

    def _counted(self, connection: Connection, arrivals: Sequence[Arrival], at_least: int = 1) -> list[bool | None]:
        fresh: list[bool | None] = [False] * len(arrivals)
        for survey_hash, places in _by(arrivals, lambda arrival: arrival.survey.hash).items():
            first: dict[bytes, int] = {}
            for place in admitted(connection, survey_hash, arrivals, places):
                first.setdefault(arrivals[place].key, place)
            latest = max(arrivals[place].period for place in places)
            for key in receive(connection, survey_hash, latest, list(first)) if first else ():
                fresh[first[key]] = True
        new = [arrival for arrival, is_new in zip(arrivals, fresh, strict=True) if is_new]
        if new and sum(arrival.count for arrival in new) < at_least:
            raise _TooFew
        for group in _by(new, lambda arrival: (arrival.survey.hash, arrival.period)).values():
            self._fold(connection, [new[place] for place in group])
        return fresh

    def _fold(self, connection: Connection, arrivals: list[Arrival]) -> None:
        survey, period = arrivals[0].survey, arrivals[0].period
        if survey.keep_reports:
            keep(connection, arrivals)
        if self._sums_bytes(survey) > LARGE_SUMS:
            data = together(arrivals).to_bytes()
            if FEW * len(data) < self._sums_bytes(survey):
                row = {"survey": survey.hash, "period": period, "n": sum(arrival.count for arrival in arrivals), "data": data}
                connection.execute(RECENT.insert(), row)
                return
        singles = [report for arrival in arrivals if isinstance(arrival.reports, list) for report in arrival.reports]
        batches = [arrival.reports for arrival in arrivals if isinstance(arrival.reports, Reports)]
        self._add(connection, survey, period, [singles, *batches] if singles else batches)

    def _add(self, connection: Connection, survey: Survey, period: str, several: Sequence[Any]) -> None:
        place, dialect = (survey.hash, period, self.shard), self.engine.dialect.name
        data = connection.exec_driver_sql(_READ_SUMS[dialect], place).scalar()
        if data is None:
            # Another writer may have begun the same row; whoever is second waits here and goes on from its sums.
            empty = accumulator_for(survey.mechanism).to_bytes()
            row = {"survey": survey.hash, "period": period, "shard": self.shard, "n": 0, "data": empty}
            connection.execute(self.insert(SUMS).values(row).on_conflict_do_nothing())
            data = connection.exec_driver_sql(_READ_SUMS[dialect], place).scalar_one()
        sums = accumulator_from_bytes(survey.mechanism, bytes(data))
        for reports in several:
            sums.add(reports)
        connection.exec_driver_sql(_WRITE_SUMS[dialect], (sums.n, sums.to_bytes(), *place))

    def _sums_bytes(self, survey: Survey) -> int:
        """How long the sums of a survey are, at least; 0 when single reports say more than their sums do, and may not wait."""
        if survey.hash not in self._sizes:
            counts = survey.mechanism.channel.sums == "outputs"
            self._sizes[survey.hash] = len(accumulator_for(survey.mechanism).to_bytes()) if counts else 0
        return self._sizes[survey.hash]

    def settle(self, connection: Connection, survey: Survey) -> None:
        """Add to a survey's sums what was counted since this was last done."""
        gone = delete(RECENT).where(RECENT.c.survey == survey.hash).returning(RECENT.c.period, RECENT.c.data)
        frames: dict[str, list[bytes]] = {}
        for period, data in connection.execute(gone):
            frames.setdefault(period, []).append(bytes(data))
        for period, several in sorted(frames.items()):
            self._add(connection, survey, period, [shuffled(survey.mechanism, several)])

    def _settle(self, survey_hash: str | None = None) -> None:
        asked = select(RECENT.c.survey).distinct()
        with self.reading() as connection:
            hashes = (
                connection.execute(asked if survey_hash is None else asked.where(RECENT.c.survey == survey_hash)).scalars().all()
            )
        for survey in map(self.survey, sorted(hashes)):
            # One whose sums are damaged keeps no other waiting; what was counted for it stays where it is.
            if survey is not None:
                with suppress(DeniableError), self.writing() as connection:
                    self.settle(connection, survey)

    def tidy(self) -> bool:
        """Leave nothing in the files but what the tables say: no order of arrival, no old versions of sums.

        SQLite's log is emptied; PostgreSQL's small tables are rewritten. False when somebody is in the way: try again later.
        """
        self._settle()
        mix(self)
        return empty_log(self.engine) if self.is_sqlite else rewrite_tables(self.engine, [table.name for table in REWRITTEN])

    def sums(self, survey: Survey) -> dict[str, Accumulator]:
        """The accumulator of every window, shards merged."""
        by_period: dict[str, Accumulator] = {}
        for period, _, data in self.raw_sums(survey.hash):
            part = accumulator_from_bytes(survey.mechanism, data)
            by_period[period] = part if period not in by_period else by_period[period].merge(part)
        return by_period

    def raw_sums(self, survey_hash: str) -> list[tuple[str, int, bytes]]:
        """Window, shard and accumulator bytes of a survey."""
        self._settle(survey_hash)
        query = select(SUMS.c.period, SUMS.c.shard, SUMS.c.data).where(SUMS.c.survey == survey_hash)
        with self.reading() as connection:
            rows = connection.execute(query.order_by(SUMS.c.period, SUMS.c.shard))
            return [(row.period, row.shard, bytes(row.data)) for row in rows]

    def counted(self) -> dict[str, int]:
        """The number of reports of every survey that has any."""
        with self.reading() as connection:
            rows = connection.execute(select(COUNTS.c.survey, func.sum(COUNTS.c.n)).group_by(COUNTS.c.survey)).fetchall()
        return {row[0]: int(row[1]) for row in rows}


def _by(arrivals: Sequence[Arrival], name: Any) -> dict[Any, list[int]]:
    """Places grouped by a name, in order."""
    places: dict[Any, list[int]] = {}
    for place, arrival in enumerate(arrivals):
        places.setdefault(name(arrival), []).append(place)
    return dict(sorted(places.items()))
