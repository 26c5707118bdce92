"""The share of values up to each edge of a distribution's bins, with intervals."""

from __future__ import annotations

import numpy as np

from deniable.estimators import Distribution


def cumulative_band(distribution: Distribution, level: float = 0.95) -> tuple[list[float], list[float], list[tuple[float, float]]]:
    """Edges, shares up to them, and their intervals: what `quantile_chart` draws."""
    below = np.clip(distribution.cumulative, 0.0, 1.0)
    low, high = distribution.shape.cumulative_band(distribution.edges[1:-1], level)
    low, high = np.concatenate([[0.0], low, [1.0]]), np.concatenate([[0.0], high, [1.0]])
    return distribution.edges.tolist(), below.tolist(), list(zip(low.tolist(), high.tolist(), strict=True))
