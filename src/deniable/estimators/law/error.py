"""Expected error: at a value, over the domain, on average."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from deniable.batch import Floats, Integers
from deniable.core import Binary, Mechanism
from deniable.errors import InvalidParameter
from deniable.estimators.law.law import Law
from deniable.estimators.law.loss import Loss, as_loss

FEW_INPUTS = 4096
"""Up to so many inputs every one of them is looked at."""
PANELS = 2048
PARTS = 1024
NODES = np.polynomial.legendre.leggauss(2)


class ErrorCurve(NamedTuple):
    """Private values and the expected error at each of them."""

    values: Floats
    errors: Floats


def errors_at(law: Law, indices: Integers, at: Floats, loss: Loss) -> Floats:
    """Expected errors in the domain's units for inputs and the true positions they come from."""
    kind = as_loss(loss)
    if callable(kind):
        return law.function_errors(indices, at, kind)
    scale: float = float(law.width) ** kind
    return law.power_errors(indices, at, kind) * scale


def expected_error(mechanism: Mechanism, value: Any, loss: Loss = "absolute") -> float:
    """E loss(decoded output, value), measured from the value itself and not from its cell's middle.

    >>> from deniable.core import OGPM
    >>> round(expected_error(OGPM(epsilon=1), 0), 5)
    0.37754
    """
    law = Law(mechanism)
    index, place = law.place(value)
    return float(errors_at(law, np.array([index]), np.array([float(place)]), loss)[0])


def error_curve(mechanism: Mechanism, loss: Loss = "absolute", points: int = 101) -> ErrorCurve:
    """The expected error at equally spaced private values, both ends included."""
    if isinstance(points, bool) or not isinstance(points, int) or points < 2:
        raise InvalidParameter("points must be a whole number, at least 2")
    law = Law(mechanism)
    if isinstance(mechanism.domain, Binary):
        points = 2
    at = np.linspace(0, 1, points)
    indices = np.array([inputs_at(law, float(x)) for x in at])
    return ErrorCurve(float(law.low) + float(law.width) * at, errors_at(law, indices, at, loss))


def inputs_at(law: Law, position: float) -> int:
    """The channel's input at a position; the far end of a circle is its beginning."""
    return law.grid.index(Fraction(position) % 1 if law.circular else Fraction(position))


def average_error(mechanism: Mechanism, loss: Loss = "absolute") -> float:
    """The expected error of a value drawn uniformly from the domain."""
    law = Law(mechanism)
    if isinstance(mechanism.domain, Binary):
        return float(errors_at(law, np.arange(2), np.arange(2.0), loss).mean())
    if law.grid.size <= FEW_INPUTS:
        indices, at, share = _all_cells(law)
    else:
        indices, at, share = _panels(law)
    return float((errors_at(law, indices, at, loss) * share).sum())


def _all_cells(law: Law) -> tuple[Integers, Floats, Floats]:
    """Two Gauss points in each part of every cell: exact for polynomials where the middle is the only kink."""
    grid = law.grid
    parts = 2 * -(-PARTS // grid.size)
    cell = np.repeat(np.arange(grid.size), parts)
    edges = np.clip((np.arange(parts * grid.size + 1) / parts - float(grid.shift)) / grid.steps, 0, 1)
    left, right = edges[:-1], edges[1:]
    nodes, weights = NODES
    at = (left + right)[:, None] / 2 + (right - left)[:, None] / 2 * nodes
    share = (right - left)[:, None] / 2 * weights
    return np.repeat(cell, nodes.size), at.ravel(), share.ravel()


def _panels(law: Law) -> tuple[Integers, Floats, Floats]:
    """Gauss points of many panels, each moved to the middle of its cell, where the lattice has no bias."""
    nodes, weights = NODES
    # A written-out row costs as much as it is long.
    panels = PANELS if law.is_short else max(8, min(PANELS, (1 << 26) // law.channel.outputs))
    at = ((np.arange(panels)[:, None] + (1 + nodes) / 2) / panels).ravel()
    grid = law.grid
    indices = np.minimum(np.floor(at * grid.steps + float(grid.shift)), grid.last).astype(np.int64)
    middles = np.clip((indices + 0.5 - float(grid.shift)) / grid.steps, 0, 1)
    return indices, middles, np.tile(weights / 2, panels) / panels
