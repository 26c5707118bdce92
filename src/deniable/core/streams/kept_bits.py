"""A few buckets drawn once, a kept bit for each of them: d-bit flips."""

from __future__ import annotations

import hashlib
import hmac
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

from deniable.core.channels.subsets import unrank
from deniable.core.exact.epsilon import Epsilon, EpsilonLike
from deniable.core.exact.numbers import Number, as_fraction
from deniable.core.randomness.coins import Coins
from deniable.core.streams.base import Loss, Output, Stream, checked_periods, power
from deniable.core.streams.counting import Counts, Weigh, changes_loss, countable, largest_by_counts, window_loss
from deniable.errors import InvalidParameter

UNIT = 1 << 30


@dataclass(frozen=True)
class KeptBits(Stream):
    """The device draws `bits` of `size` buckets once, in public, and for each of its values keeps one noisy bit per bucket.

    Law: the buckets uniformly; for every kept row, a bit is true ("my value is in this bucket", or not) with the odds `high` to
    `low`; in every period each kept bit is flipped afresh with probability `flips`. Values outside the buckets share a kept row.
    Loss: two values differ in at most two bits, so each bit has half of epsilon (all of it, when there is only one bit). People
    who never change lose at most epsilon in all their life, exactly `reports(T)`. Without `flips`, the moment of a change is seen
    with certainty, and losses between people who change at different times are unbounded; with them they grow with the reports.
    Cost: `bits` bits a report, beside the buckets. The memory holds at most `bits` + 1 rows, each of which costs epsilon once.
    Tracking: the buckets are as good as a name, unless everyone has all of them.
    Source: Ding, Kulkarni and Yekhanin, "Collecting telemetry data privately", 2017 (d-bit flips, memoization, and output
    perturbation, here `flips`).

    >>> year = KeptBits(365, size=32, bits=4, epsilon=1)
    >>> round(year.changing(0).level, 6), year.changing(1).ratio, round(float(year.tracking()), 3)
    (1.0, None, 1.0)
    """

    size: int
    bits: int
    epsilon: EpsilonLike
    flips: Number = 0

    def __post_init__(self) -> None:
        checked_periods(self.periods)
        object.__setattr__(self, "epsilon", Epsilon(self.epsilon))
        for name, least, most in (("size", 2, 1 << 16), ("bits", 1, min(self.size, 64))):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
                raise InvalidParameter(f"{name} must be a whole number from {least} to {most}")
        flips = as_fraction(self.flips)
        if flips is None or not 0 <= flips < Fraction(1, 2) or flips.denominator > UNIT:
            raise InvalidParameter("flips must be a probability from 0 to below 1/2, such as 1/10")
        object.__setattr__(self, "flips", flips)

    @property
    def level(self) -> Epsilon:
        """epsilon, exactly."""
        assert isinstance(self.epsilon, Epsilon)
        return self.epsilon

    @property
    def differing(self) -> int:
        """In how many bits two values can differ."""
        return min(self.bits, 2)

    @cached_property
    def high(self) -> int:
        """The weight of a true bit beside `low`."""
        return self.level.times(Fraction(1, self.differing)).floor(self.low)

    @property
    def low(self) -> int:
        return UNIT

    @property
    def second(self) -> tuple[int, int]:
        """The weights of a kept bit that is sent as it is, and flipped."""
        assert isinstance(self.flips, Fraction)
        return self.flips.denominator - self.flips.numerator, self.flips.numerator

    @property
    def values(self) -> int:
        return self.size

    @cached_property
    def choices(self) -> int:
        """How many choices of buckets there are."""
        return math.comb(self.size, self.bits)

    def buckets(self, choice: int) -> list[int]:
        """The buckets of a choice, in order."""
        mask = unrank(choice, self.size, self.bits)
        return [bucket for bucket in range(self.size) if mask >> bucket & 1]

    def start(self, coins: Coins) -> dict[str, Any]:
        # The key is not part of the law: it keeps values out of what is written to disk.
        return {"choice": str(coins.below(self.choices)), "key": os.urandom(32).hex(), "kept": {}}

    def _tag(self, memory: dict[str, Any], place: int) -> str:
        return hmac.new(bytes.fromhex(memory["key"]), str(place).encode(), hashlib.sha256).hexdigest()

    def _place(self, choice: int, value: int) -> int:
        """Which of the device's buckets a value is in; `bits` for all the others."""
        if choice not in self._places:
            self._places.clear()  # a device has one choice, and needs no others
            self._places[choice] = {bucket: place for place, bucket in enumerate(self.buckets(choice))}
        return self._places[choice].get(value, self.bits)

    @cached_property
    def _places(self) -> dict[int, dict[int, int]]:
        return {}

    def report(self, memory: dict[str, Any], period: int, value: int, coins: Coins) -> int:
        self.check(period, value)
        choice, kept = int(memory["choice"]), memory["kept"]
        place = self._place(choice, value)
        tag = self._tag(memory, place)
        if tag not in kept:
            drawn = (coins.below(self.high + self.low) < self.high for _ in range(self.bits))
            kept[tag] = sum((true == (bit == place)) << bit for bit, true in enumerate(drawn))
        stays, flips = self.second
        flipped = sum((coins.below(stays + flips) < flips) << bit for bit in range(self.bits)) if flips else 0
        return (choice << self.bits) | (int(kept[tag]) ^ flipped)

    def weight(self, values: Sequence[int], outputs: Sequence[Output]) -> int:
        heard = [0 if y is None else y for y in outputs]
        choices = {y >> self.bits for y in heard}
        if None in outputs or len(choices) != 1 or not 0 <= (choice := choices.pop()) < self.choices:
            return 0
        by_place: dict[int, list[int]] = {}
        for x, y in zip(values, heard, strict=True):
            by_place.setdefault(self._place(choice, x), []).append(y)
        weight = (self.high + self.low) ** (self.bits * (min(self.bits + 1, self.size) - len(by_place)))
        for place, mine in by_place.items():
            for bit in range(self.bits):
                weight *= self._bit(bit == place, [y >> bit & 1 for y in mine])
        return int(weight)

    def _bit(self, truth: bool, shown: Sequence[int]) -> int:
        """One kept bit and what was sent of it: summed over what was kept."""
        stays, flips = self.second
        ones = sum(shown)
        zeros = len(shown) - ones
        kept_one, kept_zero = (self.high, self.low) if truth else (self.low, self.high)
        return int(kept_one * stays**ones * flips**zeros + kept_zero * stays**zeros * flips**ones)

    @property
    def total(self) -> int:
        rows = min(self.bits + 1, self.size)
        return int(self.choices * (self.high + self.low) ** (self.bits * rows) * sum(self.second) ** (self.bits * self.periods))

    def shown(self, period: int) -> Sequence[Output]:
        return range(self.choices << self.bits)

    def rows(self) -> Iterator[tuple[Output, ...]]:
        """Those with one choice of buckets throughout: all others have weight 0."""
        for choice in range(self.choices):
            mine = range(choice << self.bits, (choice + 1) << self.bits)
            yield from product(mine, repeat=self.periods)

    def few_rows(self, most: int) -> bool:
        return self.bits * self.periods <= 64 and self.choices << (self.bits * self.periods) <= most

    def price(self, memory: dict[str, Any], period: int, value: int) -> Fraction:
        """epsilon for every row that was not kept yet: the level between people who change at the same times."""
        tag = self._tag(memory, self._place(int(memory["choice"]), value))
        return Fraction(0) if tag in memory["kept"] else self.level.exact

    def reports(self, count: int) -> Loss:
        """So many reports of one value against as many of another: all bits that differ always as the one has them."""
        stays, flips = self.second
        own = self.high * stays**count + self.low * flips**count
        return Loss(Fraction(own, self.low * stays**count + self.high * flips**count) ** self.differing, True)

    def same_times(self, changes: int) -> Loss:
        """Between people who change at the same times, at most so often: epsilon for every row there can be."""
        if changes == 0:
            return self.reports(self.periods)
        return Loss(Fraction(self.high, self.low) ** (self.differing * min(self.bits + 1, self.size, changes + 1)), False)

    def fresh(self, reports: int) -> Loss:
        """What so many reports of other values can change at the most: by what is flipped afresh alone, in every bit."""
        stays, flips = self.second
        return Loss(power(Fraction(stays, flips) if flips else None, self.bits * reports), False)

    def lifetime(self) -> Loss:
        return self._whole_life

    @cached_property
    def _whole_life(self) -> Loss:
        if self.periods == 1:
            return self.reports(1)
        if not self.second[1]:
            return Loss(None, True)  # two kept rows differ, one never differs from itself
        if self.bits <= 4 and countable(len(self._rows), 1 << self.bits, self.periods, alike=False):
            return Loss(largest_by_counts(self._rows, 1 << self.bits, self.periods, alike=False), True)
        return self.fresh(self.periods)

    @cached_property
    def _rows(self) -> list[Weigh]:
        return [self._weigh(place) for place in range(min(self.bits + 1, self.size))]

    def _weigh(self, place: int) -> Weigh:
        """The weight of the reports of one kept row, by how often each was sent; all choices of buckets are alike."""

        def weigh(counts: Counts) -> int:
            sent = sum(counts)
            ones = (sum(count for shown, count in enumerate(counts) if shown >> bit & 1) for bit in range(self.bits))
            return math.prod(self._bit(bit == place, [1] * one + [0] * (sent - one)) for bit, one in enumerate(ones))

        return weigh

    def window(self, width: int) -> Loss:
        if self.periods == 1 or not self.second[1]:
            return self.lifetime()
        outputs = 1 << self.bits
        return window_loss(self._rows, outputs, self.periods, width, self.fresh(width), self.lifetime(), alike=False)

    def changing(self, changes: int) -> Loss:
        if changes == 0 or self.periods == 1:
            return self.reports(self.periods)
        if not self.second[1]:
            return Loss(None, True)
        return changes_loss(self._rows, 1 << self.bits, self.periods, changes, self.lifetime(), alike=False)

    def tracking_bound(self, reports: int) -> Fraction:
        """People with the same buckets and the same kept row are as one; and one after another, each may differ from the first."""
        true = Fraction(self.high, self.high + self.low)
        agree = (true**reports + (1 - true) ** reports) ** self.bits / Fraction(self.choices) ** (reports - 1)
        pair = (true**2 + (1 - true) ** 2) ** self.bits / Fraction(self.choices)
        return min(1 - agree, (reports - 1) * (1 - pair))

    def tracking(self) -> Fraction:
        """Two reports of one person have the same buckets and one kept row; those of two people have two of each.

        Given the buckets, a bit and its like in another report are (1, 1), (0, 0) or unlike; for one person those chances differ
        from the product by what is kept. Unlike buckets happen to two people only.
        """
        stays, flips = (Fraction(part, sum(self.second)) for part in self.second)
        true = Fraction(self.high, self.high + self.low)
        sent = true * stays + (1 - true) * flips  # the chance that a bit is sent truly
        kept = {
            (1, 1): true * stays**2 + (1 - true) * flips**2,
            (0, 0): (1 - true) * stays**2 + true * flips**2,
            (1, 0): stays * flips,
            (0, 1): stays * flips,
        }
        apart = {(a, b): (sent if a else 1 - sent) * (sent if b else 1 - sent) for a, b in kept}
        same = Fraction(1, self.choices)
        # Over all bits: how many of them are (1, 1), (0, 0) and unlike; (1, 0) and (0, 1) have one chance, in both laws.
        distance = Fraction(0)
        for both in range(self.bits + 1):
            for none in range(self.bits + 1 - both):
                unlike = self.bits - both - none
                ways = math.comb(self.bits, both) * math.comb(self.bits - both, none) * 2**unlike
                one = kept[1, 1] ** both * kept[0, 0] ** none * kept[1, 0] ** unlike
                two = apart[1, 1] ** both * apart[0, 0] ** none * apart[1, 0] ** unlike
                distance += ways * abs(one - same * two)
        return (distance + 1 - same) / 2
