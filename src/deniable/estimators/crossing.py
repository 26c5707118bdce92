"""Where a bound that rises in steps passes a share: the outer end of where a quantile may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

STEPS = 384
"""The ends of quantiles are looked for on so many steps from one end of the domain to the other."""
ROUGH = 0.06
"""How exactly, of its distance from the middle, an end of a quantile is looked for."""


@dataclass(frozen=True, eq=False)
class RisingBound:
    """A side of the band of shares up to a step, which is worked out where it is asked for and kept."""

    work: Callable[[int], float]

    @cached_property
    def _known(self) -> dict[int, float]:
        return {0: 0.0, STEPS: 1.0}

    def at(self, number: int) -> float:
        """The bound up to a step."""
        if number not in self._known:
            self._known[number] = self.work(number)
        return self._known[number]

    def around(self, share: float, *, upper: bool) -> tuple[int, int]:
        """Two neighbouring known steps: at the first the bound is below the share, at the second it is not.

        Bounds may wiggle. The last such place is the one for an upper bound, which holds for all steps before too; the first
        is the one for a lower bound.
        """
        known = sorted(self._known)
        if upper:
            left = max((number for number in known[:-1] if self._known[number] < share), default=0)
            return left, next(number for number in known if number > left)
        right = min((number for number in known[1:] if self._known[number] >= share), default=STEPS)
        return next(number for number in reversed(known) if number < right), right


def crossing_step(share: float, middle: float, side: RisingBound, *, upper: bool) -> int:
    """The step at which a side of the band of shares up to a value passes a share.

    Straight lines between the two nearest known steps say where to look next, in turn with halves. An end that is far from
    the middle need not be known as exactly as a near one.
    """
    left, right = side.around(share, upper=upper)
    number = round(middle)
    for turn in range(STEPS):
        if right - left <= max(1, round(ROUGH * abs(middle - (left if upper else right)))):
            break
        number = min(max(number, left + 1), right - 1)
        left, right = (left, number) if side.at(number) >= share else (number, right)
        below, above = side.at(left), side.at(right)
        part = (share - below) / (above - below) if above > below and turn % 2 == 0 else 0.5
        number = left + round(part * (right - left))
    return left if upper else right
