"""From unbiased values, which may be negative, to values that can be counts or shares.

non-negative    negative values become 0; the rest stay, so the sum is too large
norm-sub        one number is subtracted from all, negative results become 0, and the sum is right
simplex         the nearest point (Euclidean) that is non-negative and has the right sum: the same as norm-sub
norm-cut        negative and the smallest positive values become 0, until the sum is no longer too large
base-cut        values within the noise become 0, the rest stay

Wang, Lopuhaä-Zwakenberg, Li, Skoric and Li, "Locally differentially private frequency estimation with
consistency", 2020. All of them are biased: keep the unbiased values for sums and differences.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from deniable.batch import Floats
from deniable.errors import InvalidParameter

EXPECTED_ALARMS = 2.0
"""base-cut: how many of all values may pass the cut by noise alone (the paper's alpha)."""


def project(name: str, values: Floats, total: float, errors: Floats) -> Floats:
    """The projection of this name; `errors` are the standard errors, which only base-cut uses.

    >>> project("simplex", np.array([0.7, 0.5, -0.2]), 1.0, np.zeros(3)).round(6).tolist()
    [0.6, 0.4, 0.0]
    """
    if name not in PROJECTIONS:
        raise InvalidParameter(f"a projection is one of {', '.join(PROJECTIONS)}, got {name!r}")
    return PROJECTIONS[name](values, total, errors)


def simplex(values: Floats, total: float) -> Floats:
    """The nearest point with non-negative coordinates that add up to `total`."""
    falling = np.sort(values)[::-1]
    # The largest number of coordinates that can stay positive when all are lowered by one amount.
    excess = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    stay = int(np.flatnonzero(falling > excess)[-1])
    return np.asarray(np.maximum(values - excess[stay], 0.0))


def _non_negative(values: Floats, total: float, errors: Floats) -> Floats:
    return np.maximum(values, 0.0)


def _simplex(values: Floats, total: float, errors: Floats) -> Floats:
    return simplex(values, total)


def _norm_cut(values: Floats, total: float, errors: Floats) -> Floats:
    order = np.argsort(-values, kind="stable")
    # Clipped to the total, so that the largest value always stays.
    falling = np.clip(values[order], 0.0, total)
    stay = np.cumsum(falling) <= total
    kept = np.zeros_like(values)
    kept[order[stay]] = falling[stay]
    return kept


def _base_cut(values: Floats, total: float, errors: Floats) -> Floats:
    chance = min(EXPECTED_ALARMS / len(values), 0.5)
    return np.where(values > NormalDist().inv_cdf(1 - chance) * errors, values, 0.0)


PROJECTIONS: dict[str, Callable[[Floats, float, Floats], Floats]] = {
    "non-negative": _non_negative,
    "norm-sub": _simplex,
    "norm-cut": _norm_cut,
    "base-cut": _base_cut,
    "simplex": _simplex,
}
