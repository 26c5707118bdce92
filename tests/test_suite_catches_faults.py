"""Faults that were made in the field, or could be: each is caught by the check that is there for it.

A mechanism's fault is planted in a copy of a mechanism that passes, so nothing else can fail.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
import pytest

from deniable import batch, wire
from deniable.channels import Bits, Channel, Singleton, Table, TwoLevel, Window, slid_window
from deniable.domains import Categories, Domain, Interval
from deniable.errors import OutOfDomain
from deniable.mechanisms import Mechanism
from deniable.mechanisms.categorical.k_rr import KaryRandomizedResponse
from deniable.mechanisms.numeric.ogpm import OGPM
from deniable.randomness import SYSTEM, Coins
from deniable.reports import Report
from deniable.testing import CHECKS, FixedCoins, binomial_tail, check_mechanism, goodness_of_fit, run_check

SPARE = {"check_recipe_round_trip"}  # a planted mechanism is not registered, so its recipe finds the sound one


def outcomes(mechanism: Mechanism) -> dict[str, str]:
    return {finding.check: finding.outcome for finding in check_mechanism(mechanism) if finding.check not in SPARE}


def assert_caught(mechanism: Mechanism, *checks: str) -> None:
    found = outcomes(mechanism)
    for check in checks:
        assert found[check] == "failed", f"{check} did not see the fault: {found[check]}"


@dataclass(frozen=True, kw_only=True, repr=False)
class Planted(Mechanism):
    """Five categories and a channel given by the subclass."""

    domain: Categories = Categories(5)
    epsilon: Any = 1
    name: ClassVar[str] = "k-rr"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Categories,)

    def build(self) -> Channel:
        return TwoLevel.at(Singleton(self.domain.size), self.privacy)

    def decode(self, output: int) -> Any:
        return output

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()


def test_the_sound_mechanisms_pass() -> None:
    for mechanism in (
        Planted(),
        KaryRandomizedResponse(domain=Categories(5), epsilon=1),
        OGPM(domain=Interval(cells=16), epsilon=1),
    ):
        assert "failed" not in outcomes(mechanism).values(), outcomes(mechanism)
        assert "passed" in outcomes(mechanism).values()


# --- the law of a draw


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


class StartsOneCellLate(Window):
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


# --- the weights


class RoundedUp(Planted):
    def build(self) -> Channel:
        return TwoLevel(Singleton(self.domain.size), low=1000, high=self.privacy.ceil(1000))


def test_a_weight_rounded_up_is_caught() -> None:
    assert_caught(RoundedUp(), "check_certificate_holds")


class SaysLess(TwoLevel):
    def max_ratio(self) -> Fraction:
        return Fraction(2)


class LyingCertificate(Planted):
    def build(self) -> Channel:
        return SaysLess(Singleton(self.domain.size), low=1000, high=5000)


def test_a_ratio_larger_than_claimed_is_caught() -> None:
    assert_caught(LyingCertificate(), "check_ratio_is_exact", "check_sampled_ratios")


class SaysTwo(Table):
    def max_ratio(self) -> Fraction | None:
        return Fraction(2)


class OneInputOnly(Planted):
    def build(self) -> Channel:
        return SaysTwo([[3, 2, 2, 0], [2, 3, 2, 0], [2, 2, 2, 1]])


def test_an_output_that_only_one_input_reaches_is_caught() -> None:
    assert_caught(OneInputOnly(domain=Categories(3)), "check_reachable_outputs_are_the_same", "check_sampled_ratios")


class UnequalRows(TwoLevel):
    def weight(self, index: int, output: int) -> int:
        return super().weight(index, output) + (index == output == 0)


class UnequalTotals(Planted):
    def build(self) -> Channel:
        sound = TwoLevel.at(Singleton(self.domain.size), self.privacy)
        return UnequalRows(sound.sets, sound.low, sound.high)


def test_a_weight_that_differs_by_one_unit_from_the_sampler_is_caught() -> None:
    assert_caught(UnequalTotals(), "check_rows_sum_to_total", "check_draws_are_exact", "check_ratio_is_exact")


# --- secrets


class ShowsTheValue(Planted):
    def encode(self, value: Any) -> int:
        if not isinstance(value, int):
            raise OutOfDomain(f"the value {value!r} is not a category")
        return super().encode(value)


class ShowsTheCause(Planted):
    def encode(self, value: Any) -> int:
        try:
            return super().encode(["a", "b", "c", "d", "e"].index(value) if isinstance(value, str) else value)
        except ValueError as error:
            if isinstance(error, OutOfDomain):
                raise
            raise OutOfDomain("the value is not a category") from error


@pytest.mark.parametrize("kind", [ShowsTheValue, ShowsTheCause])
def test_a_secret_in_an_error_or_its_cause_is_caught(kind: type[Planted]) -> None:
    assert_caught(kind(), "check_errors_hide_the_value")


class WrongError(Planted):
    def encode(self, value: Any) -> int:
        index: int = [0, 1, 2, 3, 4][value]
        return index


def test_a_bad_value_that_gives_another_error_or_none_is_caught() -> None:
    assert_caught(WrongError(), "check_refuses_values_outside")


class RemembersTheValue(Planted):
    def randomize(self, value: Any, coins: Coins = SYSTEM) -> Report:
        object.__setattr__(self, "_last", value)
        return super().randomize(value, coins)


class ShowsTheLastValue(RemembersTheValue):
    def __repr__(self) -> str:
        return f"ShowsTheLastValue({self.__dict__.get('_last')})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (ShowsTheLastValue, ())


@pytest.mark.parametrize("kind", [RemembersTheValue, ShowsTheLastValue])
def test_a_secret_kept_in_the_state_or_the_repr_is_caught(kind: type[Planted]) -> None:
    assert_caught(kind(), "check_randomizing_leaves_no_trace")


class Logs(Planted):
    def randomize(self, value: Any, coins: Coins = SYSTEM) -> Report:
        import logging

        logging.getLogger("deniable").debug("randomizing")
        return super().randomize(value, coins)


def test_logging_while_randomizing_is_caught() -> None:
    assert_caught(Logs(), "check_randomizing_leaves_no_trace")


@dataclass(frozen=True, slots=True)
class TellingReport(Report):
    secret: int = 0


class TellingReports(Planted):
    def randomize(self, value: Any, coins: Coins = SYSTEM) -> Report:
        sound = super().randomize(value, coins)
        return TellingReport(sound.recipe, sound.output, self.encode(value))


def test_a_report_that_holds_more_than_its_output_is_caught() -> None:
    assert_caught(TellingReports(), "check_reports_hold_the_output_only")


# --- the wire


def _without_padding_check(mechanism: Mechanism, data: bytes) -> Report:
    """Clears the bits that no output of five categories uses before reading."""
    return true_decode(mechanism, data[:-1] + bytes([data[-1] & 0b111]))


def _any_length(mechanism: Mechanism, data: bytes) -> Report:
    sound = len(wire.encode_report(mechanism, Report(mechanism.fingerprint, 0)))
    return true_decode(mechanism, data[:sound])


true_decode = wire.decode_report


@pytest.mark.parametrize("decode", [_without_padding_check, _any_length])
def test_padding_and_trailing_bytes_that_are_not_checked_are_caught(
    decode: Callable[[Mechanism, bytes], Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "decode_report", decode)
    mechanism = Planted()
    found = {check.__name__: run_check(check, mechanism).outcome for check in CHECKS if "wire" in check.__name__}
    assert found == {"check_wire_round_trip": "passed", "check_wire_is_strict": "failed"}


class Forgetful(KaryRandomizedResponse):
    """Says one epsilon and writes another into its recipe."""

    def recipe(self) -> dict[str, Any]:
        return {**super().recipe(), "epsilon": "2"}


def test_a_recipe_that_is_not_the_mechanism_is_caught() -> None:
    finding = next(f for f in check_mechanism(Forgetful(epsilon=1)) if f.check == "check_recipe_round_trip")
    assert finding.outcome == "failed"


# --- the statistics themselves


def test_tail_probabilities_are_as_small_as_they_say() -> None:
    """Sound draws: about one tail in ten below 0.1, one in a hundred below 0.01, over 600 fixed samples."""
    weights = [50, 30, 10, 5, 3, 1, 1, 0]
    table = Table([weights])
    found = []
    for seed in range(600):
        coins = FixedCoins(seed)
        drawn = Counter(table.draw(0, coins) for _ in range(800))
        found.append(goodness_of_fit([drawn[output] for output in range(8)], weights))
    for level in (0.1, 0.01):
        assert binomial_tail(sum(tail < level for tail in found), len(found), level) > 1e-6
    assert min(found) > 1e-6


def test_wrong_weights_are_far_below_the_threshold() -> None:
    coins = FixedCoins(1)
    table = Table([[55, 45]])
    ones = sum(table.draw(0, coins) for _ in range(5000))
    assert goodness_of_fit([5000 - ones, ones], [1, 1]) < 1e-9 < goodness_of_fit([5000 - ones, ones], [55, 45])
