"""Single reports of surveys that keep them: stored and given out in random order, never in the order they came."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, select

from deniable.batch import Reports, SystemKeystream
from deniable.collector.tables import INCOMING, REPORTS
from deniable.core import Mechanism, encode_reports, output_bits
from deniable.surveys import Survey

if TYPE_CHECKING:
    from deniable.collector.store import Arrival, Store

TOGETHER = 10_000
"""Reports that are put into one random order before they are stored for good."""
PIECE_BYTES = 1 << 24


def permutation(count: int) -> NDArray[np.intp]:
    """A uniform random order of so many places, under a key from the system that is forgotten at once."""
    keys = np.empty(count, np.uint64)
    SystemKeystream().fill(keys)
    # Two equal keys among a million, which would leave two reports in their order, have a chance of 3e-8.
    return np.argsort(keys)


def keep(connection: Connection, arrivals: Sequence[Arrival]) -> None:
    """Store the reports of one window that are counted in this transaction, in random order, until they are mixed with more."""
    rows = _rows(arrivals[0].survey, arrivals[0].period, together(arrivals))
    connection.execute(INCOMING.insert(), [{**row, "mixed": False} for row in rows])


def together(arrivals: Sequence[Arrival]) -> Reports:
    """The reports of several arrivals of one survey, in random order."""
    mechanism = arrivals[0].survey.mechanism
    singles = [report for arrival in arrivals if not isinstance(arrival.reports, Reports) for report in arrival.reports]
    frames = [arrival.reports.to_bytes() for arrival in arrivals if isinstance(arrival.reports, Reports)]
    if singles:
        frames.append(encode_reports(mechanism, singles))
    return shuffled(mechanism, frames)


def mix(store: Store) -> None:
    """Put what came since the last time into one random order with what was there; so many together are stored for good.

    Every window's latest reports, fewer than `TOGETHER`, are mixed again each time, so that no order of arrival is left.
    """
    asked = select(INCOMING.c.survey, INCOMING.c.period).where(INCOMING.c.mixed.is_(False)).distinct()
    with store.reading() as connection:
        if connection.execute(asked.limit(1)).first() is None:
            return
    with store.writing() as connection:
        for survey_hash, period in sorted(tuple(row) for row in connection.execute(asked)):
            survey = store.survey(survey_hash)
            place = (INCOMING.c.survey == survey_hash) & (INCOMING.c.period == period)
            frames = [bytes(row.data) for row in connection.execute(delete(INCOMING).where(place).returning(INCOMING.c.data))]
            if survey is None or not frames:  # another worker was faster
                continue
            mixed = shuffled(survey.mechanism, frames)
            rows = _rows(survey, period, mixed)
            if len(mixed) >= TOGETHER:
                connection.execute(REPORTS.insert(), rows)
            else:
                connection.execute(INCOMING.insert(), [{**row, "mixed": True} for row in rows])


def kept(store: Store, survey: Survey) -> Iterator[tuple[str, Reports]]:
    """Window and reports of everything that was kept, piece by piece; whoever gives them out puts them in random order."""
    with store.reading() as connection:
        # One transaction: a report that is being stored for good is seen in one of the two places.
        numbers = list(connection.execute(select(REPORTS.c.number).where(REPORTS.c.survey == survey.hash)).scalars())
        recent = connection.execute(select(INCOMING.c.period, INCOMING.c.data).where(INCOMING.c.survey == survey.hash)).fetchall()
    secrets.SystemRandom().shuffle(numbers)
    for period, data in recent:
        yield period, Reports.from_bytes(survey.mechanism, bytes(data))
    for number in numbers:
        with store.reading() as connection:
            row = connection.execute(select(REPORTS.c.period, REPORTS.c.data).where(REPORTS.c.number == number)).one()
        yield row.period, Reports.from_bytes(survey.mechanism, bytes(row.data))


def shuffled(mechanism: Mechanism, frames: Sequence[bytes]) -> Reports:
    """The reports of all frames in one random order."""
    parts = [Reports.from_bytes(mechanism, frame).outputs for frame in frames]
    count = sum(len(Reports(mechanism, part)) for part in parts)
    return Reports(mechanism, _taken(_joined(parts), permutation(count)))


def _joined(parts: Sequence[Any]) -> Any:
    if isinstance(parts[0], tuple):
        return tuple(_joined(column) for column in zip(*parts, strict=True))
    return np.concatenate(parts)


def _taken(outputs: Any, places: Any) -> Any:
    return tuple(_taken(part, places) for part in outputs) if isinstance(outputs, tuple) else outputs[places]


def _rows(survey: Survey, period: str, reports: Reports) -> list[dict[str, Any]]:
    """Rows of a size every database takes."""
    each = max(1, 8 * PIECE_BYTES // max(1, output_bits(survey.mechanism.channel)))
    pieces = [
        Reports(survey.mechanism, _taken(reports.outputs, slice(begin, begin + each))) for begin in range(0, len(reports), each)
    ]
    return [{"survey": survey.hash, "period": period, "data": piece.to_bytes()} for piece in pieces]
