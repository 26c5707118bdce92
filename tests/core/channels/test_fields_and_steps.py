"""Channels that read one digit, hide it among fakes, or go step by step; and pairs of users."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.channels.small import SEEN_FROM

from deniable.core import (
    Channel,
    FakeData,
    Field,
    Identity,
    Pair,
    Product,
    Profile,
    Singleton,
    SketchSigns,
    Steps,
    Table,
    TwoLevel,
    correlation_floor,
    undigits,
)
from deniable.core.channels.fake_data import one_of
from deniable.core.channels.hashing import mix
from deniable.core.channels.pair import pair_chances
from deniable.core.channels.product import digits
from deniable.core.channels.subsets import unrank
from deniable.core.channels.wide_hashing import wide_mix
from deniable.privacy import FixedCoins

FAIR, SKEWED = TwoLevel(Singleton(3), 1, 2), TwoLevel(Singleton(2), 2, 7)
MIXED = [0x0, 0x6D523710, 0x688990C0, 0x4A2BD0AF, 0x20B48E11]
WIDE = [0x0, 0x64EC8DA1, 0x1E598552, 0xC678C635]
KEYS = (1111065976, 1558389170, 381979991, 3107396313)
PLACES = [(547, 1), (655, 1), (575, 0), (624, 0)]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.data())
def test_digits_are_those_of_a_number_with_the_first_one_largest(radices: list[int], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, math.prod(radices) - 1))
    found = digits(number, radices)
    assert all(0 <= digit < radix for digit, radix in zip(found, radices, strict=True))
    assert undigits(found, radices) == number
    assert number == sum(digit * math.prod(radices[place + 1 :]) for place, digit in enumerate(found))


def test_a_field_reads_its_own_digit() -> None:
    sizes = (2, 3, 4)
    for place, size in enumerate(sizes):
        field = Field(sizes, place, Identity(size))
        assert [field.read(index) for index in range(24)] == [tuple_[place] for tuple_ in product(*map(range, sizes))]
        assert (field.inputs, field.outputs, field.total) == (24, size, 1)
        assert field.kept == (((12, 4, 1)[place], size),)


def test_a_public_coin_gives_every_part_its_own_digit() -> None:
    mixture = one_of([FAIR, SKEWED])
    assert mixture.inputs == 6
    assert mixture.shares == (1, 1)
    for index, (first, second) in enumerate(product(range(3), range(2))):
        scale = mixture.common
        expected = [w * scale // FAIR.total for w in FAIR.row(first)] + [w * scale // SKEWED.total for w in SKEWED.row(second)]
        assert list(mixture.row(index)) == expected


@pytest.mark.parametrize("parts", [[FAIR, SKEWED], [SKEWED, SKEWED, FAIR], [FAIR]])
def test_fake_data_has_the_written_probability(parts: list[TwoLevel]) -> None:
    channel = FakeData(parts)
    sizes = [part.inputs for part in parts]
    for index, x in enumerate(product(*map(range, sizes))):
        for output, y in enumerate(product(*map(range, sizes))):
            chance = sum(
                Fraction(part.weight(x[j], y[j]), part.total) / math.prod(sizes[:j] + sizes[j + 1 :])
                for j, part in enumerate(parts)
            )
            assert Fraction(channel.weight(index, output), channel.total) == chance / len(parts)


@pytest.mark.parametrize("parts", [[FAIR, SKEWED], [SKEWED, SKEWED, FAIR], [FAIR]])
def test_the_ratio_of_one_field_is_the_worst_over_inputs_that_differ_there(parts: list[TwoLevel]) -> None:
    channel = FakeData(parts)
    sizes = [part.inputs for part in parts]
    everything = list(enumerate(product(*map(range, sizes))))
    for place in range(len(parts)):
        worst = max(
            Fraction(channel.weight(i, output), channel.weight(k, output))
            for (i, x), (k, z) in product(everything, repeat=2)
            if x[:place] + x[place + 1 :] == z[:place] + z[place + 1 :]
            for output in range(channel.outputs)
        )
        assert channel.field_ratio(place) == worst


def test_independent_steps_are_a_product() -> None:
    table = Table([[3, 1, 0], [1, 2, 1]])
    steps, together = Steps(table, 2), Product([table, table])
    assert (steps.inputs, steps.outputs, steps.total) == (together.inputs, together.outputs, together.total)
    for index in range(4):
        assert list(steps.row(index)) == list(together.row(index))
    assert steps.max_ratio() is None
    assert Steps(FAIR, 3).max_ratio() == 8
    assert table.after(1) is table


def test_a_step_is_seen_from_the_report_before_it() -> None:
    channel = SEEN_FROM[0]
    steps = Steps(channel, 2)
    assert (steps.inputs, steps.outputs, steps.total) == (channel.inputs**2, channel.outputs**2, channel.total**2)
    for first, second, to, then in product((0, 4), (1, 5), (0, 9, 31), (3, 20)):
        expected = channel.weight(first, to) * channel.after(to).weight(second, then)
        assert steps.weight(first * channel.inputs + second, to * channel.outputs + then) == expected
        assert steps.split_output(to * channel.outputs + then) == [to, then]
    long = Steps(channel, 4)
    assert long.inputs * long.outputs > 1 << 16
    assert long.max_ratio() == channel.ratio_bound() ** 4


def test_every_draw_is_made_from_the_report_just_before_it() -> None:
    channel = SEEN_FROM[0]
    steps = Steps(channel, 4)
    for seed in range(40):
        walked, coins, reports = channel, FixedCoins(seed), []
        for place in (0, 4, 2, 5):
            reports.append(walked.draw(place, coins))
            walked = walked.after(reports[-1])
        index = undigits([0, 4, 2, 5], [channel.inputs] * 4)
        assert steps.split_output(steps.draw(index, FixedCoins(seed))) == reports


# --- pairs of users


@pytest.mark.parametrize(
    ("p", "rho"), [("4/5", "-1/4"), ("4/5", "3/10"), ("7/10", 0), ("1/3", "-1/2"), ("3/5", 1), ("1/5", "-1/4")]
)
def test_pairs_have_exactly_their_probability_and_correlation(p: str, rho: str | int) -> None:
    pair, truth, wanted = Pair.exactly(p, rho), Fraction(p), Fraction(rho)
    assert (pair.truth, pair.lie, pair.correlation) == (truth, 1 - truth, wanted)
    chances = pair_chances(p, rho)
    assert [Fraction(w, pair.total) for w in (pair.both, pair.one, pair.neither)] == list(chances)
    assert chances[0] + 2 * chances[1] + chances[2] == 1
    assert math.gcd(pair.both, pair.one, pair.neither) == 1
    assert correlation_floor(truth) <= wanted


@pytest.mark.parametrize(
    ("p", "rho"), [("4/5", "-1/7"), ("2/3", "1/7"), ("1/3", "-1/7"), ("3/7", "5/9"), ("4/5", "-1/4"), ("2/3", 0)]
)
def test_pairs_rounded_to_a_word_never_gain_truth_nor_correlation(p: str, rho: str | int) -> None:
    pair = Pair.rounded(p, rho)
    assert pair.total == 1 << 64
    assert 0 <= Fraction(p) - pair.truth < Fraction(1, 1 << 64)
    assert abs(pair.correlation - Fraction(rho)) < Fraction(1, 1 << 60)
    # The share of liars' partners that lie too moves toward that of strangers.
    exact = pair_chances(p, rho)
    moved = Fraction(pair.neither, pair.lying) - exact[2] / (exact[1] + exact[2])
    assert moved >= 0 if Fraction(rho) < 0 else moved <= 0


def test_strangers_have_no_correlation() -> None:
    pair = Pair.independent(3, 1)
    assert (pair.both, pair.one, pair.neither) == (9, 3, 1)
    assert pair.correlation == 0
    assert (pair.truthful, pair.lying, pair.total) == (12, 4, 16)


def test_what_the_partner_did_chooses_the_row() -> None:
    pair = Pair(5, 2, 1)
    assert pair.given(True) == (5, 2)
    assert pair.given(False) == (2, 1)
    assert pair.thresholds == (5, 7, 9)


# --- numbers that are part of the format


def test_subsets_are_ranked_as_their_numbers_grow() -> None:
    for size in range(1, 8):
        for chosen in range(size + 1):
            listed = [number for number in range(1 << size) if number.bit_count() == chosen]
            assert [unrank(rank, size, chosen) for rank in range(math.comb(size, chosen))] == listed


def test_hashes_are_those_of_the_format() -> None:
    pairs = [(0, 0), (0, 1), (1, 0), (0xFFFFFFFF, 0xFFFFFFFF), (123456789, 42)]
    assert [mix(seed, value) for seed, value in pairs] == MIXED
    words = [(0, 0), (1, 1 << 32), (0xFFFFFFFF, (1 << 64) - 1), (7, 0x0123456789ABCDEF)]
    assert [wide_mix(key, word) for key, word in words] == WIDE
    sketch = SketchSigns(64, 40, 2, 10, 99)
    assert sketch.keys == KEYS
    assert [sketch.place(row, prefix) for row in (0, 3) for prefix in (0, 12345)] == PLACES


def test_a_profile_that_is_not_log_concave_says_so() -> None:
    assert Profile([1, 2, 4, 2, 1], -2, 3).log_concave()
    assert Profile([1, 2, 4], -1, 2).log_concave()
    assert not Profile([1, 2, 5], -1, 2).log_concave()
    assert not Profile([4, 1, 4], -1, 2).log_concave()


def test_product_ratios_multiply_unless_one_is_unbounded() -> None:
    bounded: list[Channel] = [FAIR, SKEWED]
    assert Product(bounded).max_ratio() == 2 * Fraction(7, 2)
    assert Product([*bounded, Identity(2)]).max_ratio() is None
    assert Product(bounded).split_input(5) == [2, 1]
    assert Product(bounded).join_outputs([2, 1]) == 5
