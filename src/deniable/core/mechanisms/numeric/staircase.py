"""Staircase noise: flat steps one domain width long."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from deniable.core.mechanisms.numeric._clipped_noise import unit_bits
from deniable.core.mechanisms.numeric.laplace import Laplace


@dataclass(frozen=True, kw_only=True, repr=False)
class Staircase(Laplace):
    """The value plus staircase noise: the least absolute error among mechanisms that add noise.

    Law: distances up to g widths weigh e**epsilon times those of the next width, and so on outward;
    g = 1/(1 + e**(epsilon/2)) is the best choice for absolute error. Reports more than 12/epsilon
    widths (at most 64) outside the domain are clipped there.
    Guarantee: epsilon-LDP, exactly the largest ratio of two neighbouring steps.
    Absolute error h/(h**2 - 1) of the domain, h = e**(epsilon/2). Mechanisms that know the domain do better.
    Cost: one draw, 15 bits on the wire at epsilon = 1.
    Source: Geng and Viswanath, "The optimal mechanism in differential privacy", 2014.

    >>> Staircase(epsilon=1, points=16).certificate().holds
    True
    """

    name: ClassVar[str] = "staircase"
    source: ClassVar[str] = "Geng, Viswanath 2014"
    tasks: ClassVar[tuple[str, ...]] = ("mean", "distribution")
    slow: ClassVar[bool] = True

    def outer(self) -> list[int]:
        """The last two steps: the rest of the inner one, then the outermost."""
        # The first step has 2k + 1 of the 2 * points cells within one width.
        k = max(round(self.points / (1 + math.exp(float(self.privacy) / 2)) - 0.5), 0)
        unit = 1 << unit_bits(self.privacy, self.points, self.widths)
        return [self.privacy.floor(unit)] * (k + 1) + [unit] * (self.points - k - 1)
