"""The loss of a lifetime by counts: where only how often each report was sent for each kept row matters, not when."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product

Counts = tuple[int, ...]
Weigh = Callable[[Counts], int]
"""The weight of a kept row, given how often each report was sent from it."""
MOST_STEPS = 1_000_000


def largest_by_counts(rows: Sequence[Weigh], outputs: int, periods: int, *, alike: bool) -> Fraction | None:
    """The largest ratio between two people, over all reports of `periods` periods; None when it is unbounded.

    A person's weight is the product over the kept rows of `rows[r](counts)`, where the counts of all rows add up to those of the
    reports. So the largest and the smallest product are found row by row, for each way of counting the reports. With `alike`, all
    reports are alike up to their names, and counts in falling order are enough.
    """
    worst = Fraction(1)
    for counts in _countings(outputs, periods, alike):
        most, least = _extremes(rows, counts)
        if most and not least:
            return None
        if most:
            worst = max(worst, Fraction(most, least))
    return worst


def countable(rows: int, outputs: int, periods: int, *, alike: bool) -> bool:
    """Is that little enough work?"""
    if math.comb(periods + outputs - 1, outputs - 1) > MOST_STEPS:
        return False
    steps = 0
    for counts in _countings(outputs, periods, alike):
        steps += rows * math.prod((count + 1) * (count + 2) // 2 for count in counts)
        if steps > MOST_STEPS:
            return False
    return True


def _countings(outputs: int, periods: int, alike: bool) -> Iterator[Counts]:
    def parts(left: int, places: int, most: int) -> Iterator[Counts]:
        if places == 1:
            if left <= most:
                yield (left,)
            return
        for first in range(min(left, most), -1, -1):
            for rest in parts(left - first, places - 1, first if alike else left):
                yield (first, *rest)

    return parts(periods, outputs, periods)


def _extremes(rows: Sequence[Weigh], counts: Counts) -> tuple[int, int]:
    """The largest and the smallest product over the rows."""
    weigh = [cache(row) for row in rows]

    @cache
    def best(row: int, left: Counts) -> tuple[int, int]:
        if row == len(rows) - 1:
            return weigh[row](left), weigh[row](left)
        most, least = 0, -1
        for mine in product(*(range(count + 1) for count in left)):
            own = weigh[row](mine)
            above, below = best(row + 1, tuple(count - taken for count, taken in zip(left, mine, strict=True)))
            most = max(most, own * above)
            least = own * below if least < 0 else min(least, own * below)
        return most, least

    return best(0, counts)


def smaller(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    """Of two bounds, the one that says more; None is no bound."""
    return second if first is None else first if second is None else min(first, second)
