"""Losses by counts: where only how often each report was sent for each kept row matters, not when."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product

from deniable.core.streams.base import Loss

Counts = tuple[int, ...]
Weigh = Callable[[Counts], int]
"""The weight of a kept row, given how often each report was sent from it."""
MOST_STEPS = 2_000_000


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


def largest_in_window(rows: Sequence[Weigh], outputs: int, periods: int, width: int, *, alike: bool) -> Fraction:
    """The largest ratio between two people who differ in `width` neighbouring periods only. No weight may be 0.

    What was sent outside the window has the same kept rows for both, each of its own counts. For each way of counting the reports
    inside, and each way of dividing those outside among the rows, the largest and the smallest product are found row by row.
    """
    weigh = [cache(row) for row in rows]
    above, below = 1, 1
    for inside in _countings(outputs, width, alike):
        lefts = list(product(*(range(count + 1) for count in inside)))

        @cache
        def tables(row: int, outside: int, lefts: list[Counts] = lefts) -> list[dict[Counts, tuple[int, int]]]:
            """By how the reports outside are divided among this row and the next: the extremes, for what is left inside."""
            if row == len(rows) - 1:
                return [
                    {left: (weight, weight) for left in lefts for weight in [weigh[row](_sum(left, own))]}
                    for own in _countings(outputs, outside, False)
                ]
            found = []
            for here in range(outside + 1):
                for own in _countings(outputs, here, False):
                    mine = {taken: weigh[row](_sum(taken, own)) for taken in lefts}
                    found += [_joined(mine, rest, [lefts[-1]] if row == 0 else lefts) for rest in tables(row + 1, outside - here)]
            return found

        for table in tables(0, periods - width):
            most, least = table[inside]
            if most * below > above * least:
                above, below = most, least
    return Fraction(above, below)


def window_countable(rows: int, outputs: int, periods: int, width: int, *, alike: bool) -> bool:
    """Is that little enough work?"""
    outside = periods - width
    divided = [math.comb(outside + outputs * (rows - row) - (row == 0), outside) for row in range(rows)]
    if max(divided) > MOST_STEPS or math.comb(width + outputs - 1, outputs - 1) > MOST_STEPS:
        return False
    steps = 0
    for inside in _countings(outputs, width, alike):
        one, pairs = (math.prod(each) for each in ([n + 1 for n in inside], [(n + 1) * (n + 2) // 2 for n in inside]))
        steps += one * (divided[0] + divided[-1]) + pairs * sum(divided[1:-1])
        if steps > MOST_STEPS:
            return False
    return True


def _sum(first: Counts, second: Counts) -> Counts:
    return tuple(map(int.__add__, first, second))


def _joined(mine: dict[Counts, int], rest: dict[Counts, tuple[int, int]], lefts: Sequence[Counts]) -> dict[Counts, tuple[int, int]]:
    """The extremes of one row and those behind it."""
    joined = {}
    for left in lefts:
        most, least = 0, -1
        for taken in product(*(range(count + 1) for count in left)):
            above, below = rest[tuple(map(int.__sub__, left, taken))]
            own = mine[taken]
            most = max(most, own * above)
            least = own * below if least < 0 else min(least, own * below)
        joined[left] = most, least
    return joined


def largest_with_changes(
    rows: Sequence[Weigh], outputs: int, periods: int, changes: int, *, alike: bool, gathered: bool = False
) -> Fraction:
    """The largest ratio between two people who change at most so often, from one kept row to another. No weight may be 0.

    Looks at every order of the reports, once for both directions of time and, with `alike`, for all names. With `gathered` it
    looks only at orders in which equal reports stand together: at most the largest ratio, and quick.
    """
    base, stretches = periods + 1, min(changes, periods - 1) + 1
    cuts = [(0, *cut, periods) for cut in combinations(range(1, periods), stretches - 1)]
    # Which stretches between two cuts each row has, as bits. Neighbours may have the same row: that is a person who changes less.
    divisions = [
        [sum(1 << place for place, chosen in enumerate(choice) if chosen == row) for row in range(len(rows))]
        for choice in product(range(len(rows)), repeat=stretches)
    ]
    weigh = [cache(lambda code, row=row: row(_digits(code, base, outputs))) for row in rows]
    above, below = 1, 1
    for sent in _gathered(outputs, periods, alike) if gathered else _orders(outputs, periods, alike):
        codes = [0]
        for output in sent:
            codes.append(codes[-1] + base**output)
        weights = []
        for cut in cuts:
            sums = [0]
            for begin, end in pairwise(cut):
                sums += [code + codes[end] - codes[begin] for code in sums]
            tables = [[weight(code) for code in sums] for weight in weigh]
            weights += [math.prod([table[own] for table, own in zip(tables, each, strict=True)]) for each in divisions]
        most, least = max(weights), min(weights)
        if most * below > above * least:
            above, below = most, least
    return Fraction(above, below)


def changes_countable(rows: int, outputs: int, periods: int, changes: int, *, alike: bool, gathered: bool = False) -> bool:
    """Is that little enough work?"""
    stretches = min(changes, periods - 1) + 1
    if periods > 64 or math.comb(periods + outputs - 1, outputs - 1) > MOST_STEPS:
        return False
    if gathered:
        orders = sum(1 for _ in _countings(outputs, periods, alike))
    else:
        orders = (_ways_to_part(periods, outputs) if alike else int(outputs**periods)) // 2 + 1
    return orders * math.comb(periods - 1, stretches - 1) * int(rows**stretches) <= MOST_STEPS


def _ways_to_part(things: int, most: int) -> int:
    """In how many ways things fall into at most so many groups without names (Stirling's numbers, added up)."""
    ways = [1] + [0] * most
    for _ in range(things):
        ways = [0] + [ways[groups - 1] + groups * ways[groups] for groups in range(1, most + 1)]
    return sum(ways)


def _orders(outputs: int, periods: int, alike: bool) -> Iterator[Counts]:
    """Rows of reports, one for each that is the same backwards or (with `alike`) by other names."""
    for sent in product(range(outputs), repeat=periods):
        if alike and sent != _renamed(sent):
            continue
        back = sent[::-1]
        if sent <= (_renamed(back) if alike else back):
            yield sent


def _renamed(sent: Counts) -> Counts:
    """Reports numbered in the order of their first use."""
    first: dict[int, int] = {}
    return tuple(first.setdefault(output, len(first)) for output in sent)


def _gathered(outputs: int, periods: int, alike: bool) -> Iterator[Counts]:
    for counts in _countings(outputs, periods, alike):
        yield tuple(output for output, count in enumerate(counts) for _ in range(count))


def _digits(code: int, base: int, places: int) -> Counts:
    digits = []
    for _ in range(places):
        code, digit = divmod(code, base)
        digits.append(digit)
    return tuple(digits)


def window_loss(rows: Sequence[Weigh], outputs: int, periods: int, width: int, fresh: Loss, lifetime: Loss, *, alike: bool) -> Loss:
    """Exactly where that can be counted; else the smaller of two bounds: what is drawn afresh in the window, and a lifetime."""
    if width >= periods:
        return lifetime
    if window_countable(len(rows), outputs, periods, width, alike=alike):
        return Loss(largest_in_window(rows, outputs, periods, width, alike=alike), True)
    bounds = [loss.ratio for loss in (fresh, lifetime) if loss.ratio is not None]
    return Loss(min(bounds, default=None), False)


def changes_loss(rows: Sequence[Weigh], outputs: int, periods: int, changes: int, lifetime: Loss, *, alike: bool) -> Loss:
    """Exactly where that can be counted, or where people who change so seldom lose as much as anyone; else the lifetime's bound."""
    if changes >= periods - 1:
        return lifetime
    if changes_countable(len(rows), outputs, periods, changes, alike=alike):
        return Loss(largest_with_changes(rows, outputs, periods, changes, alike=alike), True)
    for fewer in range(1, changes + 1):
        if not lifetime.exact or not changes_countable(len(rows), outputs, periods, fewer, alike=alike, gathered=True):
            break
        if largest_with_changes(rows, outputs, periods, fewer, alike=alike, gathered=True) == lifetime.ratio:
            return lifetime
    return Loss(lifetime.ratio, False)
