"""A circle of cells cut into equal sectors: the sector that holds the true cell is favoured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deniable.core.channels.sets import SetSystem, Windows
from deniable.core.channels.two_level import TwoLevel
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class Sectors(SetSystem):
    """S_x = all cells of the sector that cell x lies in: randomized response on sectors, then any cell of the answer.

    >>> halves = Sectors(cells=6, sectors=2)
    >>> [halves.inside(4, j) for j in range(3)], [halves.outside(4, j) for j in range(3)]
    ([3, 4, 5], [0, 1, 2])
    """

    cells: int
    sectors: int

    def __post_init__(self) -> None:
        if self.sectors < 2 or self.cells % self.sectors:
            raise InvalidParameter("there must be at least two sectors, and the cells a multiple of them")

    @property
    def inputs(self) -> int:
        return self.cells

    @property
    def outputs(self) -> int:
        return self.cells

    @property
    def members(self) -> int:
        return self.cells // self.sectors

    def start(self, index: int) -> int:
        """The first cell of a cell's sector."""
        return index - index % self.members

    def contains(self, index: int, output: int) -> bool:
        return self.start(index) == self.start(output)

    def inside(self, index: int, j: int) -> int:
        return self.start(index) + j

    def outside(self, index: int, j: int) -> int:
        """The j-th cell after the sector, wrapping around."""
        return (self.start(index) + self.members + j) % self.cells

    def compiled(self) -> dict[str, Any]:
        return {"set": "sectors", "cells": self.cells, "sectors": self.sectors}


def as_window(channel: TwoLevel) -> tuple[int, TwoLevel]:
    """A block size and a window channel with the same law for inputs moved to the start of their block.

    A window is its own with blocks of one cell; sectors are windows that begin at the start of a sector.
    """
    sets = channel.sets
    if not isinstance(sets, Sectors):
        return 1, channel
    window = Windows(sets.cells, sets.cells, sets.members, 0, -sets.cells, sets.cells)
    return sets.members, TwoLevel(window, channel.low, channel.high)
