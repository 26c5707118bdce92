"""An answer drawn once for every value and kept, with fresh noise around it in every period."""

from __future__ import annotations

import hashlib
import hmac
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.core.channels.sets import Singleton
from deniable.core.channels.two_level import TwoLevel
from deniable.core.exact.epsilon import Epsilon, EpsilonLike
from deniable.core.randomness.coins import Coins
from deniable.core.streams.base import Loss, Output, Stream, checked_periods, linked, power
from deniable.core.streams.counting import Counts, Weigh, changes_loss, countable, largest_by_counts, window_loss
from deniable.errors import InvalidParameter

MOST_TRACKED = 64
UNIT = 1 << 30


@dataclass(frozen=True)
class KeptAnswer(Stream):
    """Randomized response twice, on k values: a first answer is drawn once for every value, a second one from it in every period.

    Law: for every value v that occurs, sum over kept answers a of first(v, a) times the product of second(a, y_t) over the periods
    with that value; the values' factors multiply. `permanent` is the level of the first layer, `epsilon` that of one report.
    Loss: people who never change lose exactly `reports(T)`, nearing `permanent` and never more. Between people who change at the
    same times, every further value costs `permanent` again (`same_times`), and that is what the ledger counts. When somebody
    changed is not hidden by a kept answer: it costs up to the fresh noise of every report, which grows with their number and is
    what `changing`, `window` and `lifetime` say. Streams that are short enough are worked out exactly.
    Source: Arcolezi, Couchot, Al Bouna and Xiao, "Improving the utility of locally differentially private protocols for
    longitudinal and multidimensional frequency estimates", 2022; Erlingsson, Pihur and Korolova, "RAPPOR", 2014.

    >>> weekly = KeptAnswer(52, size=5, epsilon=1, permanent=2)
    >>> weekly.reports(1).level <= 1, weekly.changing(0).level < 2, weekly.tracking() > 0
    (True, True, True)
    """

    size: int
    epsilon: EpsilonLike
    permanent: EpsilonLike

    def __post_init__(self) -> None:
        checked_periods(self.periods)
        object.__setattr__(self, "epsilon", Epsilon(self.epsilon))
        object.__setattr__(self, "permanent", Epsilon(self.permanent))
        if not 2 <= self.size <= 1 << 16:
            raise InvalidParameter("size must be a whole number from 2 to 65536")
        if not self.levels[0] < self.levels[1]:
            raise InvalidParameter("permanent must be above epsilon: a lifetime of reports tells more than a single one")
        _ = self.second  # refuses levels that the steps of the second layer cannot hold

    @property
    def levels(self) -> tuple[Epsilon, Epsilon]:
        """epsilon and permanent, exactly."""
        assert isinstance(self.epsilon, Epsilon)
        assert isinstance(self.permanent, Epsilon)
        return self.epsilon, self.permanent

    @cached_property
    def first(self) -> TwoLevel:
        """What is drawn once."""
        return TwoLevel(Singleton(self.size), UNIT, self.levels[1].floor(UNIT))

    @cached_property
    def second(self) -> TwoLevel:
        """What is drawn afresh: the largest weight with which one report stays within epsilon."""
        high, least, most = self.first.high, UNIT, UNIT
        while self.levels[0].allows(self._single(most, high)) and most < UNIT << 40:
            most *= 2
        while least < most:
            middle = (least + most + 1) // 2
            if self.levels[0].allows(self._single(middle, high)):
                least = middle
            else:
                most = middle - 1
        if least - UNIT < 1 << 6:
            raise InvalidParameter("epsilon is too small beside this size for a second layer; ask less often instead")
        return TwoLevel(Singleton(self.size), UNIT, least)

    def _single(self, second: int, first: int) -> Fraction:
        """The ratio of one report: both layers multiplied out."""
        own = first * second + (self.size - 1) * UNIT * UNIT
        other = first * UNIT + UNIT * second + (self.size - 2) * UNIT * UNIT
        return Fraction(own, other)

    @property
    def values(self) -> int:
        return self.size

    def start(self, coins: Coins) -> dict[str, Any]:
        # The key is not part of the law: it keeps values out of what is written to disk.
        return {"key": os.urandom(32).hex(), "kept": {}}

    def _tag(self, memory: dict[str, Any], value: int) -> str:
        return hmac.new(bytes.fromhex(memory["key"]), str(value).encode(), hashlib.sha256).hexdigest()

    def report(self, memory: dict[str, Any], period: int, value: int, coins: Coins) -> int:
        self.check(period, value)
        kept, tag = memory["kept"], self._tag(memory, value)
        if tag not in kept:
            kept[tag] = self.first.draw(value, coins)
        return self.second.draw(kept[tag], coins)

    def weight(self, values: Sequence[int], outputs: Sequence[Output]) -> int:
        first, second, weight = self.first, self.second, 1
        for value in range(self.size):
            mine = [y for x, y in zip(values, outputs, strict=True) if x == value]
            factors = (
                first.weight(value, kept) * math.prod(0 if y is None else second.weight(kept, y) for y in mine)
                for kept in range(self.size)
            )
            weight *= sum(factors)
        return weight

    @property
    def total(self) -> int:
        return int(self.first.total**self.size * self.second.total**self.periods)

    def shown(self, period: int) -> Sequence[Output]:
        return range(self.size)

    def price(self, memory: dict[str, Any], period: int, value: int) -> Fraction:
        """`permanent` for every value that was not kept yet: the level between people who change at the same times."""
        return Fraction(0) if self._tag(memory, value) in memory["kept"] else self.levels[1].exact

    def reports(self, count: int) -> Loss:
        """So many reports of one value against as many of another.

        With n_a reports of the answer a, the likelihood of v is high r**n_v + low (sum of r**n_a over the others), r being the
        ratio of the second layer. It grows against another value's with n_v, and is largest when all reports are v.
        """
        first, ratio = self.first, Fraction(self.second.high, self.second.low) ** count
        own = first.high * ratio + first.low * (self.size - 1)
        return Loss(own / (first.low * ratio + first.high + first.low * (self.size - 2)), True)

    def lifetime(self) -> Loss:
        return self._whole_life

    @cached_property
    def _whole_life(self) -> Loss:
        if countable(self.size, self.size, self.periods, alike=True):
            return Loss(largest_by_counts(self._rows, self.size, self.periods, alike=True), True)
        return self.fresh(self.periods)

    @cached_property
    def _rows(self) -> list[Weigh]:
        return [self._weigh(value) for value in range(self.size)]

    def _weigh(self, value: int) -> Weigh:
        """The weight of the reports of one value, by how often each was sent."""
        first, second = self.first, self.second

        def weigh(counts: Counts) -> int:
            sent = sum(counts)
            shown = (second.high**count * second.low ** (sent - count) for count in counts)
            return sum(first.weight(value, kept) * weight for kept, weight in enumerate(shown))

        return weigh

    def window(self, width: int) -> Loss:
        return window_loss(self._rows, self.size, self.periods, width, self.fresh(width), self.lifetime(), alike=True)

    def changing(self, changes: int) -> Loss:
        if changes == 0:
            return self.reports(self.periods)
        return changes_loss(self._rows, self.size, self.periods, changes, self.lifetime(), alike=True)

    def fresh(self, reports: int) -> Loss:
        """What so many reports of other values can change at the most: whatever is kept, a report is a mixture of second rows."""
        return Loss(power(self.second.max_ratio(), reports), False)

    def same_times(self, changes: int) -> Loss:
        """Between people who change at the same times, at most so often: the first layer's ratio for every value there can be."""
        if changes == 0:
            return self.reports(self.periods)
        return Loss(power(self.first.max_ratio(), min(self.size, changes + 1)), False)

    def tracking_bound(self, reports: int) -> Fraction:
        """By what may be kept: people whose kept answers all agree are as one; and one after another, each adds one fresh draw."""
        first, second = self.first, self.second
        own, other = Fraction(first.high, first.total), Fraction(first.low, first.total)
        agree = own**reports + (self.size - 1) * other**reports
        differ = 1 - own**2 - (self.size - 1) * other**2
        return min(1 - agree, (reports - 1) * differ * Fraction(second.high - second.low, second.total))

    def tracking(self) -> Fraction:
        """Two reports show one kept answer; those of two people with the value show two."""
        if self.size > MOST_TRACKED:
            raise InvalidParameter(f"size: tracking is worked out for at most {MOST_TRACKED} values")
        first, second = self.first, self.second
        kept = [Fraction(first.weight(0, answer), first.total) for answer in range(self.size)]
        chance = [[Fraction(second.weight(answer, y), second.total) for y in range(self.size)] for answer in range(self.size)]
        single = {y: sum((kept[a] * chance[a][y] for a in range(self.size)), Fraction(0)) for y in range(self.size)}
        joint = {
            (y, z): sum((kept[a] * chance[a][y] * chance[a][z] for a in range(self.size)), Fraction(0))
            for y in range(self.size)
            for z in range(self.size)
        }
        return linked(joint, single)
