"""Kernels have exactly the channel's law: every draw below the total is tried, none is sampled."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from deniable.batch import KeystreamCoins, SystemKeystream, draw_many, output_ints, sampler_for
from deniable.batch.composed import MixtureSampler, ScalarSampler
from deniable.core import (
    Bits,
    Chain,
    Channel,
    Hadamard,
    Hashing,
    Identity,
    Interpolated,
    Mixture,
    NearestCellSets,
    Nested,
    Projective,
    Reference,
    Singleton,
    Subsets,
    Table,
    TwoLevel,
    slid_window,
)
from deniable.core.channels.profile import symmetric, wrapped
from deniable.privacy import FixedKeystream, goodness_of_fit

from .scripted import ScriptedKeystream, rejected_word, word_for

ONE_WORD: list[Channel] = [
    TwoLevel(Projective(12, 3, 3), 4, 11),
    TwoLevel(Projective(5, 5, 2), 2, 9),
    Reference(low=[2, 1, 1, 2], high=[4, 2, 2, 4], output_at=[0, 1, 3, 4], input_at=[1, 3], total=9),
    Nested(9, widths=[1, 5], weights=[9, 3, 1]),
    Nested(12, widths=[3, 5, 9], weights=[20, 7, 3, 2]),
]


@pytest.mark.parametrize("channel", ONE_WORD, ids=repr)
def test_every_integer_below_the_total_gives_the_weights(channel: Channel) -> None:
    assert not isinstance(sampler_for(channel), ScalarSampler)
    script = [word_for(drawn, channel.total) for drawn in range(channel.total)]
    for index in range(channel.inputs):
        drawn = draw_many(channel, np.full(channel.total, index), ScriptedKeystream(script))
        counts = Counter(output_ints(channel, drawn))
        assert counts == {y: w for y in range(channel.outputs) if (w := channel.weight(index, y))}


@pytest.mark.parametrize("channel", ONE_WORD, ids=repr)
def test_rejected_words_are_drawn_again(channel: Channel) -> None:
    if (1 << 64) % channel.total == 0:
        pytest.skip("a power of two rejects nothing")
    good, bad = word_for(channel.total - 1, channel.total), rejected_word(channel.total)
    expected = draw_many(channel, [0, 0, 1], ScriptedKeystream([good, good, good]))
    # Places 0 and 2 are rejected, and place 2 once more on its second try.
    found = draw_many(channel, [0, 0, 1], ScriptedKeystream([bad, good, bad, good, bad, good]))
    assert (found == expected).all()


def test_hadamard_kernel_meets_every_output_as_often_as_its_weight() -> None:
    channel = TwoLevel(Hadamard(6), 4, 11)
    free = [j << 62 for j in range(4)]
    script = [w for drawn in range(15) for j in free for w in (word_for(drawn, 15), j)]
    for index in range(6):
        counts = Counter(output_ints(channel, draw_many(channel, np.full(60, index), ScriptedKeystream(script))))
        assert counts == {y: channel.weight(index, y) for y in range(8)}


def test_hashing_kernel_agrees_with_the_scalar_sets_for_every_bucket() -> None:
    channel = TwoLevel(Hashing(1000, 7), 4, 11)
    total = 11 + 6 * 4
    for seed in (0, 1, 0xFFFFFFFF, 0x9E3779B1, 123456789):
        script = [w for drawn in range(total) for w in (word_for(drawn, total), seed | 5 << 40)]
        for index in (0, 1, 999):
            found = Counter(output_ints(channel, draw_many(channel, np.full(total, index), ScriptedKeystream(script))))
            assert found == {seed * 7 + b: channel.weight(index, seed * 7 + b) for b in range(7)}


WIDE = [[3 << 80, (1 << 80) - 1, (4 << 80) + 1], [2 << 80, 2 << 80, 4 << 80]]


@pytest.mark.parametrize(
    ("channel", "index"), [(Table([[1, 2], [2, 1]]), 0), (symmetric([1, 1], inputs=2), 1)], ids=["table", "profile"]
)
def test_words_that_leave_the_place_open_are_settled_by_further_bits(channel: Channel, index: int) -> None:
    # One third in binary is 0.010101…: a word of just these bits decides nothing, the bits after it do.
    third = (1 << 64) // 3
    outputs = []
    for further in (0x55555554, 0x55555556):
        bytes_first = int.from_bytes(further.to_bytes(4, "big"), "little")
        outputs.append(draw_many(channel, [index], ScriptedKeystream([third] + [bytes_first] * 512)).tolist())
    assert outputs == [[0], [1]]


@pytest.mark.parametrize("channel", [Table([[3, 1, 4], [2, 2, 4]]), wrapped([5, 2, 1], cells=4)], ids=["table", "wrapped"])
def test_words_in_equal_parts_give_the_weights(channel: Channel) -> None:
    script = [-(-(drawn << 64) // channel.total) + 1 for drawn in range(channel.total)]
    for index in range(channel.inputs):
        drawn = draw_many(channel, np.full(channel.total, index), ScriptedKeystream(script))
        assert Counter(drawn.tolist()) == {y: channel.weight(index, y) for y in range(channel.outputs)}


WIDE = [[3 << 80, (1 << 80) - 1, (4 << 80) + 1], [2 << 80, 2 << 80, 4 << 80]]

MANY: list[Channel] = [
    TwoLevel(Subsets(6, 2), 4, 11),
    TwoLevel(Subsets(7, 6), 4, 11),
    TwoLevel(NearestCellSets(4, 5, 6), 4, 11),
    TwoLevel(NearestCellSets(4, 4, 4, [0, 1, 2, 4, 5, 6, 7, 9, 10, 11, 14, 15]), 4, 11),
    TwoLevel(Singleton(3), 1 << 60, (3 << 60) + 1),  # one word in three is rejected
    TwoLevel(slid_window(9, 3), 1 << 58, (5 << 58) + 1),
    TwoLevel(Singleton(3), 1 << 70, 3 << 70),  # wider than a word: the scalar path
    Table([[3, 1, 4], [2, 2, 4]]),
    Table(WIDE),
    symmetric([9, 5, 3, 2, 1, 1, 7], inputs=4, margin=2),
    symmetric([9 << 90, 5 << 90, 3 << 90, (2 << 90) + 1], inputs=3, margin=1),
    wrapped([9, 4, 2, 1], cells=7),
    Bits(5, own=2 << 8, other=1 << 8, scale=4 << 8),
    Bits(9, own=200, other=77, scale=256),
    Interpolated(TwoLevel(Singleton(2), 4, 11), 8),
    Interpolated(TwoLevel(Singleton(3), 4, 11), 7),
    Interpolated(TwoLevel(Singleton(2), 3, 7), 2),  # a low weight that is no power of two: the scalar path
    Mixture([TwoLevel(Singleton(3), 4, 11), Identity(3)], [3, 2]),
    Mixture([TwoLevel(Subsets(6, 2), 4, 11), Identity(6)], [3, 2]),  # rows of bits beside numbers
    Mixture([Bits(9, own=200, other=77, scale=256), TwoLevel(Subsets(9, 4), 4, 11), TwoLevel(Subsets(9, 8), 4, 11)], [1, 3, 2]),
    Mixture([Bits(3, own=2, other=1, scale=4), Bits(3, own=3, other=1, scale=4)], [1, 2]),  # each drawn one by one
    Chain(Table([[1, 3], [2, 2]]), Table([[1, 3], [2, 2]])),
]


@pytest.mark.parametrize("channel", MANY, ids=lambda c: f"{type(c).__name__}-{c.inputs}-{c.outputs}")
def test_draws_follow_the_weights(channel: Channel) -> None:
    """Fixed keystream; each comparison would fail a true law with probability below 1e-6."""
    for index in range(channel.inputs):
        outputs = output_ints(channel, draw_many(channel, np.full(100_000, index), FixedKeystream(index)))
        counts = np.bincount(np.array(outputs, np.int64), minlength=channel.outputs)
        weights = [channel.weight(index, output) for output in range(channel.outputs)]
        assert goodness_of_fit([int(count) for count in counts], weights) > 1e-6


def test_rows_of_bits_in_a_mixture_are_numbered_up_to_a_word() -> None:
    """A part's outputs come after those of the parts before it; what does not fit into a word is drawn one by one."""
    channel = Mixture([Identity(56), TwoLevel(Subsets(56, 55), 4, 11)], [1, 3])
    assert isinstance(sampler_for(channel), MixtureSampler)
    for output in output_ints(channel, draw_many(channel, np.arange(56), FixedKeystream(3))):
        assert output < 56 or (output - 56).bit_count() == 55
    assert not isinstance(sampler_for(Mixture([Identity(65), TwoLevel(Subsets(65, 64), 4, 11)], [1, 3])), MixtureSampler)


