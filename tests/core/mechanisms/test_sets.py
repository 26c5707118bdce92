"""Sets of items and keys with values: the published levels and errors, known values, and planted faults."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from deniable.batch import Reports, draw_many, encode_many
from deniable.core import (
    Hitting,
    Interval,
    ItemSet,
    KeyValue,
    Mechanism,
    Padding,
    PickedItem,
    SignedBits,
    Singleton,
    TwoLevel,
    column_ratio,
    make_mechanism,
    mechanism_from_recipe,
)
from deniable.errors import InvalidDomain, InvalidParameter, Malformed, OutOfDomain
from deniable.estimators import item_noise
from deniable.privacy import FixedKeystream, verify

SETS = ["padding-sampling", "padding-oue", "priv-set", "set-selection"]
MAPS = ["pckv-grr", "pckv-ue"]


@pytest.mark.parametrize(("items", "most"), [(2, 1), (5, 2), (6, 6), (9, 4)])
def test_sets_are_numbered_by_size_and_then_as_binary_numbers(items: int, most: int) -> None:
    domain = ItemSet(items, at_most=most)
    expected = [
        sorted(one) for size in range(most + 1) for one in sorted(combinations(range(items), size), key=lambda one: one[::-1])
    ]
    assert [domain.decode(index) for index in range(domain.size)] == expected
    assert [domain.encode(one[::-1]) for one in expected] == list(range(domain.size))
    padding = Padding(items, most, 1)
    assert padding.inputs == domain.size
    assert [[place for place, _ in padding.held(index) if place < items] for index in range(domain.size)] == expected


def test_maps_are_numbered_alike_by_domain_and_channel() -> None:
    domain = KeyValue(["a", "b", "c"], Interval(0, 4, cells=4), at_most=2)
    padding = Padding(3, 2, 5)
    for index in range(domain.size):
        assert domain.encode(domain.decode(index)) == index
        assert [pair for pair in padding.held(index) if pair[0] < 3] == domain.pairs(index)
    assert padding.inputs == domain.size


@pytest.mark.parametrize("bad", [["bus", "bus"], ["boat"], "bus", {"bus": 1}, None, ["bus", "car", "bike"], [0]])
def test_what_is_no_set_of_items_is_refused_and_not_shown(bad: Any) -> None:
    with pytest.raises(OutOfDomain) as error:
        ItemSet(["bus", "car", "bike"], at_most=2).encode(bad)
    assert "boat" not in str(error.value)


def test_clipping_keeps_the_first_items_and_moves_numbers() -> None:
    assert ItemSet(["bus", "car", "bike"], at_most=2).clip({"bike", "car", "bus"}) == ["bus", "car"]
    assert KeyValue(["a", "b"], Interval(0, 1), at_most=1).clip({"b": 3, "a": -2}) == {"a": 0}


@pytest.mark.parametrize("most", [0, 4, True, 1.0])
def test_a_set_holds_one_item_to_all(most: Any) -> None:
    with pytest.raises(InvalidDomain, match="at_most"):
        ItemSet(3, at_most=most)


@pytest.mark.parametrize("epsilon", ["0.1", 1, 4])
@pytest.mark.parametrize("most", [1, 2, 5])
def test_one_place_is_reported_with_the_odds_of_sampling(most: int, epsilon: Any) -> None:
    mechanism = make_mechanism("padding-sampling", domain=ItemSet(20, at_most=most), epsilon=epsilon)
    inner = mechanism.channel.inner
    odds = math.exp(float(mechanism.privacy))
    assert inner.high / inner.low == pytest.approx(most * (odds - 1) + 1, rel=1e-4 if epsilon == "0.1" else 1e-6)
    assert mechanism.privacy.allows(mechanism.channel.max_ratio())
    assert not mechanism.privacy.allows(Fraction(inner.high + 1 + (most - 1) * inner.low, most * inner.low))


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_key_value_probabilities_are_the_published_ones(epsilon: float) -> None:
    odds, most, keys = math.exp(epsilon), 3, 12
    domain = KeyValue(keys, Interval(-1, 1, cells=8), at_most=most)
    bits = make_mechanism("pckv-ue", domain=domain, epsilon=epsilon).channel.inner
    assert bits.agree / bits.scale == pytest.approx(odds / (2 * (odds + 1)), abs=1e-8)
    assert bits.differ / bits.scale == pytest.approx(1 / (2 * (odds + 1)), abs=1e-8)
    assert 2 * bits.other / bits.scale == pytest.approx(2 / (odds + 3), abs=1e-8)
    single = make_mechanism("pckv-grr", domain=domain, epsilon=epsilon).channel.inner
    places = keys + most
    kept = (most * (odds - 1) + 2) / (most * (odds - 1) + 2 * places)
    right = (most * (odds - 1) + 1) / (most * (odds - 1) + 2)
    assert single.high / single.total == pytest.approx(kept * right, rel=1e-8)
    assert single.low / single.total == pytest.approx(kept * (1 - right), rel=1e-8)


@pytest.mark.parametrize(("first", "second"), [(0.3, 0.9), (0.5, 0.5), (1.2, 0.4), (0.2, 2.0)])
def test_the_joint_level_is_the_published_tighter_composition(first: float, second: float) -> None:
    """max(e2, e1 + ln(2 / (1 + e**-e2))) for any split, not only the best one; the sum e1 + e2 is looser."""
    scale = 1 << 24
    agree = round(scale / 2 * math.exp(second) / (math.exp(second) + 1))
    other = round(scale / (math.exp(first) + 1) / 2)
    channel = PickedItem(2, 2, 3, SignedBits(4, agree=agree, differ=scale // 2 - agree, other=other, scale=scale))
    published = max(second, first + math.log(2 / (1 + math.exp(-second))))
    ratio = channel.max_ratio()
    assert ratio == column_ratio(channel)
    assert ratio is not None
    assert math.log(ratio) == pytest.approx(published, abs=1e-5)
    assert math.log(ratio) <= first + second + 1e-5


@pytest.mark.parametrize("name", [*SETS, *MAPS])
def test_the_independent_verifier_finds_the_same_ratio(name: str) -> None:
    domain = ItemSet(5, at_most=2) if name in SETS else KeyValue(4, Interval(0, 1, cells=4), at_most=2)
    mechanism = make_mechanism(name, domain=domain, epsilon=1)
    verdict = verify({"recipe": mechanism.recipe(), "channel": mechanism.channel.compiled()})
    assert verdict.holds
    assert verdict.ratio == mechanism.channel.max_ratio()


def test_many_places_named_are_better_than_one_and_never_worse() -> None:
    for items, most, epsilon in ((50, 3, 1), (20, 1, 0.5), (10, 2, 2), (8, 5, 1)):
        domain = ItemSet(items, at_most=most)
        single, several = (item_noise(make_mechanism(name, domain=domain, epsilon=epsilon)) for name in SETS[::2])
        assert several <= single * (1 + 1e-6)


def test_places_named_are_chosen_by_the_least_variance() -> None:
    domain, odds = ItemSet(30, at_most=2), math.e

    def variance(chosen: int) -> float:
        channel = TwoLevel(Hitting(30, 2, chosen), 10**6, int(odds * 10**6))
        held, other = channel.naming(1, 1), channel.naming(0, 1)
        assert held is not None
        assert other is not None
        return float(other * (1 - other) / (held - other) ** 2) if held > other else math.inf

    assert make_mechanism("priv-set", domain=domain, epsilon=1).chosen == min(range(1, 31), key=variance)


@pytest.mark.parametrize("channel", [Hitting(3, 2, 2), Hitting(4, 2, 1), Hitting(4, 3, 3)])
def test_naming_says_how_likely_places_are_named(channel: Hitting) -> None:
    law = TwoLevel(channel, 2, 5)
    outputs = [output for output in range(law.outputs) if law.possible(output)]
    for index in range(law.inputs):
        held = {place for place, _ in channel.padding.held(index)}
        for size in (1, 2):
            for places in combinations(range(channel.padding.places), size):
                weight = sum(law.weight(index, output) for output in outputs if all(output >> place & 1 for place in places))
                assert law.naming(len(held & set(places)), size) == Fraction(weight, law.total)


def test_naming_of_a_picked_item_agrees_with_its_weights() -> None:
    for channel in (
        PickedItem(3, 2, 1, TwoLevel(Singleton(5), 1, 4)),
        make_mechanism("padding-oue", domain=ItemSet(3, at_most=2), epsilon=1).channel,
    ):
        for index in range(channel.inputs):
            held = {place for place, _ in channel.padding.held(index)}
            for size in (1, 2):
                for places in combinations(range(5), size):
                    named = [y for y in range(channel.outputs) if all((y >> p & 1) if channel.unary else y == p for p in places)]
                    chance = Fraction(sum(channel.weight(index, output) for output in named), channel.total)
                    assert channel.naming(len(held & set(places)), size) == chance


def test_tables_of_yes_and_no_are_read_as_sets() -> None:
    mechanism = make_mechanism("priv-set", domain=ItemSet(["a", "b", "c"], at_most=2), epsilon=1)
    table = np.array([[True, False, True], [False, False, False]])
    assert encode_many(mechanism, table).tolist() == encode_many(mechanism, [["c", "a"], []]).tolist()
    for wrong in (np.ones((1, 3), np.bool_), np.ones((1, 2), np.bool_), np.ones((1, 3))):
        with pytest.raises(OutOfDomain):
            encode_many(mechanism, wrong)


def test_wide_sets_are_drawn_too() -> None:
    """2**63 sets and more: indices are Python's own integers."""
    for name in ("padding-sampling", "priv-set"):
        mechanism = make_mechanism(name, domain=ItemSet(3000, at_most=8), epsilon=3)
        index = mechanism.encode([5, 2999, 17])
        outputs = Reports(mechanism, draw_many(mechanism.channel, np.array([index] * 40, object), FixedKeystream(1)))
        assert len(outputs.ints()) == 40
        assert all(mechanism.channel.possible(output) for output in outputs.ints())


