"""Faults in the weights, and in what is claimed about them, are caught."""

from __future__ import annotations

from fractions import Fraction

from tests.faults.planted import Planted, assert_caught

from deniable.core import Categories, Channel, Singleton, Table, TwoLevel


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
