"""A few out of many: what a person ticked, owns or visited."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from deniable.core.domains.base import Domain
from deniable.core.domains.categories import Categories
from deniable.core.exact.combinations import count_up_to, members_of, rank_of
from deniable.core.exact.numbers import as_index
from deniable.errors import InvalidDomain, OutOfDomain

MOST_ITEMS = 1 << 16
MOST_HELD = 64


@dataclass(frozen=True, init=False, repr=False)
class ItemSet(Domain):
    """A set of at most `at_most` of the items, none included: `ItemSet(["bus", "car", "bike"], at_most=2)`.

    A value is a list, tuple or set that names every item once; `ItemSet(50, at_most=3)` has the items 0 … 49.
    Sets are numbered by size, then in the order of their binary numbers.

    >>> travel = ItemSet(["bus", "car", "bike"], at_most=2)
    >>> travel.size, travel.encode(["bike", "bus"]), travel.decode(0)
    (7, 5, [])
    """

    items: Categories
    at_most: int
    kind: ClassVar[str] = "item-set"
    starts: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """The first index of the sets of no item, one item and so on, and the number of all."""

    def __init__(self, items: int | Sequence[str] | Categories, *, at_most: int) -> None:
        listed = items if isinstance(items, Categories) else Categories(items)
        most = as_index(at_most)
        if listed.size > MOST_ITEMS:
            raise InvalidDomain(f"items: there may be at most {MOST_ITEMS}")
        if most is None or isinstance(at_most, bool) or not 1 <= most <= min(listed.size, MOST_HELD):
            raise InvalidDomain(f"at_most must be a whole number from 1 to the number of items, at most {MOST_HELD}")
        object.__setattr__(self, "items", listed)
        object.__setattr__(self, "at_most", most)
        object.__setattr__(self, "starts", tuple(count_up_to(listed.size, held - 1) for held in range(most + 2)))

    @property
    def size(self) -> int:
        """How many sets there are."""
        return self.starts[-1]

    @property
    def labels(self) -> Sequence[int | str]:
        """The items' names, or their numbers."""
        return self.items.labels or range(self.items.size)

    def members(self, index: int) -> list[int]:
        """The numbers of the items in the set with this index, in growing order."""
        held = next(held for held in range(self.at_most + 1) if index < self.starts[held + 1])
        return members_of(index - self.starts[held], self.items.size, held)

    def index_of(self, members: Sequence[int]) -> int:
        """The index of a set, from its items' numbers in growing order."""
        return self.starts[len(members)] + rank_of(members)

    def numbers(self, value: Any) -> list[int]:
        """The numbers of a value's items, in growing order; refuses what is not a set of items."""
        if not isinstance(value, list | tuple | set | frozenset):
            raise self.refuse("the value must be a list or a set of items to belong to")
        if len(value) > self.at_most:
            raise self.refuse("the value has too many items, so it is outside")
        numbers = []
        for item in value:
            try:
                number = self.items.encode(item)
            except OutOfDomain:
                number = None
            if number is None:
                break
            numbers.append(number)
        if len(numbers) < len(value) or len(set(numbers)) < len(numbers):
            raise self.refuse("the value names an item twice or one that is not one of the items of")
        return sorted(numbers)

    def encode(self, value: Any) -> int:
        return self.index_of(self.numbers(value))

    def decode(self, index: int) -> list[int | str]:
        """The items of a set, in the domain's order."""
        return [self.labels[number] for number in self.members(self.check_index(index))]

    def clip(self, value: Any) -> list[Any]:
        """The first `at_most` of the value's items, in the domain's order; unknown items are refused."""
        if not isinstance(value, list | tuple | set | frozenset):
            raise self.refuse("only a list or a set of items can be clipped to")
        try:
            numbers = sorted({self.items.encode(item) for item in value})
        except OutOfDomain:
            numbers = None
        if numbers is None:
            raise self.refuse("the value names something that is not one of the items of")
        return [self.labels[number] for number in numbers[: self.at_most]]

    def recipe(self) -> dict[str, Any]:
        """The items, and how many a person has at most."""
        return {"kind": self.kind, "items": self.items.recipe(), "at_most": self.at_most}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> ItemSet:
        if set(fields) != {"items", "at_most"} or fields["items"].get("kind") != Categories.kind:
            raise InvalidDomain("an item-set recipe has 'items', which are categories, and 'at_most'")
        return cls(
            Categories.from_fields({name: part for name, part in fields["items"].items() if name != "kind"}),
            at_most=fields["at_most"],
        )

    def __repr__(self) -> str:
        shown = repr(self.items).removeprefix("Categories(").removesuffix(")")
        return f"ItemSet({shown}, at_most={self.at_most})"


def weighted_sets(size: int, most: int, levels: int) -> int:
    """How many sets of at most `most` items there are when every item in a set has one of `levels` values."""
    return sum(math.comb(size, held) * levels**held for held in range(most + 1))
