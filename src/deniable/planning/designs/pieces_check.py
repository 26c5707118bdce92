"""Do more pieces help? The published hypothesis that three suffice, checked by a global solver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from deniable.core import EpsilonLike
from deniable.errors import InvalidParameter
from deniable.planning.designs.bilinear import PiecewiseSolution, optimal_heights, optimal_pieces

AGREE = 1e-3
"""Errors and places closer than this, relatively, count as one: the solver's own tolerance is 1e-4."""


class PiecesCheck(NamedTuple):
    """The solutions at an end of the domain and at x for each number of pieces, and whether they are all one."""

    pieces: tuple[int, ...]
    ends: tuple[PiecewiseSolution, ...]
    at_x: tuple[PiecewiseSolution, ...]

    @property
    def same_error(self) -> bool:
        """Do all numbers of pieces reach the same error, at the end and at x?"""
        return all(_close([found.error for found in solved]) for solved in (self.ends, self.at_x))

    @property
    def same_pieces(self) -> bool:
        """Are the merged densities the same, piece by piece?"""
        shapes = [found.merged() for found in self.at_x]
        if len({len(shape.heights) for shape in shapes}) != 1:
            return False
        numbers = zip(*((*shape.heights, *shape.breaks[1:]) for shape in shapes), strict=True)
        return all(_close(list(values), 10 * AGREE) for values in numbers)

    @property
    def proved(self) -> float:
        """The largest gap that the solver itself left, over all problems (1 is none)."""
        return max(found.gap for found in (*self.ends, *self.at_x))


def check_pieces(
    epsilon: EpsilonLike, x: float, pieces: Sequence[int] = (3, 4, 5), *, exponent: int = 1, seconds: float = 10.0
) -> PiecesCheck:
    """Solve the framework's two steps for each number of pieces, each within `seconds`."""
    if len(pieces) < 2:
        raise InvalidParameter("pieces must name at least two numbers to compare")
    ends = [optimal_heights(epsilon, m, exponent=exponent, seconds=seconds).merged() for m in pieces]
    # The second step asks for the pieces at x with the heights that the first step found.
    at_x = [
        optimal_pieces(epsilon, x, m, exponent=exponent, seconds=seconds, ends=end) for m, end in zip(pieces, ends, strict=True)
    ]
    return PiecesCheck(tuple(pieces), tuple(ends), tuple(at_x))


def _close(values: Sequence[float], within: float = AGREE) -> bool:
    return max(values) - min(values) <= within * max(abs(value) for value in values)
