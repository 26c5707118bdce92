from __future__ import annotations

import pickle
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from deniable.core import SYSTEM, below_from_bytes
from deniable.privacy import CountingCoins, FixedCoins, FixedKeystream, ReplayCoins, ScriptedCoins, exact_law, goodness_of_fit


@pytest.mark.parametrize("n", [1, 2, 3, 5, 127, 128, 200, 255, 256])
def test_one_byte_gives_every_number_equally_often(n: int) -> None:
    """By trying every byte: exact, not statistical."""
    drawn: Counter[int] = Counter()
    for byte in range(256):
        try:
            drawn[ReplayCoins(bytes([byte])).below(n)] += 1
        except EOFError:
            continue  # rejected, and nothing left to draw again from
    assert set(drawn) == set(range(n))
    assert len(set(drawn.values())) == 1


@pytest.mark.parametrize("n", [257, 300, 1000])
def test_two_bytes_give_every_number_equally_often(n: int) -> None:
    drawn: Counter[int] = Counter()
    for both in range(1 << 16):
        try:
            drawn[ReplayCoins(both.to_bytes(2, "big")).below(n)] += 1
        except EOFError:
            continue
    assert set(drawn) == set(range(n))
    assert len(set(drawn.values())) == 1


def test_a_rejected_number_is_drawn_again_from_fresh_bytes() -> None:
    coins = ReplayCoins(bytes([0b1100_0000, 0b1110_0000, 0b0110_0000, 0xFF]))
    assert coins.below(6) == 3  # 6 and 7 are thrown away
    assert coins.left == 1


def test_one_number_needs_no_bytes_and_none_is_an_error() -> None:
    assert ReplayCoins(b"").below(1) == 0
    for n in (0, -1):
        with pytest.raises(ValueError, match="n >= 1"):
            SYSTEM.below(n)


def test_only_whole_bytes_of_the_least_number_are_read() -> None:
    read: list[int] = []

    def source(count: int) -> bytes:
        read.append(count)
        return bytes(count)

    for n in (2, 256, 257, 1 << 16, (1 << 16) + 1, 1 << 84):
        assert below_from_bytes(n, source) == 0
    assert read == [1, 1, 2, 2, 3, 11]


def test_system_coins_look_uniform() -> None:
    """On the system's randomness, hence not on fixed coins: false alarms below 1e-6."""
    counts = Counter(SYSTEM.below(11) for _ in range(20_000))
    assert goodness_of_fit([counts[value] for value in range(11)], [1] * 11) > 1e-9


def test_system_coins_carry_nothing() -> None:
    assert pickle.loads(pickle.dumps(SYSTEM)).below(1) == 0
    assert not hasattr(SYSTEM, "__dict__")


def test_fixed_coins_repeat_themselves_and_counting_coins_listen() -> None:
    first, second = CountingCoins(FixedCoins(3)), FixedCoins(3)
    assert [first.below(n) for n in (10, 20, 30)] == [second.below(n) for n in (10, 20, 30)]
    assert first.asked == [10, 20, 30]
    assert [FixedCoins(3).below(1 << 64)] != [FixedCoins(4).below(1 << 64)]


def test_scripted_coins_say_what_they_are_told() -> None:
    coins = ScriptedCoins([4, 0])
    assert (coins.below(5), coins.below(1)) == (4, 0)
    with pytest.raises(EOFError):
        coins.below(2)
    with pytest.raises(ValueError, match="not below"):
        ScriptedCoins([5]).below(5)


def test_exact_laws_add_up() -> None:
    law = exact_law(lambda coins: coins.below(coins.below(3) + 1))
    assert law == {0: Fraction(11, 18), 1: Fraction(5, 18), 2: Fraction(2, 18)}
    assert exact_law(lambda coins: 7) == {7: 1}
    with pytest.raises(ValueError, match="more than 10"):
        exact_law(lambda coins: coins.below(11), most=10)


def test_fixed_keystreams_repeat_themselves_and_their_children_differ() -> None:
    streams = [FixedKeystream(1), FixedKeystream(1), FixedKeystream(2)]
    streams += [streams[0].spawn(), streams[0].spawn()]
    blocks = []
    for stream in streams:
        block = np.zeros(64, dtype=np.uint64)
        stream.fill(block)
        blocks.append(block.tobytes())
    assert blocks[0] == blocks[1]
    assert len(set(blocks)) == 4
    with pytest.raises(ValueError, match="contiguous"):
        streams[0].fill(np.zeros(8, dtype=np.uint8)[::2])


def test_system_coins_show_their_name_and_nothing_else() -> None:
    """They are a default argument: this is what help() prints."""
    assert repr(SYSTEM) == "SYSTEM"
