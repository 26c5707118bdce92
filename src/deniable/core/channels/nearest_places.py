"""The listed places nearest to the true one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deniable.core.channels.neighbourhood import Neighbourhood
from deniable.errors import InvalidParameter

MOST_COORDINATE = 1 << 24
"""Squared distances of places within it fit 64 bits."""


@dataclass(frozen=True)
class NearestPlaceSets(Neighbourhood):
    """S_x = the `members` places nearest to place x, itself first; places equally far away by their number.

    `columns` and `rows` are the places' whole coordinates on a fine public grid.
    """

    columns: Sequence[int]
    rows: Sequence[int]
    members: int

    def __post_init__(self) -> None:
        for name in ("columns", "rows"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
            if not all(0 <= at <= MOST_COORDINATE for at in getattr(self, name)):
                raise InvalidParameter(f"{name} must lie between 0 and {MOST_COORDINATE}")
        if len(self.rows) != len(self.columns) or not 0 < self.members < len(self.rows):
            raise InvalidParameter("there must be one row and one column per place, and fewer members than places")

    @property
    def inputs(self) -> int:
        return len(self.columns)

    @property
    def outputs(self) -> int:
        return len(self.columns)

    def neighbours(self, index: int) -> list[int]:
        x, y = self.columns[index], self.rows[index]
        squares = [(c - x) ** 2 + (r - y) ** 2 for c, r in zip(self.columns, self.rows, strict=True)]
        squares[index] = -1
        return sorted(sorted(range(len(squares)), key=squares.__getitem__)[: self.members])

    def inside(self, index: int, j: int) -> int:
        """The j-th of the nearest places, in the order of numbers."""
        return self.neighbours(index)[j]

    def outside(self, index: int, j: int) -> int:
        """The j-th place, in order, that is not among the nearest."""
        near = self.neighbours(index)
        # near[i] - i places before near[i] are not among the nearest.
        return j + bisect_right([place - i for i, place in enumerate(near)], j)

    def compiled(self) -> dict[str, Any]:
        """The places and how many are favoured."""
        return {"set": "nearest-places", "columns": list(self.columns), "rows": list(self.rows), "members": self.members}
