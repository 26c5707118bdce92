"""Shares of bins by linear inversion: no smoothing and no constraint, but as if values were spread evenly within bins."""

from __future__ import annotations

import numpy as np

from deniable.errors import NotSupported
from deniable.estimators.bins import checked_bins, gathered
from deniable.estimators.distribution_estimate import Ends
from deniable.estimators.distribution_grid import binned, count_covariance
from deniable.estimators.estimate import Estimate, Target, check_target
from deniable.estimators.projections import simplex
from deniable.estimators.recent_shapes import shape
from deniable.estimators.source import Source, accumulated

MOST_CONDITION = 1e6


def histogram(source: Source, bins: int = 16, *, target: Target = "these users") -> Estimate:
    """The share of every equal bin of the domain; unbiased only when values are spread evenly within bins.

    Values that are not (a peak inside a bin, round numbers) bend it. The intervals hold all the same: they are those of
    `distribution`, made wide enough to reach this value. `interval(level, "wald")` trusts the even spread.

    Weighted least squares with weights that do not depend on the reports, so shares may be negative and
    the covariance is exact up to the shares in it. Fewer bins are far less noisy. Sliding windows cannot
    tell values near an end apart: too many bins are refused. `distribution` gives smooth, positive shares.

    >>> from deniable.core import make_mechanism
    >>> estimated = histogram(make_mechanism("sw", epsilon=4).randomize_many([0.3] * 1000), bins=4)
    >>> int(estimated.value.argmax()), round(float(estimated.value.sum()), 9)
    (1, 1.0)
    """
    check_target(target)
    sums = accumulated(source)
    mechanism = sums.mechanism
    count = checked_bins(mechanism, bins, 16)
    laid = binned(mechanism, count)
    matrix = laid.transition.matrix
    usual = matrix.mean(axis=0)
    usual = np.where(usual > 0, usual, 1.0)
    scaled = matrix / np.sqrt(usual)
    information = scaled @ scaled.T
    if np.linalg.cond(information) > MOST_CONDITION**2 or len(usual) < count:
        raise NotSupported(
            f"{count} bins are more than the reports of {mechanism.name} can distinguish; use fewer, or distribution(source)"
        )
    slope = np.asarray(np.linalg.solve(information, matrix / usual), np.float64)
    shares = slope @ (gathered(sums.sums, laid.cuts) / sums.n)
    # The noise depends on the true shares; the nearest possible ones stand in for them.
    covariance = count_covariance(slope, matrix, simplex(shares, 1.0), sums.n, target)
    edges = laid.edges
    return Estimate(
        value=shares,
        covariance=covariance,
        n=sums.n,
        target=target,
        method=f"linear inversion of {mechanism.name} (unbiased for values spread evenly within bins), {count} bins",
        labels=tuple(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)),
        total=1.0,
        bounds=(0.0, 1.0),
        sure=Ends(lambda level: shape(sums, target=target).bin_ends(edges, level), shares),
    )
