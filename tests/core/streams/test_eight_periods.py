"""Eight periods of four values: the losses that streams state are what brute force finds, made small by symmetry.

2^32 pairs of rows are too many to look at one by one. Where periods are independent, each is looked at alone. Where something is
kept, the law knows how often a report was sent for a value and not when, and has no favourite value, so every row of reports is
like one of a few (`test_the_law_has_these_symmetries`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from typing import Any

import numpy as np
import pytest

from deniable.core import (
    Categories,
    FreshReports,
    KeptAnswer,
    KeptBits,
    Mechanism,
    RandomPeriod,
    Stream,
    TakingTurns,
    WhenAsked,
    make_mechanism,
)

FOUR: Mechanism = make_mechanism("k-rr", domain=Categories(4), epsilon=1)
APART: list[tuple[Stream, list[set[int]]]] = [
    (FreshReports(8, FOUR), [set(range(8))]),
    (TakingTurns(8, FOUR, turns=3), [{0, 3, 6}, {1, 4, 7}, {2, 5}]),
    (TakingTurns(8, FOUR, turns=5), [{0, 5}, {1, 6}, {2, 7}, {3}, {4}]),
    (RandomPeriod(8, FOUR), [{period} for period in range(8)]),
    (WhenAsked(8, FOUR, window=3), [{0, 3, 6}]),
    (WhenAsked(8, FOUR, window=4, parts=4, asked=(1, 3, 0, 2)), [{0, 1, 4, 5}]),
]


def in_one_period(stream: Any, period: int) -> Fraction:
    """All pairs of values and all reports of one period: the others are held fixed, and their weights cancel."""
    values, outputs = [0] * 8, next(row for row in some_rows(stream, period))
    worst = Fraction(1)
    for output in stream.shown(period):
        if output is None:
            continue
        weights = []
        for value in range(4):
            here, sent = list(values), list(outputs)
            here[period], sent[period] = value, output
            weights.append(stream.weight(here, sent))
        assert min(weights) > 0
        worst = max(worst, Fraction(max(weights), min(weights)))
    return worst


def some_rows(stream: Any, period: int) -> Iterator[list[Any]]:
    """Rows of reports that the stream can send and in which the period speaks."""
    for pattern in next(spoken for one, spoken in APART if one is stream):
        if period in pattern:
            yield [next(y for y in stream.shown(at) if y is not None) if at in pattern else None for at in range(8)]


@pytest.mark.parametrize(("stream", "patterns"), APART, ids=lambda one: type(one).__name__ if isinstance(one, Stream) else "")
def test_independent_periods_lose_the_product_of_what_each_loses(stream: Stream, patterns: list[set[int]]) -> None:
    """The largest product over the periods that speak in a window, for every window and every pattern of silence."""
    each = {period: in_one_period(stream, period) for pattern in patterns for period in pattern}
    for width in range(1, 9):
        windows = [set(range(begin, begin + width)) for begin in range(9 - width)]
        largest = max(
            math.prod((each[period] for period in pattern & window), start=Fraction(1))
            for pattern in patterns
            for window in windows
        )
        assert stream.window(width).ratio == largest
        assert stream.window(width).exact
    assert stream.lifetime().ratio == stream.changing(7).ratio == stream.window(8).ratio


KEPT = KeptAnswer(8, 4, epsilon=1, permanent=2)
BITS = KeptBits(8, 4, bits=2, epsilon=1, flips="1/5")


@pytest.mark.parametrize("stream", [KEPT, BITS], ids=lambda one: type(one).__name__)
def test_the_law_has_these_symmetries(stream: Any) -> None:
    """Other orders of the periods, and for kept answers other names of the values, change no weight."""
    chance = random.Random(1)
    for _ in range(20):
        values = [chance.randrange(4) for _ in range(8)]
        outputs = [chance.randrange(4) for _ in range(8)]
        weight = stream.weight(values, outputs)
        order = chance.sample(range(8), 8)
        assert stream.weight([values[at] for at in order], [outputs[at] for at in order]) == weight
        if stream is KEPT:
            names = chance.sample(range(4), 4)
            assert stream.weight([names[value] for value in values], [names[output] for output in outputs]) == weight


def falling(row: tuple[int, ...]) -> bool:
    counts = [row.count(output) for output in range(4)]
    return all(first >= second for first, second in pairwise(counts))


@pytest.mark.heavy
def test_a_kept_answer_of_four_values_loses_in_eight_periods_what_brute_force_finds() -> None:
    """All 65,536 rows of values, against the 15 rows of reports that all others are like."""
    worst = Fraction(1)
    rows = [row for row in combinations_with_replacement(range(4), 8) if falling(row)]
    assert len(rows) == 15
    for outputs in rows:
        weights = [KEPT.weight(values, outputs) for values in product(range(4), repeat=8)]
        worst = max(worst, Fraction(max(weights), min(weights)))
    loss = KEPT.lifetime()
    assert (loss.ratio, loss.exact) == (worst, True)
    assert KEPT.window(8) == KEPT.changing(7) == loss


@pytest.mark.slow
@pytest.mark.parametrize(
    "stream",
    [
        KeptBits(8, 4, bits=1, epsilon=1, flips="1/10"),
        KeptBits(5, 4, bits=2, epsilon=1, flips="1/5"),
        pytest.param(BITS, marks=pytest.mark.heavy),
        KeptBits(5, 2, bits=2, epsilon=1, flips="1/5"),
    ],
)
def test_kept_bits_of_four_values_lose_what_brute_force_finds(stream: KeptBits) -> None:
    """One choice of buckets (the others have other names), every order of reports once, every row of values that it tells apart."""
    places = [0, 1, 2][: min(stream.bits + 1, stream.size)]  # the buckets are 0 and 1 in the first choice; all others are alike
    worst = Fraction(1)
    assert stream.buckets(0) == list(range(stream.bits))
    for outputs in combinations_with_replacement(range(1 << stream.bits), stream.periods):
        weights = [stream.weight(values, outputs) for values in product(places, repeat=stream.periods)]
        worst = max(worst, Fraction(max(weights), min(weights)))
    loss = stream.lifetime()
    assert (loss.ratio, loss.exact) == (worst, True)


def renamed(row: tuple[int, ...]) -> tuple[int, ...]:
    """Reports numbered in the order of their first use."""
    first: dict[int, int] = {}
    return tuple(first.setdefault(output, len(first)) for output in row)


NOTHING = {KEPT: KEPT.first.total**4, BITS: (BITS.high + BITS.low) ** (2 * 3)}
"""The weight of no reports at all."""


class Everyone:
    """All rows of values of a stream that keeps something: the logarithms of their weights, for a row of reports."""

    def __init__(self, stream: Any, places: int, nothing: int) -> None:
        self.stream, self.places, self.nothing = stream, places, math.log(nothing)
        self.rows = np.indices((places,) * stream.periods).reshape(stream.periods, -1).T
        self.logs: dict[tuple[int, ...], float] = {}

    def log(self, place: int, sent: tuple[int, ...]) -> float:
        """What one value adds that was sent as these reports: the factors of the values multiply."""
        if (place, *sent) not in self.logs:
            weight = self.stream.weight([place] * len(sent), sent) if sent else 0
            self.logs[place, *sent] = math.log(weight) - self.nothing if sent else 0.0
        return self.logs[place, *sent]

    def weights(self, sent: tuple[int, ...]) -> Any:
        total = np.zeros(len(self.rows))
        bits = 1 << np.arange(len(sent))
        for place in range(self.places):
            mine = (self.rows == place) @ bits
            table = [
                self.log(place, tuple(sorted(output for at, output in enumerate(sent) if subset >> at & 1)))
                for subset in range(1 << len(sent))
            ]
            total += np.array(table)[mine]
        return total

    def ratio(self, sent: tuple[int, ...], above: int, below: int) -> Fraction:
        """Exactly, between two rows of values."""
        return Fraction(*(self.stream.weight(self.rows[row].tolist(), sent) for row in (above, below)))


@pytest.mark.slow
@pytest.mark.parametrize(("stream", "places"), [(KEPT, 4), (BITS, 3)], ids=["KeptAnswer", "KeptBits"])
@pytest.mark.parametrize("width", range(1, 8))
def test_every_window_of_eight_periods_loses_what_brute_force_finds(stream: Any, places: int, width: int) -> None:
    """All rows of values; the window first, and reports in order inside and outside of it: all others have the same weights."""
    everyone, worst, at = Everyone(stream, places, NOTHING[stream]), 0.0, None
    for inside in combinations_with_replacement(range(4), width):
        if stream is KEPT and not falling(inside):
            continue
        for outside in combinations_with_replacement(range(4), 8 - width):
            logs = everyone.weights(inside + outside).reshape(places**width, -1)
            spread = logs.max(0) - logs.min(0)
            if spread.max() > worst:
                other = int(spread.argmax())
                people = (int(which(logs[:, other])) * logs.shape[1] + other for which in (np.argmax, np.argmin))
                worst, at = float(spread.max()), (inside + outside, *people)
    loss = stream.window(width)
    assert at is not None
    assert (loss.ratio, loss.exact) == (everyone.ratio(*at), True)
    assert loss.level == pytest.approx(worst, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stream", "places", "changes"), [(KEPT, 4, 1), (KEPT, 4, 2), (KEPT, 4, 5), (BITS, 3, 1), (BITS, 3, 3)], ids=str
)
def test_few_changes_in_eight_periods_lose_what_brute_force_finds(stream: Any, places: int, changes: int) -> None:
    """All rows of values that change so seldom; reports in all orders, of kept answers once for all names and both directions."""
    everyone, worst, at = Everyone(stream, places, NOTHING[stream]), 0.0, None
    calm = np.flatnonzero((everyone.rows[:, 1:] != everyone.rows[:, :-1]).sum(1) <= changes)
    everyone.rows = everyone.rows[calm]
    for sent in product(range(4), repeat=8):
        if stream is KEPT and not sent == renamed(sent) <= renamed(sent[::-1]):
            continue
        if stream is BITS and list(sent) != sorted(sent):
            continue  # those in order reach the loss of a lifetime, which nobody passes
        logs = everyone.weights(sent)
        if logs.max() - logs.min() > worst:
            worst, at = float(logs.max() - logs.min()), (sent, int(logs.argmax()), int(logs.argmin()))
    loss = stream.changing(changes)
    assert at is not None
    assert (loss.ratio, loss.exact) == (everyone.ratio(*at), True)
    assert loss.level == pytest.approx(worst, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("stream", [KeptAnswer(12, 4, epsilon=1, permanent=2), KeptBits(12, 4, bits=2, epsilon=1, flips="1/5")])
def test_what_is_not_exact_is_a_bound_on_the_safe_side(stream: Any) -> None:
    """Pairs of rows that differ in a window, at random: none passes the bound, which says no more than a lifetime."""
    chance = random.Random(2)
    for width in range(1, 12):
        loss = stream.window(width)
        bound = loss.ratio
        assert bound is not None
        assert bound <= stream.lifetime().ratio
        for _ in range(100):
            values, begin = [chance.randrange(4) for _ in range(12)], chance.randrange(13 - width)
            others = [*values[:begin], *(chance.randrange(4) for _ in range(width)), *values[begin + width :]]
            outputs = [value if chance.random() < 0.8 else chance.randrange(4) for value in values]
            assert stream.weight(values, outputs) <= bound * stream.weight(others, outputs)