def test_signs_that_exclude_each_other_are_refused_on_the_way_in() -> None:
    mechanism = make_mechanism("pckv-ue", domain=KeyValue(["a", "b"], Interval(0, 1, cells=2), at_most=1), epsilon=1)
    frame = Reports(mechanism, [0b000001, 0b100110]).to_bytes()
    assert Reports.from_bytes(mechanism, frame).ints() == [0b000001, 0b100110]
    with pytest.raises(Malformed):
        Reports.from_bytes(mechanism, frame[:-2] + bytes([frame[-2] | 0x30, frame[-1]]))


@pytest.mark.parametrize("name", [*SETS, *MAPS])
def test_recipes_from_outside_are_checked(name: str) -> None:
    domain = ItemSet(["a", "b"], at_most=1) if name in SETS else KeyValue(["a", "b"], at_most=1)
    recipe = make_mechanism(name, domain=domain, epsilon=1).recipe()
    keys = recipe["domain"]["keys"] if name in MAPS else recipe["domain"]
    keys["at_most"] = 3
    with pytest.raises(InvalidParameter, match="at_most"):
        mechanism_from_recipe(recipe)


# --- planted faults


@dataclass(frozen=True)
class TellsTheSize(PickedItem):
    """The padding bit: a dummy is reported as it is, so a report of a dummy says that the set was not full."""

    def draw(self, index: int, coins: Any) -> int:
        held = self.padding.held(index)
        place, _ = held[coins.below(self.at_most)]
        return place if place >= self.items else self.inner.draw(place, coins)

    def weight(self, index: int, output: int) -> int:
        every = 0
        for place, _ in self.padding.held(index):
            every += self.inner.total * (place == output) if place >= self.items else self.inner.weight(place, output)
        return every


