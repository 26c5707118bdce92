"""Streams: the device's law is exactly the weights, and every loss is what brute force over all short streams finds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest

from deniable.core import (
    Categories,
    Coins,
    FreshReports,
    KeptAnswer,
    KeptBits,
    Mechanism,
    RandomizedResponse,
    RandomPeriod,
    Singleton,
    Stream,
    TakingTurns,
    TreeOfChanges,
    TwoLevel,
    WhenAsked,
    make_mechanism,
)
from deniable.errors import InvalidParameter
from deniable.privacy import exact_law

COIN = RandomizedResponse(epsilon=1)
THREE: Mechanism = make_mechanism("k-rr", domain=Categories(3), epsilon=1)
FOUR: Mechanism = make_mechanism("k-rr", domain=Categories(4), epsilon=1)


@dataclass(frozen=True)
class SmallCoin(RandomizedResponse):
    """Weights that are small enough to try every answer of the coins."""

    def build(self) -> TwoLevel:
        return TwoLevel(Singleton(2), 1, 2)


@dataclass(frozen=True)
class SmallKept(KeptAnswer):
    @property
    def first(self) -> TwoLevel:
        return TwoLevel(Singleton(self.size), 1, 3)

    @property
    def second(self) -> TwoLevel:
        return TwoLevel(Singleton(self.size), 1, 2)


@dataclass(frozen=True)
class SmallTree(TreeOfChanges):
    @property
    def high(self) -> int:
        return 3

    @property
    def low(self) -> int:
        return 1


@dataclass(frozen=True)
class SmallBits(KeptBits):
    @property
    def high(self) -> int:
        return 2

    @property
    def low(self) -> int:
        return 1


@dataclass(frozen=True)
class LeveledCoin(RandomizedResponse):
    """Small weights at every level: 1 to 1 + 2 epsilon."""

    def build(self) -> TwoLevel:
        return TwoLevel(Singleton(2), 1, 1 + int(2 * self.privacy.exact))


SMALL: list[Stream] = [
    FreshReports(3, SmallCoin(epsilon=1)),
    TakingTurns(3, SmallCoin(epsilon=1), turns=2),
    RandomPeriod(3, SmallCoin(epsilon=1)),
    SmallKept(3, 2, epsilon="0.5", permanent=2),
    SmallKept(2, 3, epsilon="0.5", permanent=2),
    SmallTree(4, changes=2, epsilon=2),
    SmallTree(2, changes=1, epsilon=2),
    SmallTree(2, changes=2, epsilon=2),
    SmallTree(3, changes=2, epsilon=2),
    SmallBits(3, 2, bits=1, epsilon=2),
    SmallBits(2, 3, bits=2, epsilon=2),
    SmallBits(3, 2, bits=1, epsilon=2, flips="1/3"),
    SmallBits(2, 3, bits=1, epsilon=2, flips="1/4"),
    WhenAsked(4, LeveledCoin(epsilon=1), window=2, parts=2, asked=(1, 1, 2, 0)),
    WhenAsked(4, SmallCoin(epsilon=1), window=3, asked=(1, 1, 0)),
]
STREAMS: list[Stream] = [
    FreshReports(4, COIN),
    FreshReports(3, FOUR),
    TakingTurns(5, COIN, turns=2),
    TakingTurns(4, THREE, turns=3),
    RandomPeriod(5, COIN),
    RandomPeriod(3, FOUR),
    KeptAnswer(4, 2, epsilon="0.5", permanent=1),
    KeptAnswer(3, 3, epsilon=1, permanent=2),
    TreeOfChanges(4, changes=2, epsilon=1),
    TreeOfChanges(4, changes=1, epsilon=1),
    TreeOfChanges(4, changes=4, epsilon=1),
    KeptBits(3, 2, bits=1, epsilon=1),
    KeptBits(2, 3, bits=2, epsilon=1),
    KeptBits(3, 2, bits=1, epsilon=1, flips="1/10"),
    KeptBits(2, 3, bits=2, epsilon=1, flips="1/5"),
    WhenAsked(5, COIN, window=3, parts=6, asked=(1, 1, 4, 2)),
    WhenAsked(3, FOUR, window=2),
]


def name_of(stream: Any) -> str:
    return f"{type(stream).__name__}-{stream.periods}-{stream.values}"


def walk(stream: Stream, values: tuple[int, ...], coins: Coins) -> tuple[Any, ...]:
    """What a device sends in all periods."""
    memory = stream.start(coins)
    return tuple(stream.report(memory, period, value, coins) for period, value in enumerate(values))


@pytest.mark.parametrize("stream", SMALL, ids=name_of)
def test_a_device_has_exactly_the_law_of_the_weights(stream: Stream) -> None:
    for values in product(range(stream.values), repeat=stream.periods):
        law = exact_law(lambda coins, values=values: walk(stream, values, coins))  # type: ignore[misc]
        weights = {outputs: stream.weight(values, outputs) for outputs in stream.rows()}
        assert law == {outputs: Fraction(weight, stream.total) for outputs, weight in weights.items() if weight}


def worst(stream: Stream, pairs: Iterable[tuple[Any, ...]]) -> Fraction | None:
    """Brute force: every pair of rows of values that is allowed, every row of reports."""
    rows = list(stream.rows())
    laws = {values: [stream.weight(values, row) for row in rows] for values in product(range(stream.values), repeat=stream.periods)}
    largest = Fraction(1)
    for first, second in pairs:
        for above, below in zip(laws[first], laws[second], strict=True):
            if above:
                if not below:
                    return None
                if above * largest.denominator > below * largest.numerator:
                    largest = Fraction(above, below)
    return largest


def every(stream: Stream) -> list[tuple[int, ...]]:
    return list(product(range(stream.values), repeat=stream.periods))


@pytest.mark.parametrize("stream", STREAMS, ids=name_of)
def test_the_loss_of_a_lifetime_is_what_brute_force_finds(stream: Stream) -> None:
    loss = stream.lifetime()
    assert loss.exact
    assert loss.ratio == worst(stream, product(every(stream), repeat=2))


@pytest.mark.parametrize("stream", STREAMS, ids=name_of)
def test_the_loss_of_every_window_is_what_brute_force_finds(stream: Stream) -> None:
    for width in range(1, stream.periods):

        def near(first: Any, second: Any, *, width: int = width) -> bool:
            differ = [period for period in range(stream.periods) if first[period] != second[period]]
            return not differ or differ[-1] - differ[0] < width

        pairs = (pair for pair in product(every(stream), repeat=2) if near(*pair))
        assert stream.window(width).ratio == worst(stream, pairs)


@pytest.mark.parametrize("stream", STREAMS, ids=name_of)
def test_the_loss_of_people_who_change_seldom_is_what_brute_force_finds(stream: Stream) -> None:
    for changes in range(stream.periods - 1):
        calm = [row for row in every(stream) if sum(a != b for a, b in pairwise(row)) <= changes]
        assert stream.changing(changes).ratio == worst(stream, product(calm, repeat=2))


LONGER: list[Any] = [
    FreshReports(8, COIN),
    FreshReports(4, FOUR),
    TakingTurns(8, COIN, turns=3),
    TakingTurns(4, FOUR, turns=2),
    RandomPeriod(8, COIN),
    RandomPeriod(4, FOUR),
    pytest.param(KeptAnswer(8, 2, epsilon="0.5", permanent=1), marks=pytest.mark.heavy),
    pytest.param(KeptAnswer(4, 4, epsilon=1, permanent=2), marks=pytest.mark.heavy),
    KeptAnswer(6, 2, epsilon="0.5", permanent=1),
    KeptAnswer(3, 4, epsilon=1, permanent=2),
    TreeOfChanges(8, changes=2, epsilon=1),
    TreeOfChanges(8, changes=7, epsilon=1),
    TreeOfChanges(6, changes=3, epsilon=1),
    KeptBits(6, 2, bits=1, epsilon=1, flips="1/10"),
    KeptBits(8, 2, bits=1, epsilon=1),
    KeptBits(2, 4, bits=2, epsilon=1, flips="1/5"),
    WhenAsked(8, COIN, window=4, parts=8, asked=(1, 5, 1, 2)),
    WhenAsked(4, FOUR, window=2, parts=4, asked=(1, 3)),
]


def ratio_within(groups: Iterable[list[list[int]]]) -> Fraction | None:
    """The largest ratio of two laws of one group, by the largest and the smallest weight of every row of reports."""
    largest = Fraction(1)
    for laws in groups:
        for weights in zip(*laws, strict=True):
            above, below = max(weights), min(weights)
            if above and not below:
                return None
            if above and above * largest.denominator > below * largest.numerator:
                largest = Fraction(above, below)
    return largest


@pytest.mark.slow
@pytest.mark.parametrize("stream", LONGER, ids=name_of)
def test_eight_periods_or_four_values_lose_what_brute_force_finds(stream: Stream) -> None:
    """People who may differ form a group: everyone, those alike outside a window, or those who change seldom."""
    reports = list(stream.rows())
    laws = {values: [stream.weight(values, row) for row in reports] for values in every(stream)}
    assert stream.lifetime() == (ratio_within([list(laws.values())]), True)
    for width in range(1, stream.periods):
        alike: dict[Any, list[list[int]]] = {}
        for begin in range(stream.periods - width + 1):
            for values, law in laws.items():
                alike.setdefault((begin, values[:begin], values[begin + width :]), []).append(law)
        assert stream.window(width) == (ratio_within(alike.values()), True)
    for changes in range(stream.periods - 1):
        calm = [law for values, law in laws.items() if sum(a != b for a, b in pairwise(values)) <= changes]
        assert stream.changing(changes) == (ratio_within([calm]), True)


def ways_of_asking(parts: int, periods: int) -> Any:
    return product(range(parts + 1), repeat=periods)


def test_no_way_of_asking_costs_more_than_a_window_promises() -> None:
    """Every way of asking for 0 to 3 of three parts in four periods; the worst of them reaches the promise."""
    mechanism, reached = RandomizedResponse(epsilon=3), Fraction(1)
    promised = WhenAsked(4, mechanism, window=2, parts=3).promised(2).ratio
    for asked in ways_of_asking(3, 4):
        loss = WhenAsked(4, mechanism, window=2, parts=3, asked=asked).window(2).ratio
        assert loss is not None
        reached = max(reached, loss)
    assert reached == promised
    assert WhenAsked(4, mechanism, window=2, parts=3).promised(2).level <= 3


def test_asking_by_the_reports_costs_no_more_than_a_window_promises() -> None:
    """A collector that asks for two parts after a 1, and for one after a 0: the law of whole rows of reports, by all coins."""
    stream = WhenAsked(3, LeveledCoin(epsilon=1), window=3, parts=2)

    def walk_asked(values: tuple[int, ...], coins: Coins) -> tuple[Any, ...]:
        memory = stream.start(coins)
        row: list[Any] = []
        for period, value in enumerate(values):
            memory["asked"] = 1 if not row or not row[-1] else 2
            row.append(stream.report(memory, period, value, coins))
        return tuple(row)

    laws = {values: exact_law(lambda coins, v=values: walk_asked(v, coins)) for values in product(range(2), repeat=3)}  # type: ignore[misc]
    worst_ratio = max(one[row] / other[row] for one in laws.values() for other in laws.values() for row in one)
    promised = stream.promised(3).ratio
    assert promised is not None
    assert 1 < worst_ratio <= promised


def test_d_bit_flips_have_the_published_law() -> None:
    """Half of epsilon for each bit, all buckets alike; memoization shows a change, which flips hide for a while."""
    year = KeptBits(365, 32, bits=4, epsilon=2)
    assert year.high / (year.high + year.low) == pytest.approx(2.718281828 / 3.718281828)
    assert year.changing(0).level == pytest.approx(2, abs=1e-6)
    assert year.changing(0).exact
    assert year.lifetime().ratio is None
    assert year.same_times(100).level == pytest.approx(2 * 5, abs=1e-6)
    hidden = KeptBits(7, 32, bits=4, epsilon=2, flips="1/4")
    assert hidden.reports(1).level < hidden.reports(7).level < 2 < hidden.lifetime().level
    assert KeptBits(365, 4, bits=4, epsilon=2, flips="2/5").tracking() < 0.05 < KeptBits(365, 4, bits=4, epsilon=2).tracking()


def test_the_bounds_of_long_streams_hold_for_short_ones() -> None:
    for stream in (KeptAnswer(4, 2, epsilon="0.5", permanent=1), KeptAnswer(3, 3, epsilon=1, permanent=2)):
        for width in range(1, stream.periods + 1):
            exact, bound = stream.window(width).ratio, stream.fresh(width).ratio
            assert exact is not None
            assert bound is not None
            assert exact <= bound


def times_of(row: tuple[int, ...]) -> tuple[int, ...]:
    """Which periods have the same value: numbers in the order of their first use."""
    first: dict[int, int] = {}
    return tuple(first.setdefault(value, len(first)) for value in row)


def test_a_kept_answer_costs_the_permanent_level_for_every_value_when_times_are_known() -> None:
    for stream in (KeptAnswer(4, 2, epsilon="0.5", permanent=1), KeptAnswer(3, 3, epsilon=1, permanent=2)):
        rows = every(stream)
        for changes in range(stream.periods):
            calm = [row for row in rows if sum(a != b for a, b in pairwise(row)) <= changes]
            exact = worst(stream, (pair for pair in product(calm, repeat=2) if times_of(pair[0]) == times_of(pair[1])))
            bound = stream.same_times(changes).ratio
            assert exact is not None
            assert bound is not None
            assert exact <= bound


def test_a_kept_answer_does_not_hide_when_somebody_changed() -> None:
    """Four weeks are enough to pass the permanent level of both values: a budget of values alone would promise too much."""
    stream = KeptAnswer(4, 2, epsilon="0.5", permanent=1)
    loss, promised = stream.lifetime().ratio, stream.same_times(3).ratio
    assert loss is not None
    assert promised is not None
    assert loss > promised


def test_long_streams_say_whether_their_loss_is_exact() -> None:
    long = KeptAnswer(365, 10, epsilon=1, permanent=2)
    assert long.changing(0).exact
    assert long.changing(0).level < 2 < long.same_times(1).level <= 4 < long.changing(1).level
    assert not long.lifetime().exact
    assert FreshReports(365, COIN).lifetime().level == pytest.approx(365, rel=1e-6)
    assert TakingTurns(365, COIN, turns=30).window(30).level == pytest.approx(1, rel=1e-6)
    assert TreeOfChanges(512, changes=3, epsilon=1).lifetime().level <= 1


@pytest.mark.parametrize("stream", SMALL, ids=name_of)
def test_tracking_is_the_distance_of_two_reports_of_one_person_from_those_of_two(stream: Stream) -> None:
    """For people who keep their value, of two periods in which both are heard; brute force over the exact laws."""
    if isinstance(stream, RandomPeriod | TakingTurns):
        assert stream.tracking() == 0
        return
    furthest = Fraction(0)
    for value in range(stream.values if not isinstance(stream, TreeOfChanges) else 1):
        joint: dict[Any, Any] = {}
        for outputs in stream.rows():
            chance = Fraction(stream.weight((value,) * stream.periods, outputs), stream.total)
            joint[outputs[0], outputs[1]] = joint.get((outputs[0], outputs[1]), Fraction(0)) + chance
        heard = {pair: chance for pair, chance in joint.items() if None not in pair}
        both: Any = sum(heard.values())
        first: dict[Any, Any] = {y: sum(c for (a, _), c in heard.items() if a == y) / both for y, _ in heard}
        second: dict[Any, Any] = {y: sum(c for (_, b), c in heard.items() if b == y) / both for _, y in heard}
        gaps: list[Fraction] = [abs(heard.get((a, b), Fraction(0)) / both - first[a] * second[b]) for a in first for b in second]
        furthest = max(furthest, sum(gaps, Fraction(0)) / 2)
    assert stream.tracking() == furthest


@pytest.mark.parametrize(
    "stream",
    [
        SmallKept(3, 2, epsilon="0.5", permanent=2),
        SmallBits(3, 2, bits=1, epsilon=2, flips="1/3"),
        FreshReports(3, SmallCoin(epsilon=1)),
    ],
    ids=name_of,
)
def test_many_reports_are_linked_no_better_than_the_bound(stream: Any) -> None:
    """Three reports of one person against those of three, by brute force over the exact laws."""
    law = {row: Fraction(stream.weight((0, 0, 0), row), stream.total) for row in stream.rows()}
    single: dict[Any, Fraction] = {}
    for row, chance in law.items():
        single[row[0]] = single.get(row[0], Fraction(0)) + chance
    apart = {row: single[row[0]] * single[row[1]] * single[row[2]] for row in product(single, repeat=3)}
    distance = sum((abs(law.get(row, Fraction(0)) - chance) for row, chance in apart.items()), Fraction(0)) / 2
    assert stream.tracking() <= distance <= stream.tracking_bound(3) <= 1
    assert stream.tracking() <= stream.tracking_bound(2)
    assert (distance == 0) == (stream.tracking_bound(3) == 0)


def test_more_fresh_noise_makes_people_harder_to_follow() -> None:
    loud, quiet = (KeptAnswer(52, 4, epsilon=epsilon, permanent=3).tracking() for epsilon in (2, "0.5"))
    assert 0 < quiet < loud < 1


@pytest.mark.parametrize(
    "build",
    [
        lambda: FreshReports(0, COIN),
        lambda: TakingTurns(3, COIN, turns=4),
        lambda: TakingTurns(3, COIN, turns=True),
        lambda: KeptAnswer(3, 1, epsilon=1, permanent=2),
        lambda: KeptAnswer(3, 4, epsilon=2, permanent=1),
        lambda: KeptAnswer(3, 4, epsilon="0.000000001", permanent=10),
        lambda: TreeOfChanges(6, changes=7, epsilon=1),
        lambda: TreeOfChanges(4, changes=5, epsilon=1),
        lambda: RandomPeriod(3, COIN).check(3, 0),
        lambda: KeptBits(3, 4, bits=5, epsilon=1),
        lambda: KeptBits(3, 4, bits=1, epsilon=1, flips="1/2"),
        lambda: WhenAsked(3, COIN, window=4),
        lambda: WhenAsked(3, COIN, window=2, parts=2, asked=(3,)),
        lambda: WhenAsked(3, COIN, window=2).grant({"asked": 2, "given": []}, 0),
    ],
)
def test_impossible_streams_are_refused(build: Any) -> None:
    with pytest.raises(InvalidParameter):
        build()


# --- planted faults


class ForgetsAtRestart(SmallKept):
    """The memo is lost between periods, and drawn again."""

    def report(self, memory: dict[str, Any], period: int, value: int, coins: Coins) -> int:
        return super().report(self.start(coins), period, value, coins)


class CountsAChangeTwice(SmallTree):
    """The sign of a change is not forgotten after it was told, and told once more."""

    def report(self, memory: dict[str, Any], period: int, value: int, coins: Coins) -> Any:
        seen = memory["seen"]
        output = super().report(memory, period, value, coins)
        if memory["seen"] > seen == memory["number"]:
            memory["sign"] = 1 if value else -1
        return output


@pytest.mark.parametrize(
    ("planted", "values"),
    [(ForgetsAtRestart(3, 2, epsilon="0.5", permanent=2), (0, 0, 0)), (CountsAChangeTwice(4, changes=2, epsilon=2), (0, 1, 1, 0))],
)
def test_a_device_that_forgets_or_counts_twice_is_caught(planted: Stream, values: tuple[int, ...]) -> None:
    law = exact_law(lambda coins: walk(planted, values, coins))
    promised = {row: Fraction(planted.weight(values, row), planted.total) for row in planted.rows()}
    assert law != {row: chance for row, chance in promised.items() if chance}
