"""Answers among fakes: the exact law, the exact ratio, and what the published level is worth."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.batch import Joined, accumulator_for, accumulator_from_bytes, randomize_many
from deniable.core import (
    Binary,
    Categories,
    Epsilon,
    FakeData,
    Interval,
    RandomSamplingPlusFakeData,
    Record,
    Report,
    Singleton,
    TwoLevel,
    column_ratio,
)
from deniable.core.channels.product import digits
from deniable.core.mechanisms.records.rs_fd import FieldAmongFakes
from deniable.errors import InvalidParameter, Malformed
from deniable.privacy import FixedKeystream, exact_law, goodness_of_fit

SMALL = [
    FakeData([TwoLevel(Singleton(2), 1, 3), TwoLevel(Singleton(3), 1, 2)]),
    FakeData([TwoLevel(Singleton(2), 2, 3), TwoLevel(Singleton(2), 1, 4), TwoLevel(Singleton(3), 1, 2)]),
    FakeData([TwoLevel(Singleton(4), 1, 5)]),
]


@pytest.mark.parametrize("channel", SMALL[:1] + SMALL[2:])
def test_draws_have_exactly_the_law_of_the_weights(channel: FakeData) -> None:
    for index in range(channel.inputs):
        law = exact_law(lambda coins, index=index: channel.draw(index, coins))  # type: ignore[misc]
        assert law == {y: Fraction(channel.weight(index, y), channel.total) for y in range(channel.outputs)}


@pytest.mark.parametrize("channel", SMALL)
def test_the_weights_are_the_written_sum_of_products(channel: FakeData) -> None:
    d = len(channel.parts)
    for x, y in itertools.product(range(channel.inputs), range(channel.outputs)):
        xs, ys = digits(x, channel.sizes), digits(y, channel.sizes)
        chance = Fraction(0)
        for j, part in enumerate(channel.parts):
            fakes = math.prod(Fraction(1, size) for i, size in enumerate(channel.sizes) if i != j)
            chance += Fraction(1, d) * Fraction(part.weight(xs[j], ys[j]), part.total) * fakes
        assert Fraction(channel.weight(x, y), channel.total) == chance
    assert sum(channel.row(0)) == channel.total


@pytest.mark.parametrize("channel", SMALL)
def test_the_ratios_are_those_found_by_trying_everything(channel: FakeData) -> None:
    assert channel.max_ratio() == column_ratio(channel)
    for place in range(len(channel.parts)):
        worst = Fraction(1)
        for x, other in itertools.product(range(channel.inputs), repeat=2):
            pairs = zip(digits(x, channel.sizes), digits(other, channel.sizes), strict=True)
            if [i for i, (a, b) in enumerate(pairs) if a != b] == [place]:
                worst = max([worst, *(Fraction(channel.weight(x, y), channel.weight(other, y)) for y in range(channel.outputs))])
        assert channel.field_ratio(place) == worst


def test_the_published_level_holds_for_one_field_and_not_for_records() -> None:
    record = Record({name: Categories(3) for name in "abcd"})
    made = RandomSamplingPlusFakeData.for_one_field(record, 1)
    assert float(made.privacy) == pytest.approx(math.log(4 * (math.e - 1) + 1), abs=1e-9)
    channel = made.channel
    assert isinstance(channel, FakeData)
    assert all(Epsilon(1).allows(channel.field_ratio(place)) for place in range(4))
    # Rounded down, and by no more than the grain of the level and of the weights.
    assert all(1 - made.field_level(name) < 1e-8 for name in record.fields)
    # What the paper calls epsilon-LDP: records that differ everywhere are told apart at more than twice that.
    assert not Epsilon(1).allows(channel.max_ratio())
    assert made.certificate().holds
    assert made.certificate().epsilon_exact > 2.06


def test_fields_of_different_sizes_keep_the_level_of_one_field() -> None:
    made = RandomSamplingPlusFakeData.for_one_field(Record({"a": Binary(), "b": Categories(50), "c": Categories(5)}), 0.5)
    levels = [made.field_level(name) for name in "abc"]
    assert max(levels) <= 0.5
    assert max(levels) > 0.5 - 1e-8


def test_batch_draws_follow_the_exact_law() -> None:
    # Chi-square tails below 1e-9 for 3 inputs; false alarms below 1e-6.
    mechanism = RandomSamplingPlusFakeData(domain=Record({"a": Binary(), "b": Categories(3), "c": Binary()}), epsilon=1)
    channel = mechanism.channel
    for index in (0, 5, 11):
        people = [mechanism.domain.decode(index)] * 40_000
        seen = np.bincount(randomize_many(mechanism, people, FixedKeystream(index)).outputs.astype(int), minlength=12)
        assert goodness_of_fit(seen.tolist(), list(channel.row(index))) > 1e-9


def test_a_field_among_fakes_is_the_margin_of_the_whole() -> None:
    mechanism = RandomSamplingPlusFakeData(domain=Record({"a": Binary(), "b": Categories(3)}), epsilon=1)
    channel, margin = mechanism.channel, mechanism.parts["b"].channel
    for x, y in itertools.product(range(3), repeat=2):
        whole = sum(channel.weight(x, output) for output in range(6) if output % 3 == y)
        assert Fraction(whole, channel.total) == Fraction(margin.weight(x, y), margin.total)
    assert isinstance(mechanism.parts["a"], FieldAmongFakes)


def test_sums_are_those_of_every_field() -> None:
    mechanism = RandomSamplingPlusFakeData(domain=Record({"a": Binary(), "b": Categories(3)}), epsilon=1)
    reports = randomize_many(mechanism, {"a": np.ones(500, int), "b": np.full(500, 2)}, FixedKeystream(1))
    sums = accumulator_for(mechanism).add(reports)
    assert isinstance(sums, Joined)
    ints = reports.ints()
    assert sums.parts["a"].sums.tolist() == [sum(y // 3 == v for y in ints) for v in range(2)]
    assert sums.parts["b"].sums.tolist() == [sum(y % 3 == v for y in ints) for v in range(3)]
    assert accumulator_from_bytes(mechanism, sums.to_bytes()) == sums
    with pytest.raises(Malformed):
        accumulator_for(mechanism).add(Report(mechanism.fingerprint, 6))


def test_records_wider_than_a_machine_word_work() -> None:
    record = Record({f"f{j}": Categories(100) for j in range(11)})
    mechanism = RandomSamplingPlusFakeData(domain=record, epsilon=2)
    assert mechanism.certificate().holds
    reports = randomize_many(mechanism, {name: np.full(50, 7) for name in record.fields}, FixedKeystream(2))
    sums = accumulator_for(mechanism).add(reports)
    assert isinstance(sums, Joined)
    assert all(int(part.sums.sum()) == 50 for part in sums.parts.values())
    assert [mechanism.decode(y)["f10"] for y in reports.ints()] == [y % 100 for y in reports.ints()]


def test_only_lists_of_values_have_fakes() -> None:
    with pytest.raises(InvalidParameter, match="age"):
        RandomSamplingPlusFakeData(domain=Record({"age": Interval()}), epsilon=1)
    with pytest.raises(InvalidParameter, match="one of the fields"):
        RandomSamplingPlusFakeData(epsilon=1).field_level("shoe")
