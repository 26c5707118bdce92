"""A few keys out of many, each with a number: ratings, minutes per app, prices paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from deniable.core.domains.base import Domain, domain_from_recipe
from deniable.core.domains.interval import Interval
from deniable.core.domains.item_set import ItemSet, weighted_sets
from deniable.core.exact.combinations import members_of, rank_of
from deniable.core.exact.lattice import Grid, points
from deniable.errors import InvalidDomain, OutOfDomain

CELLS = 1 << 12
"""Into how many steps a number is rounded when the domain does not say."""


@dataclass(frozen=True, init=False, repr=False)
class KeyValue(Domain):
    """At most `at_most` of the keys, each with a number of the interval: `KeyValue(["app", "web"], Interval(0, 24), at_most=1)`.

    A value is a mapping from keys to numbers. A number goes to the nearest of `values.cells` + 1 points, both ends included.

    >>> minutes = KeyValue(["mail", "maps"], Interval(0, 60, cells=6), at_most=2)
    >>> minutes.size, minutes.decode(minutes.encode({"maps": 31}))
    (64, {'maps': 30.0})
    """

    keys: ItemSet
    values: Interval
    kind: ClassVar[str] = "key-value"
    starts: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """The first index of the maps of no key, one key and so on, and the number of all."""

    def __init__(self, keys: int | Sequence[str] | ItemSet, values: Interval | None = None, *, at_most: int | None = None) -> None:
        if not isinstance(keys, ItemSet):
            if at_most is None:
                raise InvalidDomain("at_most is missing: how many keys does a person have at most?")
            keys = ItemSet(keys, at_most=at_most)
        elif at_most not in (None, keys.at_most):
            raise InvalidDomain("at_most: the set of keys says another number")
        numbers = Interval(-1, 1, cells=CELLS) if values is None else values
        if not isinstance(numbers, Interval):
            raise InvalidDomain(f"values must be an Interval, got {type(values).__name__}")
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "values", numbers)
        levels = numbers.cells + 1
        starts = tuple(weighted_sets(keys.items.size, held - 1, levels) for held in range(keys.at_most + 2))
        object.__setattr__(self, "starts", starts)

    @property
    def grid(self) -> Grid:
        """Both ends of the interval, and equal steps between them."""
        return points(self.values.cells)

    @property
    def size(self) -> int:
        """How many maps from at most `at_most` keys to points there are."""
        return self.starts[-1]

    @property
    def at_most(self) -> int:
        return self.keys.at_most

    @property
    def labels(self) -> Sequence[int | str]:
        """The keys' names, or their numbers."""
        return self.keys.labels

    def pairs(self, index: int) -> list[tuple[int, int]]:
        """The keys of a map, by number, each with the point of its value."""
        held = next(held for held in range(self.at_most + 1) if index < self.starts[held + 1])
        rank, digits = divmod(index - self.starts[held], self.grid.size**held)
        levels = []
        for _ in range(held):
            digits, level = divmod(digits, self.grid.size)
            levels.append(level)
        return list(zip(members_of(rank, self.keys.items.size, held), reversed(levels), strict=True))

    def encode(self, value: Any) -> int:
        """By the number of keys, then which keys, then their values, the first key's first."""
        if not isinstance(value, Mapping):
            raise self.refuse("the value must be a mapping from keys to numbers to belong to")
        numbers = None
        try:
            places = {self.keys.items.encode(key): self.grid.index(self.values.position(number)) for key, number in value.items()}
            numbers = self.keys.numbers(list(value))
        except OutOfDomain:
            pass
        if numbers is None:
            raise self.refuse("the value has too many keys, unknown ones or numbers outside the interval, so it is outside")
        digits = 0
        for number in numbers:
            digits = digits * self.grid.size + places[number]
        return self.starts[len(numbers)] + rank_of(numbers) * int(self.grid.size ** len(numbers)) + digits

    def decode(self, index: int) -> dict[Any, float]:
        """The keys with the numbers their points stand for."""
        pairs = self.pairs(self.check_index(index))
        return {self.labels[key]: self.values.real(self.grid.position(point)) for key, point in pairs}

    def clip(self, value: Any) -> dict[Any, Any]:
        """The first `at_most` keys in the domain's order, their numbers moved into the interval; unknown keys are refused."""
        if not isinstance(value, Mapping):
            raise self.refuse("only a mapping from keys to numbers can be clipped to")
        return {key: self.values.clip(value[key]) for key in self.keys.clip(list(value))}

    def recipe(self) -> dict[str, Any]:
        """The keys with how many a person has at most, and the interval of the values."""
        return {"kind": self.kind, "keys": self.keys.recipe(), "values": self.values.recipe()}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> KeyValue:
        if set(fields) != {"keys", "values"}:
            raise InvalidDomain("a key-value recipe has 'keys' and 'values'")
        keys, values = domain_from_recipe(fields["keys"]), domain_from_recipe(fields["values"])
        if not isinstance(keys, ItemSet) or not isinstance(values, Interval):
            raise InvalidDomain("the keys of a key-value recipe are an item-set, its values an interval")
        return cls(keys, values)

    def __repr__(self) -> str:
        shown = repr(self.keys).removeprefix("ItemSet(").removesuffix(f", at_most={self.at_most})")
        return f"KeyValue({shown}, {self.values!r}, at_most={self.at_most})"
