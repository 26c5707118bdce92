"""A place on the globe: longitude on its circle, latitude on its interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.domains.base import Domain
from deniable.core.domains.interval import Interval
from deniable.core.domains.sphere import Sphere
from deniable.core.exact.numbers import Number
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.numeric._best_window import loss_exponent
from deniable.core.mechanisms.spatial._coordinates import CoordinateMechanism, coordinate_part


@dataclass(frozen=True, kw_only=True, repr=False)
class TraCSCSphere(CoordinateMechanism):
    """A longitude and a latitude near the true ones; the date line is not a border.

    Law: two independent draws with half of epsilon each, a wrapped window on the longitude's circle and a slid window on
    the latitude's interval; `circle` and `axis` name other mechanisms.
    Guarantee: epsilon-LDP, by exact addition of the two halves.
    A degree of longitude shrinks toward the poles, and the windows do not know it. For a city, project to metres and use
    `nearest-cells` or `tracs-c`.
    Cost: two draws, 26 bits on the wire.
    Source: dissertation, Section 6.2.5.

    >>> TraCSCSphere(epsilon=6).certificate().holds
    True
    """

    domain: Sphere = Sphere()
    circle: str = "circular-window"
    axis: str = "window"
    loss_exponent: Number = Fraction(3, 2)
    name: ClassVar[str] = "tracs-c-sphere"
    source: ClassVar[str] = "Zheng, Hu 2026a; dissertation, Section 6.2.5; the loss exponent is this project's"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Sphere,)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "loss_exponent", loss_exponent(self.loss_exponent))
        assert self.parts  # made now: a name that is no such mechanism is refused

    @cached_property
    def parts(self) -> dict[str, Mechanism]:
        """Latitude and longitude, with half of epsilon each."""
        half = self.privacy.times(Fraction(1, 2))
        return {
            "y": coordinate_part("axis", self.axis, self.domain.latitudes, half, self.loss_exponent),
            "x": coordinate_part("circle", self.circle, self.domain.circle, half, self.loss_exponent),
        }

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse globe, a band around the equator with the published windows, and the default."""
        yield cls(domain=Sphere(Interval(-90, 90, cells=6), cells=12), epsilon=1)
        yield cls(domain=Sphere(Interval(-30, 30, cells=40), cells=240), epsilon=5, loss_exponent=1)
        yield cls(epsilon=8)
