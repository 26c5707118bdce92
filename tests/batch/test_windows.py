"""Windows are drawn from as few bits as decide them, and by exactly the channel's law: bits at every border are tried."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from deniable.batch import draw_many
from deniable.batch.windows import WindowSampler, _window
from deniable.core import Categories, Singleton, TwoLevel, linear_window, make_mechanism, slid_window, wrapped_window

from .scripted import ScriptedKeystream

SMALL = [
    TwoLevel(Singleton(5), 4, 11),
    TwoLevel(Singleton(2), 2, 7),
    TwoLevel(Singleton(3), 5, 7),  # a low weight that is not a power of two
    TwoLevel(slid_window(9, 3), 4, 11),
    TwoLevel(slid_window(300, 101), 2, 3),
    TwoLevel(slid_window(9, 3), 1, 1),
    TwoLevel(wrapped_window(9, 5), 4, 11),
    TwoLevel(linear_window(5, 3, 1), 4, 11),
]
LARGE = [
    TwoLevel(Singleton(3), 1 << 60, (3 << 60) + 1),
    TwoLevel(Singleton(1 << 26), 1 << 20, 3 << 20),  # more outputs than 32 bits tell apart
    make_mechanism("k-rr", domain=Categories(10_000), epsilon=8).channel,
    make_mechanism("window", epsilon=1).channel,
    make_mechanism("sw", epsilon=6).channel,
]


def output_at(channel: TwoLevel, index: int, drawn: int) -> int:
    """What an integer below the total stands for, by the scalar path's sets."""
    if drawn < channel.favoured:
        return channel.sets.inside(index, drawn // channel.high)
    return channel.sets.outside(index, (drawn - channel.favoured) // channel.low)


def test_every_integer_below_the_total_gives_the_weights() -> None:
    for channel in SMALL:
        for index in {0, 1, channel.inputs // 2, channel.inputs - 1}:
            counts: Counter[int] = Counter()
            for drawn in range(channel.total):
                number = -(-(drawn << 64) // channel.total)  # the first 64 bits of a number of this integer
                script = ScriptedKeystream([number >> 32, number & 0xFFFFFFFF])
                counts[int(draw_many(channel, [index], script)[0])] += 1
            assert counts == {y: w for y in range(channel.outputs) if (w := channel.weight(index, y))}


@pytest.mark.parametrize("channel", [*SMALL, *LARGE], ids=lambda c: f"{c.outputs}-{c.total.bit_length()}")
def test_32_bits_decide_only_what_no_further_bit_can_change(channel: TwoLevel) -> None:
    # Around every border between two ranks (or many of them), and spread over all words.
    ranks = np.unique(np.linspace(0, channel.outputs, 400).astype(np.int64)).tolist()
    members = channel.favoured // channel.high
    borders = [min(r, members) * channel.high + max(r - members, 0) * channel.low for r in [*ranks, members, members + 1]]
    near = {(border << 32) // channel.total + step for border in borders for step in range(-3, 4)}
    words = sorted(word for word in near | {k << 20 for k in range(1 << 12)} if 0 <= word < 1 << 32)
    for index in {0, channel.inputs // 3, channel.inputs - 1}:
        out, places = np.empty(len(words), np.uint64), np.empty(len(words), np.int64)
        sampler = WindowSampler(channel)
        count = _window(np.array(words, np.uint32), np.full(len(words), index), out, places, *sampler._lines)
        undecided = set(places[:count].tolist())
        for place, word in enumerate(words):
            first = output_at(channel, index, word * channel.total >> 32)
            last = output_at(channel, index, ((word + 1) * channel.total - 1) >> 32)
            if place not in undecided:
                assert out[place] == first == last
        spread = sum(words[place] % (1 << 20) == 0 for place in undecided)
        assert spread < 60 or channel.outputs >= 1 << 26, "hardly any word is left open"


@pytest.mark.parametrize("channel", [*SMALL, *LARGE], ids=lambda c: f"{c.outputs}-{c.total.bit_length()}")
def test_64_bits_at_every_border_lead_where_the_scalar_path_does(channel: TwoLevel) -> None:
    members = channel.favoured // channel.high
    ranks = {1, 2, members - 1, members, members + 1, channel.outputs // 2, channel.outputs - 1}
    for rank in (rank for rank in ranks if 0 < rank < channel.outputs):
        border = min(rank, members) * channel.high + max(rank - members, 0) * channel.low
        for step in (-2, -1, 1, 2):
            number = (border << 64) // channel.total + step
            drawn = number * channel.total >> 64
            if drawn != ((number + 1) * channel.total - 1) >> 64:
                continue  # the next test
            script = ScriptedKeystream([number >> 32, number & 0xFFFFFFFF])
            assert draw_many(channel, [1], script)[0] == output_at(channel, 1, drawn)


def test_bits_that_leave_the_output_open_are_settled_by_further_bits() -> None:
    # One third in binary is 0.010101…: 64 of these bits decide nothing between three equal outputs, the bits after them do.
    channel = TwoLevel(Singleton(3), 1, 1)
    outputs = []
    for further in (0x55555554, 0x55555556):
        bytes_first = int.from_bytes(further.to_bytes(4, "big"), "little")
        script = ScriptedKeystream([0x55555555, 0x55555555, *[bytes_first] * 512])
        outputs.append(int(draw_many(channel, [0], script)[0]))
    assert outputs == [0, 1]


def test_an_open_report_does_not_disturb_its_neighbours() -> None:
    channel = TwoLevel(Singleton(3), 1, 1)
    third = 0x55555555
    script = ScriptedKeystream([0, third, 0xFFFFFFF0, third, 0, 0xFFFFFFFF])
    assert draw_many(channel, [0, 0, 0, 1], script).tolist() == [0, 0, 2, 2]
