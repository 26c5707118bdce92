"""The best reference among few shapes: atoms at the ends, an even part, a part that grows towards the ends.

The same program as cutting_planes.py with one variable per shape instead of one per output: what a family of closed
forms can reach, beside what any reference can.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deniable.batch import Floats
from deniable.core import EpsilonLike
from deniable.errors import InvalidParameter
from deniable.planning.designs.cutting_planes import LossCuts, solve
from deniable.planning.designs.problem import design_epsilon

FINE = 768
SHAPES = ("atoms", "even", "curved")
"""A point mass at either end; a constant density; a density that grows with the square of the distance from the middle."""


@dataclass(frozen=True)
class FamilyDesign:
    """The mass of every shape in the reference (the rest of each row is spent on favoured outputs), and the worst error."""

    masses: dict[str, float]
    error: float

    @property
    def mass(self) -> float:
        """G, the whole of the reference."""
        return sum(self.masses.values())

    @property
    def atom(self) -> float:
        """w, the share of the reference at one end."""
        return self.masses.get("atoms", 0.0) / self.mass / 2

    def reference(self, y: Floats) -> Floats:
        """The reference on outputs y: 0, the middles of equal cells, and 1."""
        return np.asarray(np.sum([mass * _shape(name, y) for name, mass in self.masses.items()], axis=0))


def best_in_family(exponent: float, epsilon: EpsilonLike, shapes: tuple[str, ...] = SHAPES, cells: int = FINE) -> FamilyDesign:
    """The least worst-case |y - x|**k on [0, 1] with a reference made of `shapes`, on a grid of cells.

    >>> round(best_in_family(1, 2, ("atoms", "even")).error, 4)
    0.2051
    """
    if not shapes or not set(shapes) <= set(SHAPES):
        raise InvalidParameter(f"shapes must be some of {', '.join(SHAPES)}")
    e = math.exp(float(design_epsilon(epsilon)))
    middles = (np.arange(cells) + 0.5) / cells
    y = np.concatenate([[0.0], middles, [1.0]])
    x = np.linspace(0, 0.5, cells // 3 + 1)
    cuts = _SpannedCuts(np.abs(y - x[:, None]) ** exponent, np.stack([_shape(name, y) for name in shapes], axis=1), e)
    start = np.full(len(shapes), 1 / (1 + (e - 1) / 3) / len(shapes))
    solution = solve(cuts, start, np.ones(1), e, tolerance=1e-6)
    return FamilyDesign(dict(zip(shapes, solution.reference.tolist(), strict=True)), solution.cost)


def _shape(name: str, y: Floats) -> Floats:
    """A shape of mass 1."""
    inside = (y > 0) & (y < 1)
    shape = np.where(inside, 0.0, 1.0) if name == "atoms" else np.where(inside, 1.0 if name == "even" else (2 * y - 1) ** 2, 0.0)
    return np.asarray(shape / shape.sum())


class _SpannedCuts(LossCuts):
    """Cuts whose variables are the masses of shapes, one column of `basis` each."""

    def __init__(self, losses: Floats, basis: Floats, e: float) -> None:
        super().__init__(losses, np.arange(losses.shape[1]), e, worst=True)
        self.fold = basis

    def spread(self, reference: Floats) -> Floats:
        """The reference of every output."""
        return self.fold @ reference
