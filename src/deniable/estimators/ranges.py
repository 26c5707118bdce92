"""The share of users whose value lies in a range."""

from __future__ import annotations

import numpy as np

from deniable.batch import Floats
from deniable.estimators.estimate import Estimate, Target
from deniable.estimators.recent_shapes import shape
from deniable.estimators.shape_fit import Method
from deniable.estimators.source import Source


def range_share(
    source: Source,
    low: float,
    high: float,
    *,
    method: Method = "penalized",
    target: Target = "these users",
    multiples_of: float | None = None,
    narrowest_peak: float | None = None,
) -> Estimate:
    """The share of users from low up to high (on a circle from low forward to high, also across zero).

    From the estimated distribution; its interval holds for every distribution. A protocol made for ranges, whose
    answers are unbiased, is `HierarchicalHistogram`.

    >>> from deniable.core import make_mechanism
    >>> share = range_share(make_mechanism("sw", epsilon=4).randomize_many([0.3] * 1000), 0.2, 0.4)
    >>> float(share.value) > 0.9
    True
    """
    return shape(source, method=method, target=target, multiples_of=multiples_of, narrowest_peak=narrowest_peak).range_share(
        low, high
    )


def covered(edges: Floats, low: float, high: float, *, circular: bool = False) -> Floats:
    """Which part of every bin lies between low and high.

    >>> covered(np.array([0.0, 1.0, 2.0]), 0.5, 1.25).tolist()
    [0.5, 0.25]
    """
    if circular:
        period = float(edges[-1] - edges[0])
        if high - low >= period:
            return np.ones(len(edges) - 1)
        low, high = low % period, high % period
        if low > high:
            return covered(edges, low, float(edges[-1])) + covered(edges, float(edges[0]), high)
    inside = np.minimum(edges[1:], high) - np.maximum(edges[:-1], low)
    return np.asarray(np.maximum(inside, 0.0) / np.diff(edges))
