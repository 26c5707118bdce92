"""A whole trajectory: the same mechanism at every place, with an exact account of what all of it spends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from deniable.core.channels.product import undigits
from deniable.core.channels.steps import Steps
from deniable.core.domains.base import Domain
from deniable.core.domains.interval import Interval
from deniable.core.domains.plane import Rectangle
from deniable.core.domains.trajectory import Trajectory
from deniable.core.exact.epsilon import LARGEST, Epsilon, EpsilonLike
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.registry import mechanism_class, mechanism_from_recipe
from deniable.errors import InvalidParameter

PER = ("location", "trajectory")


@dataclass(frozen=True, kw_only=True, repr=False)
class TrajectoryMechanism(Mechanism):
    """A trajectory, place by place: `step` is the mechanism of one place, and `epsilon` is the sum over all places.

    Law: every place by the step's law. With `tracs-d` the reference of a place is the report before it (the lattice point
    nearest to it), and the step's own reference begins.
    Guarantee: epsilon-LDP for whole trajectories of this length, by exact addition; each place alone has the step's level.
    Left out, `step` is `nearest-cells` with an equal share.
    Cost: the step's, for every place.
    Source: dissertation, Theorems 12 and 14.

    >>> square = Rectangle(Interval(0, 1, cells=64), Interval(0, 1, cells=64))
    >>> walk = TrajectoryMechanism.divide("tracs-d", square, length=5, epsilon=2, epsilon_per="location")
    >>> walk.epsilon, walk.step.epsilon, walk.certificate().holds
    (Epsilon(10), Epsilon(2), True)
    """

    domain: Trajectory = Trajectory(Rectangle(), length=2)
    step: Mechanism = None  # type: ignore[assignment]
    name: ClassVar[str] = "trajectory"
    family: ClassVar[str] = "spatial"
    source: ClassVar[str] = "Zheng, Hu 2026a; dissertation, Theorems 12 and 14"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Trajectory,)

    def __post_init__(self) -> None:
        super().__post_init__()
        step: Any = self.step
        if step is None:
            step = mechanism_class("nearest-cells")(domain=self.domain.space, epsilon=self._share)
        if isinstance(step, dict):
            step = mechanism_from_recipe(step)
        if not isinstance(step, Mechanism) or step.delta != 0 or not step.protects_all:
            raise InvalidParameter("step must be a purely private mechanism of one place")
        if step.domain != self.domain.space:
            raise InvalidParameter("step must have the trajectory's space as its domain")
        if step.privacy.exact * self.domain.length != self.privacy.exact:
            raise InvalidParameter("epsilon must be exactly the length times the step's; use TrajectoryMechanism.divide")
        object.__setattr__(self, "step", step)

    @property
    def _share(self) -> Epsilon:
        return self.privacy.times(Fraction(1, self.domain.length))

    @classmethod
    def divide(
        cls, name: str, space: Domain, *, length: int, epsilon: EpsilonLike, epsilon_per: str = "location", **options: Any
    ) -> Self:
        """The mechanism `name` at each of `length` places; epsilon is spent per location or per whole trajectory."""
        domain, given = Trajectory(space, length), Epsilon(epsilon)
        if epsilon_per not in PER:
            raise InvalidParameter("epsilon_per must be 'location' or 'trajectory'")
        total = given.exact * (length if epsilon_per == "location" else 1)
        if total > LARGEST:
            raise InvalidParameter(
                f"epsilon: {length} places spend more than {LARGEST} together, which protects no trajectory as a whole; "
                "protect each place: deniable.studies.trajectories.perturb"
            )
        step = mechanism_class(name)(domain=space, epsilon=Epsilon(total / length, allow_large=True), **options)
        return cls(domain=domain, epsilon=Epsilon(total, allow_large=True), step=step)

    @property
    def lifetime(self) -> Fraction:
        """All places' lifetimes together."""
        return self.step.lifetime * self.domain.length

    def build(self) -> Steps:
        """The step's channel, as often as there are places."""
        return Steps(self.step.channel, self.domain.length)

    def encode(self, value: Any) -> int:
        """The mixed-radix number of the places' inputs, which may be finer than the space's own cells."""
        inputs = [self.step.encode(place) for place in self.domain.steps(value)]
        return undigits(inputs, [self.step.channel.inputs] * self.domain.length)

    def decode(self, output: int) -> list[Any]:
        """Every place as the step reads it."""
        self.channel.check(0, output)
        return self.step.decode_walk(self.channel.split_output(output))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two places on a tiny grid, a chained walk on a tinier one, and walks of three places."""
        yield cls(domain=Trajectory(Rectangle(Interval(cells=3), Interval(cells=3)), 2), epsilon=2)
        tiny = Rectangle(Interval(0, 1, cells=2), Interval(0, 1, cells=3))
        yield cls.divide("tracs-d", tiny, length=2, epsilon=1, direction_cells=8, distance_cells=4)
        street = Rectangle(Interval(0, 2, cells=20), Interval(0, 1, cells=10))
        small = {"direction_cells": 16, "distance_cells": 8}
        yield cls.divide("tracs-d", street, length=3, epsilon=6, epsilon_per="trajectory", split="published", **small)
        yield cls.divide("tracs-c", street, length=3, epsilon=2)
