"""Faults in the law of a draw are caught by the check that is there for them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from tests.faults.planted import Planted, assert_caught, outcomes

from deniable import batch
from deniable.core import (
    OGPM,
    SYSTEM,
    Bits,
    Categories,
    Channel,
    Coins,
    Interval,
    KaryRandomizedResponse,
    Mechanism,
    Report,
    Singleton,
    Table,
    TwoLevel,
    Windows,
    slid_window,
)


def test_the_sound_mechanisms_pass() -> None:
    for mechanism in (
        Planted(),
        KaryRandomizedResponse(domain=Categories(5), epsilon=1),
        OGPM(domain=Interval(cells=16), epsilon=1),
    ):
        assert "failed" not in outcomes(mechanism).values(), outcomes(mechanism)
        assert "passed" in outcomes(mechanism).values()


class ForgetsTheLastBit(Bits):
    """The fault that lived in the field for twenty months, mirrored: the last bit is never randomised."""

    def draw(self, index: int, coins: Coins) -> int:
        drawn = super().draw(index, coins)
        last = self.size - 1
        return (drawn & ~(1 << last)) | (index == last) << last


class UnaryWithoutLastBit(Planted):
    def build(self) -> Channel:
        return ForgetsTheLastBit(self.domain.size, own=5, other=3, scale=10)


def test_a_unary_mechanism_that_skips_its_last_bit_is_caught() -> None:
    assert_caught(UnaryWithoutLastBit(epsilon=2), "check_scalar_draws_follow_the_law", "check_every_output_bit_is_randomised")


class LiesTooRarely(TwoLevel):
    """k-RR that lies with probability 1/(k-1+E) in total instead of per lie."""

    def draw(self, index: int, coins: Coins) -> int:
        drawn = coins.below(self.total)
        return index if drawn >= self.low else (index + 1 + coins.below(self.outputs - 1)) % self.outputs


class RarelyLying(Planted):
    def build(self) -> Channel:
        sound = TwoLevel.at(Singleton(self.domain.size), self.privacy)
        return LiesTooRarely(sound.sets, sound.low, sound.high)


def test_lying_too_rarely_is_caught() -> None:
    assert_caught(RarelyLying(), "check_scalar_draws_follow_the_law")


class TakesTheRemainder(Table):
    """Two bits modulo three: the draw that should be thrown away becomes a fourth chance for 0."""

    def draw(self, index: int, coins: Coins) -> int:
        return (index + coins.below(4) % 3 + 1) % 3


class RemainderMechanism(Planted):
    def build(self) -> Channel:
        return TakesTheRemainder([[1, 1, 1]] * 3)


def test_a_rejected_draw_that_is_not_redrawn_is_caught() -> None:
    biased = RemainderMechanism(domain=Categories(3))
    assert_caught(biased, "check_scalar_draws_follow_the_law", "check_draws_are_exact")


class StartsOneCellLate(Windows):
    """The favoured cells are drawn one to the right of where the weights say."""

    def inside(self, index: int, j: int) -> int:
        return (self.start(index) + j + (index == 0)) % self.outputs


class ShiftedWindow(OGPM):
    def build(self) -> TwoLevel:
        right = slid_window(self.domain.cells, 5)
        fields = (right.inputs, right.outputs, right.members, right.offset, right.first, right.last)
        return TwoLevel.at(StartsOneCellLate(*fields), self.privacy)


@pytest.mark.parametrize("cells", [16, 1 << 20])
def test_a_window_that_is_off_by_one_at_the_edge_is_caught_exactly(cells: int) -> None:
    assert_caught(ShiftedWindow(domain=Interval(cells=cells), epsilon=1), "check_draws_are_exact")


def test_a_window_that_is_off_by_one_at_the_edge_is_caught_by_statistics() -> None:
    assert_caught(ShiftedWindow(domain=Interval(cells=16), epsilon=1), "check_scalar_draws_follow_the_law")


class FloatNoise(Planted):
    """Noise by floating point: the digits of the secret survive in the low bits of the output."""

    domain: Categories = Categories(64)
    epsilon: Any = 1

    def randomize(self, value: Any, coins: Coins = SYSTEM) -> Report:
        index = self.encode(value)
        noisy = int(index + 8 * int(random.random() * 8)) % self.domain.size
        return Report(self.fingerprint, noisy)


def test_low_order_bits_of_the_secret_in_the_output_are_caught() -> None:
    leaky = FloatNoise(domain=Categories(64))
    assert_caught(leaky, "check_every_output_bit_is_randomised", "check_scalar_draws_follow_the_law")


class OutsideTheChannel(Planted):
    def randomize(self, value: Any, coins: Coins = SYSTEM) -> Report:
        return Report(self.fingerprint, self.domain.size + self.encode(value))


def test_outputs_the_channel_does_not_have_are_caught() -> None:
    assert_caught(OutsideTheChannel(), "check_scalar_draws_follow_the_law")


class TiedBits(Bits):
    """Every bit has the right chance, but neighbours share their coin."""

    def draw(self, index: int, coins: Coins) -> int:
        drawn, output = 0, 0
        for value in range(self.size):
            if value % 2 == 0:
                drawn = coins.below(self.scale)
            output |= (drawn < (self.own if value == index else self.other)) << value
        return output


class UnaryWithTiedBits(Planted):
    def build(self) -> Channel:
        return TiedBits(self.domain.size, own=5, other=3, scale=10)


def test_bits_that_are_not_independent_are_caught() -> None:
    assert_caught(UnaryWithTiedBits(epsilon=2), "check_scalar_draws_follow_the_law")


def test_a_batch_law_unlike_the_scalar_one_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def shifted(channel: Channel, indices: Any, keystream: Any = None) -> Any:
        drawn = np.asarray(true_draw(channel, indices, keystream)).copy()
        drawn[::50] = 0  # one report in fifty
        return drawn

    true_draw = batch.draw_many
    monkeypatch.setattr(batch, "draw_many", shifted)
    found = outcomes(Planted())
    assert found["check_batch_draws_follow_the_law"] == "failed"
    assert found["check_scalar_draws_follow_the_law"] == "passed"


def test_a_batch_encoder_that_rounds_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def rounded(mechanism: Mechanism, values: Any) -> Any:
        return np.clip(np.nan_to_num(np.asarray(values, dtype=np.float32) * 16), 0, 15).astype(np.int64)

    monkeypatch.setattr(batch, "encode_many", rounded)
    assert_caught(OGPM(domain=Interval(cells=16), epsilon=1), "check_batch_encodes_alike", "check_batch_refuses_values_outside")
