"""The share of yes in every window of a survey whose devices report changes.

A report is a sign of a change in the stretch of windows that ends when it comes, with the stretch's length beside it. The share in
a window is the sum of the mean changes of the stretches that make up all windows up to it (`estimators.yes_shares`), so it needs
the windows in which those end. One window's reports alone say what changed, and all reports in one sum say nothing: only sums by
window are read here. What is public of a window are those of its reports that came first, as in every survey; while a window is
not public, those windows that need it are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable import estimators
from deniable.batch import Accumulator
from deniable.collector.messages import Row, View
from deniable.core import TreeOfChanges
from deniable.surveys import Survey, period_of

ONE_WINDOW = "One window's reports say what changed in it, not how many say yes: choose all windows together."
NOT_YET = "In no window yet are there enough reports to say how many say yes."
WIDEST = 0.5
"""Half the length of the widest normal interval that is shown: beyond it, hardly any share is excluded."""
COMPARED = "Reports of changes are not compared between groups: the page of each shows its share of yes, window by window."


@lru_cache(maxsize=256)
def window_names(window: str, opens: str, closes: str) -> tuple[str, ...]:
    """The windows of a survey in their order.

    >>> window_names("month", "2026-11-15", "2027-01-02")
    ('2026-11', '2026-12', '2027-01')
    """
    first, last = date.fromisoformat(opens), date.fromisoformat(closes)
    days = (first + timedelta(days=number) for number in range((last - first).days + 1))
    return tuple(dict.fromkeys(period_of(day, window) for day in days))


def yes_by_window(survey: Survey, stream: TreeOfChanges, windows: Mapping[str, Accumulator], level: float) -> View | None:
    """The share of yes in the windows of which enough is known; None where there are none."""
    assert survey.opens is not None
    assert survey.closes is not None
    names = window_names(survey.window, survey.opens, survey.closes)
    signs = {1 << bit: np.zeros((stream.periods >> bit, 2)) for bit in range(stream.lengths)}
    used = 0
    for number, name in enumerate(names):
        if name not in windows:
            continue
        counts: NDArray[np.float64] = np.asarray(windows[name].sums, np.float64).reshape(stream.lengths, 2)
        # A report whose stretch does not end in this window came late, or from a device that does not follow the survey.
        for bit in range(stream.lengths):
            if (number + 1) % (1 << bit) == 0:
                signs[1 << bit][((number + 1) >> bit) - 1] = counts[bit]
                used += int(counts[bit].sum())
    estimate = estimators.yes_shares(stream, signs)
    low, high = estimate.interval(level)
    # By how many were heard and not by what they said: otherwise intervals that are shown would hold less often.
    known = np.flatnonzero(estimators.half_width(level) * estimate.standard_error <= WIDEST)
    if not known.size:
        return None
    rows = [Row(names[place], float(estimate.value[place]), float(low[place]), float(high[place])) for place in known.tolist()]
    return View("trend", f"{estimate.method}, from {used:,} signs", rows)
