"""What everyone may see of a survey's sums: snapshots of many new reports each, stored, so that every worker shows the same.

A survey's reports fall into disjoint groups, each of at least `release.reports`, and everything public is a sum of whole groups:

- a window that has so many reports that were never shown shows them under its own name;
- what is left of windows that are over counts in the survey's total once there are so many of such reports together.

If the total simply followed all windows, it would give away the few reports of one window, by subtraction of the others.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from typing import Any

from sqlalchemy import Connection, func, select, update

from deniable.batch import Accumulator, accumulator_for, accumulator_from_bytes
from deniable.collector.store import Store
from deniable.collector.tables import COUNTS, STEPS, SUMS, SURVEYS
from deniable.surveys import Steps, Survey, period_of


@dataclass(frozen=True)
class Published:
    """Sums that may be shown: of single windows, and of everything."""

    windows: dict[str, Accumulator]
    whole: Accumulator
    waiting: str = ""
    """How far it is to the first numbers, when there are none yet."""
    as_of: str = ""
    """The minute in which these numbers became public; empty when they are live."""
    periods: int = 1
    """From how many windows the reports in the whole are."""


def live(store: Store, survey: Survey) -> Published:
    """The sums as they are now: for whoever may see them, and for surveys that are published live."""
    windows = store.sums(survey)
    return Published(windows, _merged(survey, windows.values()), periods=len(windows))


def published(store: Store, survey: Survey, now: float | None = None) -> Published:
    """What is public now. Takes the next step first when it is time for it."""
    release = survey.release
    if not isinstance(release, Steps):
        return live(store, survey)
    moment = time.time() if now is None else now
    with store.reading() as connection:
        state = _State.read(connection, survey)
    if state.next_step(survey, release, moment):
        _step(store, survey, release, moment)
    with store.reading() as connection:
        state = _State.read(connection, survey)
        rows = connection.execute(select(STEPS).where(STEPS.c.survey == survey.hash).order_by(STEPS.c.period)).fetchall()
    windows = {row.period: accumulator_from_bytes(survey.mechanism, bytes(row.shown)) for row in rows if row.shown_n}
    whole = _merged(survey, [accumulator_from_bytes(survey.mechanism, bytes(row.taken)) for row in rows])
    if not rows:
        return Published(windows, whole, state.progress(survey, release, moment))
    return Published(windows, whole, as_of=_minute(state.stepped), periods=len(rows))


def stamp(store: Store, survey: Survey, *, everything: bool = False) -> Hashable | None:
    """Changes when what is shown changes, and costs little to ask for; None when it is time for the next step."""
    with store.reading() as connection:
        state = _State.read(connection, survey)
    release = survey.release
    if everything or not isinstance(release, Steps):
        return tuple(sorted(state.counted.items()))
    now = time.time()
    if state.next_step(survey, release, now):
        return None
    if not state.taken:
        return state.progress(survey, release, now)
    return state.stepped, tuple(sorted(state.shown.items())), tuple(sorted(state.taken.items()))


def published_counts(store: Store, surveys: Sequence[Survey]) -> dict[str, tuple[int, str]]:
    """For each of these surveys the number of reports that are public, and how far it is to the first when there are none."""
    hashes = [survey.hash for survey in surveys]
    published: dict[str, tuple[int, str]] = {}
    with store.reading() as connection:
        counted = _totals(connection, COUNTS.c.survey, COUNTS.c.n, hashes)
        taken = _totals(connection, STEPS.c.survey, STEPS.c.taken_n, hashes)
        for survey in surveys:
            if not isinstance(survey.release, Steps):
                published[survey.hash] = (counted.get(survey.hash, 0), "")
            elif survey.hash in taken:
                published[survey.hash] = (taken[survey.hash], "")
            else:
                state = _State.read(connection, survey)
                published[survey.hash] = (0, state.progress(survey, survey.release, time.time()))
    return published


def _totals(connection: Connection, name: Any, number: Any, hashes: Sequence[str]) -> dict[str, int]:
    rows = connection.execute(select(name, func.sum(number)).where(name.in_(hashes)).group_by(name))
    return {row[0]: int(row[1]) for row in rows}


@dataclass(frozen=True)
class _State:
    """Numbers of reports by window: counted, shown, and taken into the total."""

    stepped: int
    counted: Mapping[str, int]
    shown: Mapping[str, int]
    taken: Mapping[str, int]

    @classmethod
    def read(cls, connection: Connection, survey: Survey, *, lock: bool = False) -> _State:
        asked = select(SURVEYS.c.stepped).where(SURVEYS.c.hash == survey.hash)
        stepped = int(connection.execute(asked.with_for_update(key_share=True) if lock else asked).scalar_one())
        sums = select(COUNTS.c.period, func.sum(COUNTS.c.n)).where(COUNTS.c.survey == survey.hash).group_by(COUNTS.c.period)
        counted = {period: int(n) for period, n in connection.execute(sums)}
        steps = select(STEPS.c.period, STEPS.c.shown_n, STEPS.c.taken_n).where(STEPS.c.survey == survey.hash)
        rows = connection.execute(steps).fetchall()
        return cls(stepped, counted, {row.period: row.shown_n for row in rows}, {row.period: row.taken_n for row in rows})

    def too_early(self, release: Steps, now: float) -> bool:
        """Has too little time passed since the last step, or since the survey was opened?"""
        return release.minutes > 0 and now < self.stepped + 60 * release.minutes

    def news(self, period: str) -> int:
        """Reports of a window that are in no group yet."""
        return self.counted[period] - self.taken.get(period, 0)

    def next_step(self, survey: Survey, release: Steps, now: float) -> dict[str, bool]:
        """The windows that move now, and whether each is shown under its own name; empty when it is not time yet."""
        if self.too_early(release, now):
            return {}
        # A window part of which went into the total with others can never be shown in full: subtraction would give away that part.
        whole = {period for period in self.counted if self.taken.get(period, 0) == self.shown.get(period, 0)}
        moves = {period: True for period in sorted(whole) if self.news(period) >= release.reports}
        rest = self.rest(survey, now) - set(moves)
        if sum(self.news(period) for period in rest) >= release.reports:
            moves |= {period: False for period in sorted(rest) if self.news(period)}
        return moves

    def rest(self, survey: Survey, now: float) -> set[str]:
        """Windows that are over: what they have left over goes into the total with others."""
        current = period_of(datetime.fromtimestamp(now, UTC).date(), survey.window)
        return {period for period in self.counted if period < current}

    def progress(self, survey: Survey, release: Steps, now: float) -> str:
        """How far it is to the first numbers, in words."""
        together = sum(self.news(period) for period in self.rest(survey, now))
        most = min(max([together, *self.counted.values()]), release.reports)
        words = f"{most:,} of {release.reports:,} reports" if most < release.reports else f"at least {most:,} reports"
        if self.too_early(release, now):
            words += f"; the first numbers come at {_minute(self.stepped + 60 * release.minutes)} at the earliest"
        return words


def _step(store: Store, survey: Survey, release: Steps, now: float) -> None:
    """Take a step, unless another worker just did: one transaction, so that everyone sees the same one."""
    with store.writing() as connection:
        # The survey's row is locked first, but not against counting; whoever is second looks again and has nothing left to do.
        state = _State.read(connection, survey, lock=True)
        moves = state.next_step(survey, release, now)
        if moves:
            store.settle(connection, survey)
        rows = connection.execute(select(SUMS.c.period, SUMS.c.data).where(SUMS.c.survey == survey.hash)).fetchall()
        for period, shown in moves.items():
            parts = [accumulator_from_bytes(survey.mechanism, bytes(row.data)) for row in rows if row.period == period]
            sums = _merged(survey, parts)
            _write(store, connection, survey, period, sums, shown=shown)
        if moves:
            connection.execute(update(SURVEYS).where(SURVEYS.c.hash == survey.hash).values(stepped=math.ceil(now)))


def _write(store: Store, connection: Connection, survey: Survey, period: str, sums: Accumulator, *, shown: bool) -> None:
    empty = accumulator_for(survey.mechanism)
    values = {"taken_n": sums.n, "taken": sums.to_bytes()}
    values |= {"shown_n": sums.n, "shown": sums.to_bytes()} if shown else {}
    row = {"survey": survey.hash, "period": period, "shown_n": 0, "shown": empty.to_bytes(), **values}
    connection.execute(store.insert(STEPS).values(row).on_conflict_do_update(index_elements=["survey", "period"], set_=values))


def _merged(survey: Survey, parts: Iterable[Accumulator]) -> Accumulator:
    return reduce(lambda a, b: a.merge(b), parts, accumulator_for(survey.mechanism))


def _minute(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
