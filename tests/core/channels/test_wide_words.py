"""Prefixes of wide words, hashed: sets, privacy, and kernels with the scalar law."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from deniable.batch import Keystream, draw_many, sampler_for
from deniable.batch.composed import ScalarSampler
from deniable.core import Hashing, SketchSigns, TwoLevel, WideHashing, column_ratio
from deniable.core.channels.wide_hashing import wide_mix
from deniable.errors import InvalidParameter
from deniable.privacy import FixedCoins, binomial_tail

SMALL = [SketchSigns(4, 2, 1, 2, 0), SketchSigns(3, 3, 0, 3, 7), SketchSigns(5, 1, 2, 1, 1)]


class Script:
    """A keystream of given words."""

    def __init__(self, words: list[int]) -> None:
        self.words = words

    def fill(self, buffer: np.ndarray) -> None:
        count = buffer.nbytes // 8
        buffer.view(np.uint64)[:] = np.array(self.words[:count], np.uint64)
        self.words = self.words[count:]

    def spawn(self) -> Keystream:
        raise AssertionError("scripts are for one thread")


def word_for(drawn: int, total: int) -> int:
    """A word that draws this number below the total, well away from a rejection."""
    return ((drawn << 64) + (1 << 63)) // total


@pytest.mark.parametrize("sets", SMALL, ids=repr)
def test_sketch_signs_list_every_output_once(sets: SketchSigns) -> None:
    for index in range(sets.inputs):
        inside = [sets.inside(index, j) for j in range(sets.members)]
        outside = [sets.outside(index, j) for j in range(sets.others)]
        assert sorted(inside + outside) == list(range(sets.outputs))
        assert all(sets.contains(index, output) for output in inside)
        assert not any(sets.contains(index, output) for output in outside)


@pytest.mark.parametrize("sets", SMALL, ids=repr)
def test_the_ratio_is_that_of_the_two_levels(sets: SketchSigns) -> None:
    channel = TwoLevel(sets, 4, 11)
    assert column_ratio(channel) == channel.max_ratio()


@pytest.mark.parametrize("buckets", [2, 3, 17])
def test_wide_hashing_covers_every_bucket_of_a_key(buckets: int) -> None:
    sets, coins = WideHashing(64, 50, buckets), FixedCoins(buckets)
    for _ in range(50):
        key, index = coins.below(1 << 32), coins.below(1 << 64)
        outputs = [sets.inside(index, key)]
        outputs += [sets.outside(index, key * (buckets - 1) + other) for other in range(buckets - 1)]
        assert sorted(outputs) == list(range(key * buckets, (key + 1) * buckets))
        assert [sets.contains(index, output) for output in outputs] == [True] + [False] * (buckets - 1)


def test_bits_beyond_the_prefix_do_not_show() -> None:
    hashed, signs = WideHashing(64, 20, 5), SketchSigns(64, 20, 3, 8, 0)
    for sets in (hashed, signs):
        assert all(sets.inside(77 << 44, j) == sets.inside((78 << 44) - 1, j) for j in range(100))
        assert any(sets.inside(77 << 44, j) != sets.inside(78 << 44, j) for j in range(100))


def test_hashes_of_one_word_are_a_permutation_of_the_keys() -> None:
    keys = FixedCoins(3)
    drawn = {keys.below(1 << 32) for _ in range(20_000)}
    for word in (0, 1 << 63, 0x123456789ABCDEF):
        assert len({wide_mix(key, word) for key in drawn}) == len(drawn)


@pytest.mark.parametrize("buckets", [2, 3, 55])
def test_pairs_of_words_collide_for_one_key_in_g(buckets: int) -> None:
    """What q = 1/g rests on, for words that differ in the low half, the high half, or both. False alarms below 1e-6."""
    sets, coins = WideHashing(64, 64, buckets), FixedCoins(buckets)
    pairs = [(0, 1), (0, 1 << 32), (5, 5 + (1 << 63)), (1 << 32, 1), ((1 << 32) + 1, (2 << 32) + 2), (3 << 32, (4 << 32) + 3)]
    pairs += [(coins.below(1 << 64), coins.below(1 << 64)) for _ in range(4)]
    keys = [coins.below(1 << 32) for _ in range(20_000)]
    for a, b in pairs:
        collisions = sum(sets.bucket(key, a) == sets.bucket(key, b) for key in keys)
        assert binomial_tail(collisions, len(keys), 1 / buckets) > 1e-9, (a, b)


def test_rows_of_a_sketch_collide_independently() -> None:
    """4,000 pairs of prefixes: same cell once in 16, same sign half of the time, in two rows once in 256."""
    sets, coins = SketchSigns(64, 64, 1, 4, 9), FixedCoins(4)
    cell, sign, both = 0, 0, 0
    for _ in range(4000):
        base, other = coins.below(1 << 56) << 8, coins.below(255) + 1
        (a, s), (b, t) = sets.place(0, base), sets.place(0, base + other)
        (c, _), (d, _) = sets.place(1, base), sets.place(1, base + other)
        cell, sign, both = cell + (a == b), sign + (s == t), both + (a == b and c == d)
    assert binomial_tail(cell, 4000, 1 / 16) > 1e-9
    assert binomial_tail(sign, 4000, 1 / 2) > 1e-9
    assert binomial_tail(both, 4000, 1 / 256) > 1e-9


def test_the_wide_hashing_kernel_agrees_with_the_scalar_sets_for_every_bucket() -> None:
    channel = TwoLevel(WideHashing(64, 40, 7), 4, 11)
    assert not isinstance(sampler_for(channel), ScalarSampler)
    total = 11 + 6 * 4
    for key in (0, 0xFFFFFFFF, 123456789):
        for index in (0, 1 << 62, (1 << 64) - 1, 0x123456789ABCDEF):
            script = Script([w for drawn in range(total) for w in (word_for(drawn, total), key | 5 << 40)])
            tallies = Counter(draw_many(channel, [index] * total, script).tolist())
            assert tallies == {key * 7 + b: channel.weight(index, key * 7 + b) for b in range(7)}


def test_the_sketch_kernel_gives_every_output_as_often_as_its_weight() -> None:
    channel = TwoLevel(SketchSigns(50, 40, 1, 3, 5), 4, 11)
    assert not isinstance(sampler_for(channel), ScalarSampler)
    for index in (0, (1 << 50) - 1, 0x123456789ABC):
        script = Script([w for drawn in range(15) for at in range(16) for w in (word_for(drawn, 15), at << 60)])
        tallies = Counter(draw_many(channel, np.full(15 * 16, index), script).tolist())
        assert tallies == {y: channel.weight(index, y) for y in range(channel.outputs)}


def test_what_a_browser_gets_names_every_number_of_the_sets() -> None:
    assert WideHashing(64, 40, 7).compiled() == {"set": "wide-hashing", "bits": 64, "kept": 40, "buckets": 7}
    signs = {"set": "sketch-signs", "bits": 50, "kept": 40, "row_bits": 1, "width_bits": 3, "salt": 5}
    assert SketchSigns(50, 40, 1, 3, 5).compiled() == signs
    assert Hashing(9, 4).compiled() == {"set": "hashing", "size": 9, "buckets": 4}


@pytest.mark.parametrize(
    "build",
    [
        lambda: WideHashing(65, 1, 2),
        lambda: WideHashing(8, 9, 2),
        lambda: WideHashing(8, 0, 2),
        lambda: WideHashing(8, 8, 1),
        lambda: SketchSigns(8, 8, 7, 3, 0),
        lambda: SketchSigns(8, 8, 1, 0, 0),
        lambda: SketchSigns(8, 8, 1, 1, -1),
    ],
)
def test_impossible_sets_are_refused(build: object) -> None:
    with pytest.raises(InvalidParameter):
        build()  # type: ignore[operator]