def test_unary_bits_are_independent_and_padded_with_zeros() -> None:
    channel = Bits(70, own=150, other=40, scale=256)
    rows = draw_many(channel, np.full(100_000, 69), FixedKeystream(5))
    bits = np.unpackbits(rows, axis=1, bitorder="little")
    assert not bits[:, 70:].any()
    rates = bits[:, :70].mean(axis=0)
    expected = np.where(np.arange(70) == 69, 150 / 256, 40 / 256)
    assert np.abs(rates - expected).max() < 6 * np.sqrt(0.25 / 100_000)
    together = np.corrcoef(bits[:, :70].T) - np.eye(70)
    assert np.abs(together).max() < 6.5 / np.sqrt(100_000)


def test_two_threads_draw_different_words() -> None:
    channel = TwoLevel(slid_window(1 << 20, 1001), 1 << 20, 2 << 20)
    outputs = draw_many(channel, np.full(1 << 18, 1 << 19), SystemKeystream())
    half = len(outputs) // 2
    assert (outputs[:half] == outputs[half:]).mean() < 0.01


def test_indices_outside_the_channel_are_refused() -> None:
    from deniable.errors import InvalidParameter

    for bad in ([5], [-1]):
        with pytest.raises(InvalidParameter, match="inputs 0 to 4"):
            draw_many(TwoLevel(Singleton(5), 4, 11), bad)


def test_a_subclass_with_its_own_law_is_not_drawn_by_the_kernel_of_its_parent() -> None:
    class Stubborn(TwoLevel):
        def draw(self, index: int, coins: object) -> int:
            return index

    assert draw_many(Stubborn(Singleton(5), 4, 11), np.arange(5)).tolist() == [0, 1, 2, 3, 4]


def test_tables_whose_rows_end_in_zeros_are_drawn_exactly() -> None:
    from deniable.batch.tables import RunningSums

    outputs = draw_many(Table([[3, 1, 0], [0, 0, 4]]), np.repeat([0, 1], 4000), FixedKeystream(3))
    assert set(outputs[:4000].tolist()) == {0, 1}
    assert set(outputs[4000:].tolist()) == {2}
    # A word of all ones lies below 1, whatever follows.
    assert RunningSums((3, 4, 4)).settle((1 << 64) - 1, KeystreamCoins(FixedKeystream(1))) == 1
