"""The share of users whose value lies in a range."""

from __future__ import annotations

import numpy as np

from deniable.domains import Circle
from deniable.errors import InvalidParameter
from deniable.estimators.bins import Floats, checked_bins
from deniable.estimators.distribution import DEFAULT_BINS, Method, distribution
from deniable.estimators.estimate import Estimate, Target
from deniable.estimators.source import Source, accumulated

MOST_VARIANCE = 0.25
"""Of anything between 0 and 1."""


def range_share(
    source: Source,
    low: float,
    high: float,
    *,
    bins: int | None = None,
    method: Method = "ems",
    target: Target = "these users",
) -> Estimate:
    """The share of users between low and high (on a circle from low forward to high, also across zero).

    From the estimated distribution, linear within bins. A protocol made for ranges, whose answers are
    unbiased, is `HierarchicalHistogram`.

    >>> from deniable.mechanisms import make_mechanism
    >>> found = range_share(make_mechanism("sw", epsilon=4).randomize_many([0.3] * 1000), 0.2, 0.4)
    >>> float(found.value) > 0.9
    True
    """
    sums = accumulated(source)
    checked_bins(sums.mechanism, bins, DEFAULT_BINS)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise InvalidParameter("low and high must be finite numbers")
    circular = isinstance(sums.mechanism.domain, Circle)
    if not circular and not low <= high:
        raise InvalidParameter("low must not lie above high")
    found = distribution(sums, bins=bins, method=method, target=target)
    value, variance = found.weighted(covered(found.edges, float(low), float(high), circular=circular))
    return Estimate(
        value=np.asarray(value),
        variance=np.asarray(min(variance, MOST_VARIANCE)),
        n=found.n,
        target=target,
        method=f"range of {found.method}",
        bounds=(0.0, 1.0),
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
