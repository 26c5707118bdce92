"""A place as direction and share of the way to the border, seen from a public reference: two windows, one report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.core.channels.base import Channel, column_ratio
from deniable.core.channels.directions import Directions
from deniable.core.channels.two_level import TwoLevel
from deniable.core.randomness.coins import Coins
from deniable.errors import NotSupported

MOST_SIDE = 1 << 13
MOST_DISTANCES = 1 << 12
"""Larger lattices would not fit the 64-bit integers of the batch kernels."""
FEW_WEIGHTS = 1 << 16

Reference = tuple[int, int]
"""A lattice point in half cells from the lower left corner: cell middles are odd, cell borders even."""


@dataclass(frozen=True)
class RectangleView:
    """A rectangle of columns by rows cells, seen from a reference point in it (or on its border)."""

    columns: int
    rows: int
    reference: Reference

    @property
    def inputs(self) -> int:
        return self.columns * self.rows

    def polar(self, index: int, directions: Directions, distances: int) -> tuple[int, int]:
        """Direction cell and distance cell of an input, by integers only.

        The share of the way to the border is the larger one of the two axes' shares (the slab rule), so the direction's
        cosine is never needed. The reference itself goes to direction 0, distance 0.
        """
        row, column = divmod(index, self.columns)
        across, up = 2 * column + 1 - self.reference[0], 2 * row + 1 - self.reference[1]
        right, top = room(across, self.reference[0], self.columns), room(up, self.reference[1], self.rows)
        # A side with no room has no cells beyond it: the step is then 0, and so is its share.
        share = max(abs(across) * distances // max(right, 1), abs(up) * distances // max(top, 1))
        return directions.cell(across, up), share

    def border(self, across: int, up: int) -> tuple[int, int]:
        """How many of this vector, which must not be zero, reach the border from the reference: a numerator and a denominator."""
        x, y = self.reference
        right, top = room(across, x, self.columns), room(up, y, self.rows)
        # The side that is reached first: compare right / |across| with top / |up| without dividing.
        sideways = across != 0 and right * abs(up) <= top * abs(across)
        return (right, abs(across)) if sideways else (top, abs(up))

    def seen_from(self, reference: Reference) -> RectangleView:
        """The same rectangle from another point."""
        return replace(self, reference=reference)

    def compiled(self) -> dict[str, Any]:
        """The lattice and the reference."""
        return {"view": "rectangle", "columns": self.columns, "rows": self.rows, "reference": list(self.reference)}


@dataclass(frozen=True)
class DiscView:
    """The cells of a square grid whose middles lie in the inscribed disc, seen from its center."""

    cells: int
    inside: Sequence[int]

    @property
    def inputs(self) -> int:
        """The cells of the disc."""
        return len(self.inside)

    @property
    def columns(self) -> int:
        """Cells across the square."""
        return self.cells

    @property
    def rows(self) -> int:
        """Cells up the square."""
        return self.cells

    @property
    def reference(self) -> Reference:
        """The center of the square, in half cells."""
        return self.cells, self.cells

    def border(self, across: int, up: int) -> tuple[int, int]:
        """Not a fraction: the way to the border of a disc is a root."""
        raise NotSupported("a disc is seen from its center only; walks need a rectangle or a parallelogram")

    def seen_from(self, reference: Reference) -> DiscView:
        """The same disc, whatever the reference: it is seen from its center only."""
        return self

    def polar(self, index: int, directions: Directions, distances: int) -> tuple[int, int]:
        """Direction cell and distance cell of an input: an integer root instead of a real one."""
        row, column = divmod(self.inside[index], self.cells)
        across, up = 2 * column + 1 - self.cells, 2 * row + 1 - self.cells
        share = math.isqrt(distances**2 * (across**2 + up**2) // self.cells**2)
        return directions.cell(across, up), min(share, distances - 1)

    def compiled(self) -> dict[str, Any]:
        """The grid; the disc is the one inscribed in it."""
        return {"view": "disc", "cells": self.cells}


@dataclass(frozen=True)
class DirectionDistance(Channel):
    """Direction and distance cell of the input, each through its own two-level channel.

    Output = direction cell * distance cells + distance cell. The weights multiply.
    """

    view: RectangleView | DiscView
    directions: Directions
    direction: TwoLevel
    distance: TwoLevel

    @property
    def inputs(self) -> int:
        return self.view.inputs

    @cached_property
    def outputs(self) -> int:
        """Direction cells times distance cells."""
        return self.direction.outputs * self.distance.outputs

    @cached_property
    def total(self) -> int:
        """The product of the two totals."""
        return self.direction.total * self.distance.total

    def polar(self, index: int) -> tuple[int, int]:
        """Direction cell and distance cell of an input."""
        return self.view.polar(index, self.directions, self.distance.inputs)

    def split_output(self, output: int) -> tuple[int, int]:
        """Direction cell and distance cell of an output."""
        return divmod(output, self.distance.outputs)

    def draw(self, index: int, coins: Coins) -> int:
        """Two draws: direction, then distance."""
        turn, share = self.polar(index)
        return self.direction.draw(turn, coins) * self.distance.outputs + self.distance.draw(share, coins)

    def weight(self, index: int, output: int) -> int:
        """The product of the two weights."""
        turn, share = self.polar(index)
        to_turn, to_share = self.split_output(output)
        return self.direction.weight(turn, to_turn) * self.distance.weight(share, to_share)

    def ratio_bound(self) -> Fraction:
        """The product of the two channels' ratios."""
        return self.direction.max_ratio() * self.distance.max_ratio()

    @cached_property
    def _ratio(self) -> Fraction:
        if self.inputs * self.outputs <= FEW_WEIGHTS:
            return column_ratio(self) or self.ratio_bound()
        return self.ratio_bound()

    def max_ratio(self) -> Fraction:
        """The product of the two ratios. On a tiny lattice no cell may show both extremes: there every weight is tried."""
        return self._ratio

    def step(self, output: int) -> tuple[int, int, int]:
        """Where an output lies, in half cells: two numerators and their common denominator."""
        turn, share = self.split_output(output)
        across, up = self.directions.middle(turn)
        length, along = self.view.border(across, up)
        way, unit = (2 * share + 1) * length, 2 * self.distance.outputs * along
        x, y = self.view.reference
        return x * unit + way * across, y * unit + way * up, unit

    @property
    def effort(self) -> int:
        return self.direction.effort + self.distance.effort

    @property
    def chained(self) -> bool:
        return True

    def after(self, output: int) -> DirectionDistance:
        """The channel of the next place: seen from the lattice point nearest to this output."""
        x, y, unit = self.step(output)
        reference = ((2 * x + unit) // (2 * unit), (2 * y + unit) // (2 * unit))
        return replace(self, view=self.view.seen_from(reference))

    def compiled(self) -> dict[str, Any]:
        """The view, the table of directions and both channels."""
        return {
            "kind": "direction-distance",
            **self.view.compiled(),
            "directions": self.directions.compiled(),
            "direction": self.direction.compiled(),
            "distance": self.distance.compiled(),
        }


def room(step: int, reference: int, cells: int) -> int:
    """How many half cells there are between the reference and the border a step points to."""
    return 2 * cells - reference if step > 0 else reference
