"""One of k values, by number or by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from deniable.core.domains.base import Domain
from deniable.core.exact.numbers import as_index, show_fraction
from deniable.errors import InvalidDomain, OutOfDomain

MOST = 1 << 31
LISTED = 20
"""Names that an error lists at most."""


@dataclass(frozen=True, repr=False)
class Categories(Domain):
    """k categories: `Categories(5)` for 0 … 4, or `Categories(["red", "green"])` for names.

    >>> Categories(["red", "green"]).encode("green"), Categories(5).decode(3)
    (1, 3)
    """

    what: int | Sequence[str]
    labels: tuple[str, ...] | None = field(init=False, compare=True)
    count: int = field(init=False)
    kind: ClassVar[str] = "categories"

    def __post_init__(self) -> None:
        labels = None
        if isinstance(self.what, bool | str | bytes):
            raise InvalidDomain("categories must be given as a whole number or as a list of names")
        whole = as_index(self.what)
        if whole is not None:
            count = whole
        elif not isinstance(self.what, Iterable):
            raise InvalidDomain("categories must be given as a whole number or as a list of names")
        else:
            labels = tuple(self.what)
            count = len(labels)
            if not all(isinstance(label, str) for label in labels):
                raise InvalidDomain("the names of categories must be strings")
            if len(set(labels)) != count:
                raise InvalidDomain("the names of categories must differ from one another")
        if not 2 <= count <= MOST:
            raise InvalidDomain(f"there must be at least 2 and at most 2**31 categories, got {show_fraction(Fraction(count))}")
        object.__setattr__(self, "what", count if labels is None else labels)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "count", count)
        object.__setattr__(self, "_index", None if labels is None else {label: i for i, label in enumerate(labels)})

    @property
    def size(self) -> int:
        return self.count

    def encode(self, value: Any) -> int:
        """The number of a category."""
        positions: dict[str, int] | None = self.__dict__["_index"]
        if positions is not None:
            position = positions.get(value) if isinstance(value, str) else None
            if position is None:
                raise self.refuse("the value is not one of the names of")
            return position
        index = as_index(value)
        if index is None:
            raise self.refuse("the value must be a whole number to belong to")
        if not 0 <= index < self.count:
            raise self.refuse()
        return index

    def decode(self, index: int) -> int | str:
        """The category with this number."""
        self.check_index(index)
        return index if self.labels is None else self.labels[index]

    def clip(self, value: Any) -> Any:
        """The nearest number; names have no nearest, so an unknown one is refused."""
        if self.labels is not None:
            self.encode(value)
            return value
        whole = as_index(value)
        if whole is None:
            raise OutOfDomain(f"only whole numbers can be clipped to {self!r}")
        return min(max(whole, 0), self.count - 1)

    @property
    def remedy(self) -> str:
        """Names have no nearest one that could be named without hinting at the value, so all of them are listed."""
        if self.labels is None:
            return super().remedy
        # The repr lists up to eight already; the nearest name alone would betray what was typed.
        listed = f": {', '.join(self.labels[:LISTED])}" if self.count > 8 else ""
        more = f" and {self.count - LISTED} more" if self.count > LISTED else ""
        return f"Write one of its names exactly, capitals and spaces included{listed}{more}"

    def recipe(self) -> dict[str, Any]:
        """The number of categories, or their names."""
        return {"kind": self.kind, "labels": list(self.labels)} if self.labels else {"kind": self.kind, "size": self.count}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Categories:
        if set(fields) not in ({"size"}, {"labels"}):
            raise InvalidDomain("a categories recipe has either 'size' or 'labels'")
        return cls(next(iter(fields.values())))

    def __repr__(self) -> str:
        if self.labels is None:
            return f"Categories({self.count})"
        return (
            f"Categories({list(self.labels)!r})" if self.count <= 8 else f"Categories([{self.labels[0]!r}, … {self.count} names])"
        )
