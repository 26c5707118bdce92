"""Three numbers, unbiased: below, in the middle, above."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.channels.chain import Interpolated
from deniable.core.channels.table import Table
from deniable.core.domains.interval import Interval
from deniable.core.exact.epsilon import Epsilon
from deniable.core.exact.lattice import Grid, points
from deniable.core.exact.weights import two_level_weights
from deniable.core.mechanisms.numeric._two_ends import TwoEnds
from deniable.core.mechanisms.numeric._unbiased_window import fine_steps, unbiased_pair
from deniable.core.mechanisms.reading import Values


@dataclass(frozen=True, kw_only=True, repr=False)
class ThreeOutputs(TwoEnds):
    """Duchi's two numbers and a third one in the middle, which makes middle values less noisy.

    Law: on [-1, 1] the report is -C, 0 or C. At the middle, 0 has probability a and the others
    (1 - a)/2; at the ends, 0 has a/E, the near number (E - a)/(E + 1), the far one 1/E of that,
    E = e**epsilon; in between the probabilities are linear. a minimises the worst variance; up to
    epsilon = ln 2 it is 0 and this is Duchi's mechanism.
    Guarantee: epsilon-LDP, exactly the largest ratio in a table of nine integers.
    Worst variance on [0, 1]: 0.2500 at epsilon = 2, 0.0796 at 4.
    Cost: two draws, two bits on the wire.
    Source: Zhao et al., "Local differential privacy-based federated learning for IoT", 2021.

    >>> ThreeOutputs(epsilon=2).certificate().holds
    True
    """

    name: ClassVar[str] = "three-outputs"
    source: ClassVar[str] = "Zhao et al. 2021"
    tasks: ClassVar[tuple[str, ...]] = ("mean", "field")

    @property
    def grid(self) -> Grid:
        """A fine lattice of points with an even number of steps: the middle is one of them."""
        return points(2 * self.half)

    @property
    def half(self) -> int:
        """Steps from an end to the middle."""
        return max(self.domain.cells * fine_steps(self.domain.cells) // 2, 1)

    @cached_property
    def table(self) -> Table | None:
        """The laws at the lower end, the middle and the upper end; None when two numbers are better."""
        middle = best_middle(self.privacy)
        far, near = two_level_weights(1, 3, self.privacy)
        e = math.exp(float(self.privacy))
        zero_at_ends = math.floor(middle * (e + 1) / (e - middle) * far)
        if zero_at_ends == 0:
            return None
        total = far + near + zero_at_ends
        # Not above e**epsilon times the ends' weight, and the others not below the far one's.
        zero = min(self.privacy.floor(zero_at_ends), total - 2 * far)
        zero -= (total - zero) % 2
        side = (total - zero) // 2
        return Table([[near, zero_at_ends, far], [side, zero, side], [far, zero_at_ends, near]])

    def build(self) -> Interpolated:
        """Three rows (or two), entered between them."""
        return Interpolated(self.ends, 2 * self.half) if self.table is None else Interpolated(self.table, self.half)

    @cached_property
    def reading(self) -> Values:
        """The positions that make the mean exact."""
        if self.table is None:
            return unbiased_pair(self.ends)
        far, _, near = self.table.rows[2]
        reach = Fraction(self.table.total, 2 * (near - far))
        middle = Fraction(1, 2)
        return Values((middle - reach, middle, middle + reach))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse lattice, one with two numbers only, and the default."""
        yield cls(domain=Interval(0, 1, cells=4), epsilon=2)
        yield cls(domain=Interval(-1, 1, cells=100), epsilon=0.5)
        yield cls(epsilon=4)


def best_middle(epsilon: Epsilon) -> float:
    """a, the chance of the middle number at the middle of the domain, with the least worst variance.

    The best of a lattice, then of ever finer ones around it; a multiple of 2**-20.
    """
    e = math.exp(float(epsilon))
    if float(epsilon) <= math.log(2):
        return 0.0
    low, high = 0.0, e / (e + 2)
    for _ in range(8):
        tried = [low + (high - low) * i / 32 for i in range(33)]
        best = min(range(33), key=lambda i: _worst_variance(tried[i], e))
        low, high = tried[max(best - 1, 0)], tried[min(best + 1, 32)]
    return math.floor((low + high) / 2 * 2**20) / 2**20


def _worst_variance(a: float, e: float) -> float:
    """On [-1, 1]: C**2 (1 - a + a (E - 1) u/E) - u**2 is largest at a u between 0 and 1."""
    square = (e * (e + 1) / ((e - 1) * (e - a))) ** 2
    u = min(square * a * (e - 1) / (2 * e), 1)
    return square * (1 - a + a * (e - 1) * u / e) - u * u
