"""How alike two paths are as a whole, places matched in order: dynamic time warping and the Fréchet distance.

Both take paths of different lengths. Cost: the product of the two lengths in time, one length in memory.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from deniable.errors import InvalidParameter
from deniable.studies.trajectories.metrics import Metric
from deniable.studies.trajectories.paths import Paths

MOST_PAIRS = 1 << 33
"""Pairs of places that are compared for one pair of paths: about a minute."""


def dynamic_time_warping(true: Paths, perturbed: Paths) -> Metric:
    """The least sum of distances when both paths are walked forward together, either may wait (DTW).

    >>> waiting = Paths.of([[(0, 0), (0, 0), (3, 0)]])
    >>> dynamic_time_warping(waiting, Paths.of([[(0, 0), (3, 0)]])).value
    0.0
    """
    return _aligned("dynamic time warping", true, perturbed, leash=False)


def frechet_distance(true: Paths, perturbed: Paths) -> Metric:
    """The shortest leash that lets both paths be walked forward together, place by place (discrete Fréchet).

    >>> frechet_distance(Paths.of([[(0, 0), (3, 0)]]), Paths.of([[(0, 1), (1, 1), (3, 2)]])).value
    2.0
    """
    return _aligned("Fréchet distance", true, perturbed, leash=True)


def _aligned(name: str, true: Paths, perturbed: Paths, *, leash: bool) -> Metric:
    if len(true) != len(perturbed):
        raise InvalidParameter("there must be as many true as perturbed paths")
    if not (true.finite and perturbed.finite):
        raise InvalidParameter("some coordinates are not numbers; drop those places before comparing paths")
    if len(true) and int((true.lengths * perturbed.lengths).max()) > MOST_PAIRS:
        raise InvalidParameter(f"two paths have more than {MOST_PAIRS} pairs of places; keep every tenth place first")
    distances = np.full(len(true), np.nan)
    for i, (one, other) in enumerate(zip(true, perturbed, strict=True)):
        if len(one) and len(other):
            distances[i] = _walk(one, other, leash)
    return Metric(name, distances)


@njit(nogil=True, cache=True)
def _walk(one, other, leash):  # type: ignore[no-untyped-def]
    """The least cost of walking both forward: all steps added up, or with `leash` the longest of them."""
    size = other.shape[0]
    best = np.empty(size)
    for i in range(one.shape[0]):
        diagonal = 0.0
        for j in range(size):
            step = np.hypot(one[i, 0] - other[j, 0], one[i, 1] - other[j, 1])
            above = best[j]
            if i == 0:
                before = best[j - 1] if j > 0 else 0.0
            elif j == 0:
                before = above
            else:
                before = min(above, diagonal, best[j - 1])
            best[j] = max(before, step) if leash else before + step
            diagonal = above
    return best[size - 1]
