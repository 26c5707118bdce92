"""Many surveys at once: everybody's reports are drawn together and told apart afterwards.

A small survey costs more in calls than in draws. The law is the same: reports are independent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deniable.batch import Accumulator, Reports, accumulator_for

AT_ONCE = 1 << 18
"""People whose reports are drawn together."""


def rounds(n: int, runs: int) -> Iterator[int]:
    """How many surveys of n users to draw together, until there are enough.

    >>> list(rounds(100_000, 5)), list(rounds(10**9, 2))
    ([2, 2, 1], [1, 1])
    """
    together = max(1, AT_ONCE // n)
    for start in range(0, runs, together):
        yield min(together, runs - start)


def each_survey(reports: Reports, n: int) -> Iterator[Reports]:
    """The reports of one survey after the other."""
    for start in range(0, len(reports), n):
        yield Reports(reports.mechanism, _stretch(reports.outputs, start, start + n))


def each_sum(reports: Reports, n: int) -> Iterator[Accumulator]:
    """The sums of one survey after the other."""
    for survey in each_survey(reports, n):
        yield accumulator_for(reports.mechanism).add(survey)


def _stretch(outputs: Any, start: int, end: int) -> Any:
    if isinstance(outputs, tuple):
        return tuple(_stretch(part, start, end) for part in outputs)
    return outputs[start:end]
