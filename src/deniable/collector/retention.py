"""How long single reports and receipts are kept after a survey is over; the sums stay."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, or_, select

from deniable._results import counted
from deniable.collector.receipts import drop_receipts
from deniable.collector.tables import INCOMING, REPORTS, SPENT, SURVEYS

if TYPE_CHECKING:
    from deniable.collector.registry import Line, Registry
    from deniable.surveys import Survey

DAY = 86_400
EVERY_SECONDS = 3600.0


def expire(store: Registry, now: float) -> dict[str, int]:
    """Delete what is due; for every survey how many rows of reports and parts of receipts went."""
    limited = or_(SURVEYS.c.reports_days.is_not(None), SURVEYS.c.receipts_days.is_not(None))
    with store.reading() as connection:
        rows = connection.execute(select(SURVEYS).where(limited)).fetchall()
    gone: dict[str, int] = {}
    for row in rows:
        ended = end_of(row)
        due = [table for table in (INCOMING, REPORTS) if is_due(ended, row.reports_days, now)]
        receipts = is_due(ended, row.receipts_days, now)
        if due or receipts:
            with store.unhurried() as connection:
                gone[row.hash] = sum(connection.execute(delete(table).where(table.c.survey == row.hash)).rowcount for table in due)
                gone[row.hash] += drop_receipts(connection, row.hash) if receipts else 0
                if receipts:
                    connection.execute(delete(SPENT).where(SPENT.c.survey == row.hash))
    return gone


def retention_words(survey: Survey, line: Line) -> str:
    """How long things are kept, in a sentence for everyone."""

    def days(number: int | None) -> str:
        return "kept for good" if number is None else f"deleted {counted(number, 'day')} after the survey closes"

    reports = f"Single reports are {days(line.reports_days)}" if survey.keep_reports else "Single reports are not kept"
    windows = line.receipt_windows
    bounded = "" if windows is None else f", those older than {counted(windows, 'window')} also while it runs"
    return f"{reports}. The random keys that make each report count once are {days(line.receipts_days)}{bounded}. The sums stay."


def end_of(row: Any) -> float | None:
    """When no more reports were taken: closed by hand, or after its last day; None while it is open."""
    if row.closed is not None:
        return float(row.closed)
    closes = json.loads(bytes(row.document))["closes"]
    if closes is None:
        return None
    day = date.fromisoformat(closes)
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() + DAY


def is_due(ended: float | None, days: int | None, now: float) -> bool:
    """Have so many days passed?"""
    return ended is not None and days is not None and now >= ended + DAY * days
