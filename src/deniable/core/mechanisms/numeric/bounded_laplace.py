"""Laplace noise, normalised again inside the domain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from deniable.core.channels.table import Table, level_rows
from deniable.core.domains.interval import Interval
from deniable.core.exact.exponential import exp_floor
from deniable.core.exact.lattice import Grid, cells, check_count
from deniable.core.mechanisms.numeric_base import NumericMechanism
from deniable.errors import InvalidParameter

MOST_POINTS = 2048
UNIT, TOTAL = 1 << 64, 1 << 62
SHRINKING = (Fraction(0), Fraction(1, 1 << 40), Fraction(1, 1 << 20), Fraction(1, 1 << 10), Fraction(1, 2))


@dataclass(frozen=True, kw_only=True, repr=False)
class BoundedLaplace(NumericMechanism):
    """Laplace noise that never leaves the domain: the density is cut and normalised for every value.

    Law: on `points` cells, cell y weighs e**(-epsilon |y - x|/points) divided by the sum of its row.
    Guarantee: epsilon-LDP, exactly the largest ratio in the table of weights.
    Worst absolute error on [0, 1]: 0.4180 at epsilon = 1, 0.2313 at 4.
    Cost: one draw, 8 bits on the wire; a table of points**2 integers.
    Source: Holohan et al. 2020. The dissertation prints a constant normaliser, which does not integrate to 1.

    >>> BoundedLaplace(epsilon=1, points=8).certificate().holds
    True
    """

    points: int = 256
    name: ClassVar[str] = "bounded-laplace"
    source: ClassVar[str] = "Holohan, Antonatos, Braghin, Mac Aonghusa 2020; the dissertation prints another normaliser"
    tasks: ClassVar[tuple[str, ...]] = ("distribution",)
    slow: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if check_count("points", self.points) > MOST_POINTS:
            raise InvalidParameter(f"points must be at most {MOST_POINTS}: the table has points**2 weights")

    @property
    def grid(self) -> Grid:
        return cells(self.points)

    def build(self) -> Table:
        """One row per cell, all with the same total."""
        for shrink in SHRINKING:
            table = self._rows_at(self.privacy.exact * (1 - shrink))
            ratio = table.max_ratio()
            # Rounding can spend a hair more than epsilon; then noise for a hair less is used.
            if ratio is not None and self.privacy.allows(ratio):
                return table
        raise InvalidParameter(f"epsilon={self.privacy} is too small for a table of {self.points} points; use fewer points")

    def _rows_at(self, epsilon: Fraction) -> Table:
        n = self.points
        by_distance = [exp_floor(UNIT, epsilon * (n - 1 - d) / n) for d in range(n)]
        return level_rows([[by_distance[abs(y - x)] for y in range(n)] for x in range(n)], TOTAL)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse lattice, a shifted domain and the default."""
        yield cls(epsilon=1, points=8)
        yield cls(domain=Interval(-1, 3), epsilon=0.1, points=50)
        yield cls(epsilon=2)
