"""One report in all, in a period that is drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.core.mechanisms.base import Mechanism
from deniable.core.randomness.coins import Coins
from deniable.core.streams.base import Loss, Output, Stream, checked_periods, outputs_of


@dataclass(frozen=True)
class RandomPeriod(Stream):
    """The device draws one of the periods once, in public, and reports in that one only, with all of epsilon.

    Loss: epsilon, for a window, for a lifetime and for any number of changes. Tracking: there is no second report to link.

    >>> from deniable.core import RandomizedResponse
    >>> year = RandomPeriod(365, RandomizedResponse(epsilon=1))
    >>> round(year.lifetime().level, 6), year.tracking()
    (1.0, Fraction(0, 1))
    """

    mechanism: Mechanism

    def __post_init__(self) -> None:
        checked_periods(self.periods)

    @property
    def values(self) -> int:
        return self.mechanism.channel.inputs

    def start(self, coins: Coins) -> dict[str, Any]:
        return {"period": coins.below(self.periods)}

    def report(self, memory: dict[str, Any], period: int, value: int, coins: Coins) -> Output:
        self.check(period, value)
        output = self.mechanism.channel.draw(value, coins)
        return output if period == memory["period"] else None

    def weight(self, values: Sequence[int], outputs: Sequence[Output]) -> int:
        spoken = [(x, y) for x, y in zip(values, outputs, strict=True) if y is not None]
        return self.mechanism.channel.weight(*spoken[0]) if len(spoken) == 1 else 0

    @property
    def total(self) -> int:
        return self.periods * self.mechanism.channel.total

    def shown(self, period: int) -> Sequence[Output]:
        return [None, *outputs_of(self.mechanism.channel)]

    def price(self, memory: dict[str, Any], period: int, value: int) -> Fraction:
        return self.mechanism.privacy.exact if period == memory["period"] else Fraction(0)

    def lifetime(self) -> Loss:
        return Loss(self.mechanism.channel.max_ratio(), True)

    def window(self, width: int) -> Loss:
        return self.lifetime()

    def changing(self, changes: int) -> Loss:
        return self.lifetime()

    def tracking(self) -> Fraction:
        return Fraction(0)
