"""When a collector publishes new numbers: in steps of many reports, or live."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from deniable.errors import InvalidParameter

LIVE = "live"
USUAL_REPORTS, USUAL_MINUTES = 100, 60
MOST_REPORTS, MOST_MINUTES = 10**9, 60 * 24 * 366


@dataclass(frozen=True)
class Steps:
    """Public numbers stay as they are until there are so many new reports and so much time has passed.

    Whoever looks after every report would otherwise learn each of them by subtraction.

    >>> print(Steps().words)
    New numbers are published after at least 100 new reports and at least 60 minutes; nothing moves in between.
    """

    reports: int = USUAL_REPORTS
    minutes: int = USUAL_MINUTES

    def __post_init__(self) -> None:
        _check("reports", self.reports, 2, MOST_REPORTS)
        _check("minutes", self.minutes, 0, MOST_MINUTES)

    @property
    def words(self) -> str:
        """The policy in one sentence."""
        wait = "" if self.minutes == 0 else f" and at least {self.minutes:,} minute{'' if self.minutes == 1 else 's'}"
        return f"New numbers are published after at least {self.reports:,} new reports{wait}; nothing moves in between."


Release = Steps | str
"""`Steps`, or "live"."""
LIVE_WORDS = "Numbers are published live: anyone who looks just before and just after a report learns that report."


def release_from(written: object) -> Release:
    """A policy as a survey file or a document says it: "live", or a table with reports and minutes.

    >>> release_from({"reports": 500})
    Steps(reports=500, minutes=60)
    """
    if written == LIVE or isinstance(written, Steps):
        return written
    if not isinstance(written, dict) or not set(written) <= {"reports", "minutes"}:
        raise InvalidParameter('release must be "live" or a table such as { reports = 100, minutes = 60 }')
    return Steps(**written)


def release_document(release: Release) -> Any:
    """A policy as JSON values."""
    return asdict(release) if isinstance(release, Steps) else release


def _check(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidParameter(f"release.{name} must be a whole number from {least} to {most:,}")