def test_a_padding_bit_that_tells_the_size_of_a_set_is_caught() -> None:
    sound = make_mechanism("padding-sampling", domain=ItemSet(3, at_most=2), epsilon=1)
    inner = sound.channel
    planted = TellsTheSize(inner.items, inner.at_most, 1, inner.inner)
    ratio = column_ratio(planted)
    assert ratio is None or not sound.privacy.allows(ratio)
    assert sound.privacy.allows(column_ratio(inner))


def test_without_padding_the_size_would_be_told() -> None:
    """One of the items themselves, no dummies: the weight of a place depends on how many there are."""
    low, high = 1, 4

    def weight(members: tuple[int, ...], output: int) -> Fraction:
        return Fraction(sum(high if item == output else low for item in members), len(members) * (high + 2 * low))

    single, full = weight((0,), 0), weight((1, 2), 0)
    # The amplified odds are safe only when every set has as many places.
    assert single / full > Fraction(high + low, 2 * low)


@pytest.mark.parametrize("name", MAPS)
def test_a_weight_above_the_allowed_one_is_caught(name: str) -> None:
    mechanism: Mechanism = make_mechanism(name, domain=KeyValue(3, Interval(0, 1, cells=2), at_most=2), epsilon=1)
    compiled = mechanism.channel.compiled()
    inner = compiled["inner"]
    if name == "pckv-grr":
        inner["high"] += inner["low"] // 1000
    else:
        inner["agree"] += inner["scale"] // 1000
    assert verify({"recipe": mechanism.recipe(), "channel": compiled}).holds is False
