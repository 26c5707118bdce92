"""Laplace noise on a lattice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.channels.profile import Profile
from deniable.core.domains.interval import Interval
from deniable.core.exact.exponential import exp_floor
from deniable.core.exact.lattice import Grid
from deniable.core.exact.lattice import points as lattice_points
from deniable.core.mechanisms.numeric._clipped_noise import checked_points, clipped_noise, reach, unit_bits
from deniable.core.mechanisms.numeric_base import NumericMechanism
from deniable.core.mechanisms.reading import Affine


@dataclass(frozen=True, kw_only=True, repr=False)
class Laplace(NumericMechanism):
    """The value plus Laplace noise of scale width/epsilon, on a lattice of `points` steps per width.

    Law: distance d from the true point weighs e**(-epsilon d/points), in integers. Reports more than
    12/epsilon widths (at most 64) outside the domain are clipped there.
    Guarantee: epsilon-LDP, exactly the largest ratio of weights one domain width apart.
    Absolute error 1/epsilon, variance 2/epsilon**2 of the domain; windows do far better for one number.
    Cost: one draw, 15 bits on the wire at epsilon = 1.
    Source: Dwork, McSherry, Nissim and Smith 2006; on a lattice, Ghosh, Roughgarden and Sundararajan 2009.

    >>> Laplace(epsilon=1, points=16).certificate().holds
    True
    """

    points: int = 1024
    name: ClassVar[str] = "laplace"
    source: ClassVar[str] = "Dwork, McSherry, Nissim, Smith 2006"
    tasks: ClassVar[tuple[str, ...]] = ("mean", "distribution")
    slow: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_points(self.points, self.privacy, self.widths)

    @property
    def widths(self) -> int:
        """How many domain widths reports may lie outside."""
        return reach(self.privacy)

    @property
    def grid(self) -> Grid:
        """points + 1 points from end to end."""
        return lattice_points(self.points)

    def outer(self) -> list[int]:
        """The weights of the largest distances inside the margin."""
        unit = 1 << unit_bits(self.privacy, self.points, self.widths)
        return [exp_floor(unit, self.privacy.exact * j / self.points) for j in range(self.points, 0, -1)]

    def build(self) -> Profile:
        """Weights of distances, clipped at the margins."""
        return clipped_noise(self.outer(), self.widths, self.privacy)

    @cached_property
    def reading(self) -> Affine:
        """The reported point, in or outside the domain."""
        return Affine(Fraction(-self.widths), Fraction(1, self.points))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse lattice, a small epsilon and the default."""
        yield cls(domain=Interval(0, 1), epsilon=4, points=4)
        yield cls(domain=Interval(-1, 3), epsilon=0.5, points=16)
        yield cls(epsilon=1)
