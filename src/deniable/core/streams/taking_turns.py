"""One report in every so many periods: everyone has a turn, and nobody reports twice in a window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.core.mechanisms.base import Mechanism
from deniable.core.randomness.coins import Coins
from deniable.core.streams.base import Loss, Output, Stream, checked_periods, outputs_of, power
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class TakingTurns(Stream):
    """The device draws one of `turns` turns once, in public, and reports in every `turns`-th period, with all of epsilon.

    Law: turn g with probability 1/turns; in periods g, g + turns, … a fresh report, else silence.
    Loss: a window of w periods has at most ceil(w / turns) reports; a lifetime has ceil(periods / turns). This is the population
    division of LDP-IDS (LPU; LSP is the same with everyone in one turn), which has the error of n / turns people at all of
    epsilon instead of n people at epsilon / turns: less, whenever the error falls faster than 1/epsilon.
    Tracking: 0, by what reports say. When they come, a person's reports keep their distance: turns hide nobody.
    Source: Ren, Shi, Yu, Wang, Wu, Yao and Liu, "LDP-IDS: local differential privacy for infinite data streams", 2022.

    >>> from deniable.core import RandomizedResponse
    >>> month = TakingTurns(30, RandomizedResponse(epsilon=1), turns=7)
    >>> round(month.window(7).level, 6), round(month.lifetime().level, 6)
    (1.0, 5.0)
    """

    mechanism: Mechanism
    turns: int

    def __post_init__(self) -> None:
        checked_periods(self.periods)
        if isinstance(self.turns, bool) or not isinstance(self.turns, int) or not 1 <= self.turns <= self.periods:
            raise InvalidParameter("turns must be a whole number from 1 to the number of periods")

    @property
    def values(self) -> int:
        return self.mechanism.channel.inputs

    def start(self, coins: Coins) -> dict[str, Any]:
        return {"turn": coins.below(self.turns)}

    def mine(self, memory: dict[str, Any], period: int) -> bool:
        """Is this a period of the device's own?"""
        return bool(period % self.turns == memory["turn"])

    def report(self, memory: dict[str, Any], period: int, value: int, coins: Coins) -> Output:
        self.check(period, value)
        # Drawn in every period, so that the time a device takes does not depend on its turn.
        output = self.mechanism.channel.draw(value, coins)
        return output if self.mine(memory, period) else None

    def weight(self, values: Sequence[int], outputs: Sequence[Output]) -> int:
        channel, every = self.mechanism.channel, 0
        for turn in range(self.turns):
            own = range(turn, self.periods, self.turns)
            if all((outputs[period] is not None) == (period in own) for period in range(self.periods)):
                spoken = math.prod(channel.weight(values[period], outputs[period] or 0) for period in own)
                every += spoken * channel.total ** (self._most - len(own))
        return every

    @property
    def _most(self) -> int:
        return -(-self.periods // self.turns)

    @property
    def total(self) -> int:
        return int(self.turns * self.mechanism.channel.total**self._most)

    def shown(self, period: int) -> Sequence[Output]:
        return [None, *outputs_of(self.mechanism.channel)]

    def price(self, memory: dict[str, Any], period: int, value: int) -> Fraction:
        return self.mechanism.privacy.exact if self.mine(memory, period) else Fraction(0)

    def lifetime(self) -> Loss:
        return self.window(self.periods)

    def window(self, width: int) -> Loss:
        """The turn is public, so the loss is that of the turn with the most reports in the window."""
        return Loss(power(self.mechanism.channel.max_ratio(), -(-min(width, self.periods) // self.turns)), True)

    def changing(self, changes: int) -> Loss:
        return self.lifetime()

    def tracking(self) -> Fraction:
        return Fraction(0)
