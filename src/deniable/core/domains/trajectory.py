"""A path: a fixed number of places in one space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from deniable.core.domains.base import Domain, domain_from_recipe
from deniable.errors import InvalidDomain, OutOfDomain


@dataclass(frozen=True)
class Trajectory(Domain):
    """`length` places, in order, each in `space`.

    >>> from deniable.core import Points
    >>> Trajectory(Points([(0, 0), (1, 1)]), length=2).encode([(1, 1), (0, 0)])
    2
    """

    space: Domain
    length: int
    kind: ClassVar[str] = "trajectory"

    def __post_init__(self) -> None:
        if not isinstance(self.space, Domain):
            raise InvalidDomain("space must be a domain")
        if isinstance(self.length, bool) or not isinstance(self.length, int) or not 1 <= self.length <= 1 << 20:
            raise InvalidDomain("length must be a whole number from 1 to 2**20")

    @property
    def size(self) -> int:
        """The space's size to the power of the length."""
        return int(self.space.size**self.length)

    def steps(self, value: Any) -> Sequence[Any]:
        """The places of a value; refuses another length."""
        if isinstance(value, str | bytes) or not hasattr(value, "__len__"):
            raise OutOfDomain("the value must be a sequence of places")
        if len(value) != self.length:
            raise OutOfDomain(f"the trajectory must have exactly {self.length} places")
        return list(value)

    def encode(self, value: Any) -> int:
        """Mixed-radix index, first place first."""
        index = 0
        for place in self.steps(value):
            index = index * self.space.size + self.space.encode(place)
        return index

    def decode(self, index: int) -> list[Any]:
        """The trajectory with this index."""
        self.check_index(index)
        places = []
        for _ in range(self.length):
            index, digit = divmod(index, self.space.size)
            places.append(self.space.decode(digit))
        return places[::-1]

    def clip(self, value: Any) -> list[Any]:
        """Every place clipped to the space."""
        return [self.space.clip(place) for place in self.steps(value)]

    def recipe(self) -> dict[str, Any]:
        return {"kind": self.kind, "space": self.space.recipe(), "length": self.length}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Trajectory:
        if set(fields) != {"space", "length"}:
            raise InvalidDomain("a trajectory recipe has 'space' and 'length'")
        return cls(domain_from_recipe(fields["space"]), fields["length"])
