"""The share of values up to each edge of a distribution's bins, with intervals."""

from __future__ import annotations

import numpy as np

from deniable.estimators.distribution import Distribution
from deniable.estimators.estimate import half_width


def cumulative_band(found: Distribution, level: float = 0.95) -> tuple[list[float], list[float], list[tuple[float, float]]]:
    """Edges, shares up to them, and their intervals: what `quantile_chart` draws."""
    summed = np.tri(len(found.value) + 1, len(found.value), -1)
    variance = np.einsum("ij,jk,ik->i", summed, found.covariance, summed, optimize=True)
    reach = half_width(level) * np.sqrt(np.maximum(variance, 0.0))
    reach[-1] = 0.0  # everyone is below the upper end
    below = np.clip(found.cumulative, 0.0, 1.0)
    low, high = np.clip(below - reach, 0.0, 1.0), np.clip(below + reach, 0.0, 1.0)
    return found.edges.tolist(), below.tolist(), list(zip(low.tolist(), high.tolist(), strict=True))
