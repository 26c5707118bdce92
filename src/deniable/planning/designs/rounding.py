"""From a reference in floats to an exact mechanism, and what that mechanism really costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Floats
from deniable.core import Designed, Epsilon, Interval, Mechanism
from deniable.errors import DeniableError
from deniable.estimators import Law, average_error, errors_at
from deniable.planning.designs.problem import DistanceLoss

TOTAL_BITS = 50
"""Row totals are this power of two: sums of gains stay within a 64-bit word."""
LIGHTEST = 2.0**-30
"""Outputs of less reference are left out: their weights would be too coarse for a small epsilon."""


class NotPrivate(DeniableError):
    """A rounded design exceeded its epsilon: a defect, never returned."""


def rounded(domain: Interval, epsilon: Epsilon, places: NDArray[np.int64], reference: Floats, points: int) -> Designed:
    """The integer mechanism nearest to a reference at `places` half cells; rows are those nearest to the value."""
    total = 1 << TOTAL_BITS
    kept = reference > LIGHTEST
    weights = [max(round(float(weight) * total), 1) for weight in reference[kept]]
    mechanism = Designed(
        domain=domain, epsilon=epsilon, points=points, places=[int(place) for place in places[kept]], weights=weights, total=total
    )
    return verified(mechanism)


def verified(mechanism: Designed) -> Designed:
    """The mechanism, after its exact ratio was compared with e**epsilon."""
    if not mechanism.certificate().holds:
        raise NotPrivate("a designed mechanism's largest ratio exceeds e**epsilon")
    return mechanism


def largest_error(mechanism: Mechanism, loss: DistanceLoss) -> float:
    """The largest expected error over all values: every input is looked at, at both ends of its cell."""
    law = Law(mechanism)
    indices = np.arange(law.grid.size)
    convex = loss.exponent is not None and loss.exponent >= 1
    shares = (0.0, 1.0) if convex else (0.0, 0.25, 0.5, 0.75, 1.0)
    largest = 0.0
    for share in shares:
        at = np.clip((indices + share - float(law.grid.shift)) / law.grid.steps, 0, 1)
        largest = max(largest, float(errors_at(law, indices, at, loss.measured).max()))
    return largest


def least_costly(candidates: Sequence[tuple[Mechanism, float]], method: str) -> tuple[Mechanism, float, str]:
    """The candidate that costs least, and how it was found: the first by `method`, the others were known before."""
    best = min(range(len(candidates)), key=lambda i: candidates[i][1])
    mechanism, cost = candidates[best]
    return (
        mechanism,
        cost,
        method if best == 0 else f"{mechanism.name}, known before: the program, on its grid and in its time, found nothing better",
    )


def expected_cost(mechanism: Mechanism, loss: DistanceLoss, cells: tuple[float, ...] | None) -> float:
    """The expected error under a prior: uniform (None), or constant on equal cells of the domain."""
    if cells is None:
        return average_error(mechanism, loss.measured)
    law = Law(mechanism)
    prior = np.array(cells)
    nodes, weights = np.polynomial.legendre.leggauss(2)
    inputs = law.grid.size
    # Parts no longer than half an input's cell, none across the border of two cells of the prior.
    parts = 2 * prior.size * -(-max(inputs, 1024) // prior.size)
    edges = np.unique(np.concatenate([np.linspace(0, 1, parts + 1), np.arange(2 * inputs + 1) / (2 * inputs)]))
    left, right = edges[:-1, None], edges[1:, None]
    at = ((left + right) / 2 + (right - left) / 2 * nodes).ravel()
    density = prior[np.minimum((at * prior.size).astype(np.int64), prior.size - 1)] * prior.size
    indices = np.minimum((at * inputs).astype(np.int64), inputs - 1)
    share = ((right - left) / 2 * weights).ravel() * density
    return float(errors_at(law, indices, at, loss.measured) @ share)
