"""Sets of pairs of a key and a number: the law, the places, and planted faults."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest

from deniable.core import Hitting, Interval, KeyValue, TwoLevel, column_ratio, make_mechanism
from deniable.errors import InvalidParameter
from deniable.privacy import verify

DOMAIN = KeyValue(["tea", "milk"], Interval(1, 3, cells=2), at_most=2)


def test_a_report_names_pairs_and_favours_those_that_share_one_with_the_truth() -> None:
    mechanism = make_mechanism("pair-set", domain=DOMAIN, epsilon=1)
    channel = mechanism.channel
    truth = mechanism.encode({"tea": 2, "milk": 3})
    for output in range(channel.outputs):
        if channel.possible(output):
            shared = set(mechanism.decode(output)) & {("tea", 2.0), ("milk", 3.0)}
            assert (channel.weight(truth, output) == channel.high) == bool(shared)


def test_every_map_holds_equally_many_places() -> None:
    sets = Hitting(2, 2, 2, levels=3)
    held = [sets.held(index) for index in range(sets.inputs)]
    assert {len(set(places)) for places in held} == {2}
    assert len({tuple(places) for places in held}) == sets.inputs == DOMAIN.size
    assert {place for places in held for place in places} == set(range(8))


def test_with_one_number_for_every_key_it_is_priv_set() -> None:
    assert Hitting(4, 2, 3, levels=1).compiled() == Hitting(4, 2, 3).compiled()
    assert "levels" not in Hitting(4, 2, 3).compiled()
    assert Hitting(4, 2, 3, levels=5).compiled()["levels"] == 5


def test_the_level_is_exact_and_the_verifier_agrees() -> None:
    mechanism = make_mechanism("pair-set", domain=DOMAIN, epsilon=1)
    ratio = column_ratio(mechanism.channel)
    assert ratio == mechanism.channel.max_ratio() == Fraction(mechanism.channel.high, mechanism.channel.low)
    compiled = {"recipe": mechanism.recipe(), "channel": mechanism.channel.compiled()}
    assert verify(compiled).holds
    compiled["channel"]["chosen"] = 99
    assert verify(compiled).holds is not True


def test_too_many_pairs_are_refused_with_the_remedy() -> None:
    with pytest.raises(InvalidParameter, match="fewer cells, or use pckv-grr"):
        make_mechanism("pair-set", domain=KeyValue(100, at_most=2), epsilon=1)


@pytest.mark.parametrize(("name", "epsilon", "several"), [("pair-set", 1, True), ("pair-set", 2, False), ("pckv-grr", 1, False)])
def test_which_keys_go_together_shows_only_in_reports_of_several_pairs(name: str, epsilon: int, several: bool) -> None:
    """Two populations with the same keys and sizes, paired in another way."""
    mechanism = make_mechanism(name, domain=KeyValue(4, Interval(0, 1, cells=2), at_most=2), epsilon=epsilon)
    channel = mechanism.channel
    first, second, third, fourth = (mechanism.encode({one: 1.0, other: 1.0}) for one, other in ((0, 1), (2, 3), (0, 2), (1, 3)))
    alike = all(
        channel.weight(first, output) + channel.weight(second, output)
        == channel.weight(third, output) + channel.weight(fourth, output)
        for output in range(channel.outputs)
    )
    assert alike is not several


# --- planted fault


@dataclass(frozen=True)
class ForgetsDummies(Hitting):
    """Dummies are not held, so that an empty map favours no report at all."""

    def contains(self, index: int, output: int) -> bool:
        return any(output >> place & 1 for place in self.held(index) if place < self.free)


def test_maps_that_are_not_filled_up_are_caught() -> None:
    sound, planted = (TwoLevel(kind(2, 1, 2, levels=2), 1, 3) for kind in (Hitting, ForgetsDummies))
    sums = [{sum(channel.row(index)) for index in range(channel.inputs)} for channel in (sound, planted)]
    assert sums[0] == {sound.total}
    assert len(sums[1]) == 2
