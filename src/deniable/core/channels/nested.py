"""Windows inside windows: a general piecewise-constant channel around the true cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from deniable.core.channels.base import Channel
from deniable.core.channels.sets import Layers, slid_window
from deniable.core.randomness.coins import Coins
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class Nested(Channel):
    """Cells in the j-th window but not in the one before weigh weights[j]; all windows slide inward.

    `widths` are the growing (odd) numbers of cells of the windows; what no window covers has the last
    weight. Two weights make an ordinary window channel; m weights make 2m - 1 pieces.

    >>> list(Nested(7, widths=[1, 3], weights=[9, 3, 1]).row(0))
    [9, 3, 3, 1, 1, 1, 1]
    """

    cells: int
    widths: Sequence[int]
    weights: Sequence[int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "widths", tuple(self.widths))
        object.__setattr__(self, "weights", tuple(self.weights))
        if len(self.weights) != len(self.widths) + 1 or not self.widths:
            raise InvalidParameter("there must be at least one window, and one more weight than windows")
        if list(self.widths) != sorted(set(self.widths)) or not self.widths[0] > 0 or self.widths[-1] >= self.cells:
            raise InvalidParameter("window widths must increase and stay below the number of cells")
        if any(weight <= 0 for weight in self.weights):
            raise InvalidParameter("weights must be positive")

    @property
    def inputs(self) -> int:
        return self.cells

    @property
    def outputs(self) -> int:
        return self.cells

    @cached_property
    def _rings(self) -> list[int]:
        edges = [0, *self.widths, self.cells]
        return [edges[j + 1] - edges[j] for j in range(len(self.weights))]

    @cached_property
    def ring_ends(self) -> list[int]:
        """Running sums of the rings' weights, innermost first."""
        return list(accumulate(ring * weight for ring, weight in zip(self._rings, self.weights, strict=True)))

    @cached_property
    def total(self) -> int:
        """The same for every input: rings move, but keep their size."""
        return self.ring_ends[-1]

    def span(self, index: int, j: int) -> tuple[int, int]:
        """First cell and end of the j-th window (window -1 is empty, the last one is everything)."""
        if j < 0:
            middle = self.span(index, 0)[0]
            return middle, middle
        if j >= len(self.widths):
            return 0, self.cells
        start = slid_window(self.cells, self.widths[j]).start(index)
        return start, start + self.widths[j]

    def draw(self, index: int, coins: Coins) -> int:
        """The ring, then the cell of the ring: left part first."""
        drawn = coins.below(self.total)
        j = next(j for j, end in enumerate(self.ring_ends) if drawn < end)
        position = (drawn - (self.ring_ends[j - 1] if j else 0)) // self.weights[j]
        start, _ = self.span(index, j)
        hole_start, hole_end = self.span(index, j - 1)
        cell = start + position
        return cell if cell < hole_start else cell + hole_end - hole_start

    def weight(self, index: int, output: int) -> int:
        """The weight of the innermost window that holds the cell."""
        for j in range(len(self.widths)):
            start, end = self.span(index, j)
            if start <= output < end:
                return self.weights[j]
        return self.weights[-1]

    def layers(self) -> Layers:
        heights = (weight - outer for weight, outer in pairwise(self.weights))
        windows = (slid_window(self.cells, width) for width in self.widths)
        return Layers(self.weights[-1], tuple(zip(windows, heights, strict=True)))

    def max_ratio(self) -> Fraction:
        """Largest over smallest weight: as the input crosses the domain, the first cell meets every level."""
        return Fraction(max(self.weights), min(self.weights))

    def compiled(self) -> dict[str, Any]:
        return {"kind": "nested", "cells": self.cells, "widths": list(self.widths), "weights": list(self.weights)}
