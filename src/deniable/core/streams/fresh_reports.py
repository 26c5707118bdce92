"""A fresh report in every period."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.core.mechanisms.base import Mechanism
from deniable.core.randomness.coins import Coins
from deniable.core.streams.base import Loss, Output, Stream, checked_periods, outputs_of, power


@dataclass(frozen=True)
class FreshReports(Stream):
    """Every period a report of its own, drawn by `mechanism`: what "ask again" means without a memo.

    Loss: the mechanism's ratio for every period in which two rows of values differ, exactly. People who never change lose as
    much as anyone. With a w-th of epsilon a period, any window of w periods costs epsilon (LBU of LDP-IDS).
    Tracking: 0. Reports of one person are no more alike than those of two people with the same value.

    >>> from deniable.core import RandomizedResponse
    >>> week = FreshReports(7, RandomizedResponse(epsilon="1/7"))
    >>> round(week.lifetime().level, 6), round(week.window(2).level, 6)
    (1.0, 0.285714)
    """

    mechanism: Mechanism

    def __post_init__(self) -> None:
        checked_periods(self.periods)

    @property
    def values(self) -> int:
        return self.mechanism.channel.inputs

    def start(self, coins: Coins) -> dict[str, Any]:
        return {}

    def report(self, memory: dict[str, Any], period: int, value: int, coins: Coins) -> int:
        self.check(period, value)
        return self.mechanism.channel.draw(value, coins)

    def weight(self, values: Sequence[int], outputs: Sequence[Output]) -> int:
        channel = self.mechanism.channel
        return math.prod(0 if y is None else channel.weight(x, y) for x, y in zip(values, outputs, strict=True))

    @property
    def total(self) -> int:
        return int(self.mechanism.channel.total**self.periods)

    def shown(self, period: int) -> Sequence[Output]:
        return outputs_of(self.mechanism.channel)

    def price(self, memory: dict[str, Any], period: int, value: int) -> Fraction:
        return self.mechanism.privacy.exact

    def lifetime(self) -> Loss:
        return self.window(self.periods)

    def window(self, width: int) -> Loss:
        return Loss(power(self.mechanism.channel.max_ratio(), min(width, self.periods)), True)

    def changing(self, changes: int) -> Loss:
        """That of a lifetime: two people who never change may differ in every period."""
        return self.lifetime()

    def tracking(self) -> Fraction:
        return Fraction(0)
