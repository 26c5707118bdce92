"""The Purkayastha distribution: Laplace noise by arc length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.profile import Profile, wrapped
from deniable.core.domains.circle import Circle
from deniable.core.exact.exponential import exp_floor
from deniable.core.exact.lattice import Grid, cells, check_count
from deniable.core.mechanisms.numeric_base import CircularMechanism
from deniable.errors import InvalidParameter

MOST_POINTS = 1 << 16
UNIT_BITS = 36


@dataclass(frozen=True, kw_only=True, repr=False)
class Purkayastha(CircularMechanism):
    """A direction whose density falls exponentially with the angle from the true one.

    Law: on `points` cells, angle d weighs e**(-epsilon d/pi), in integers.
    Guarantee: epsilon-LDP, exactly ln of the true cell's weight over the opposite cell's.
    Absolute error pi/epsilon - pi/(e**epsilon - 1); `circular-ogpm` is better at every epsilon.
    Cost: one draw, 10 bits on the wire.
    Source: Weggenmann and Kerschbaum, "Differential privacy for directional data", CCS 2021.

    >>> Purkayastha(epsilon=1, points=36).certificate().holds
    True
    """

    points: int = 1024
    name: ClassVar[str] = "purkayastha"
    source: ClassVar[str] = "Weggenmann, Kerschbaum 2021"
    tasks: ClassVar[tuple[str, ...]] = ("distribution",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if check_count("points", self.points) > MOST_POINTS:
            raise InvalidParameter(f"points must be at most {MOST_POINTS}")

    @property
    def grid(self) -> Grid:
        """`points` cells around the circle."""
        return cells(self.points)

    def build(self) -> Profile:
        """Weights from the opposite cell inward: the largest is at most e**epsilon times the smallest."""
        exact, n = self.privacy.exact, self.points
        # A small epsilon needs fine weights: neighbours must differ.
        unit = 1 << max(UNIT_BITS, 20 + int(n / exact).bit_length())
        return wrapped([exp_floor(unit, exact * (n - 2 * d) / n) for d in range(n // 2 + 1)], cells=n)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse circle, degrees and the default."""
        yield cls(domain=Circle(), epsilon=1, points=9)
        yield cls(domain=Circle(360), epsilon=0.5, points=72)
        yield cls(epsilon=4)
