"""How long paths are. Reporting a path place by place shows how many places it has: these numbers are not private.

When the lengths must stay private, ask for them with `deniable.studies.trajectories.synthesis`, which reports a length with noise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deniable.errors import InvalidParameter
from deniable.estimators import Estimate, Target, check_target, of_supports


def length_distribution(starts: ArrayLike, edges: ArrayLike | None = None, *, target: Target = "these users") -> Estimate:
    """The share of paths with each number of places, or with a number from edges[i] up to but not including edges[i + 1].

    Known exactly for "these users" (variance 0); for "population" with the spread of who was asked.

    >>> lengths = length_distribution([0, 1, 3, 5])
    >>> list(lengths.labels), [round(float(share), 3) for share in lengths.value]
    ([0, 1, 2], [0.0, 0.333, 0.667])
    """
    check_target(target)
    borders = np.asarray(starts, np.int64)
    if borders.ndim != 1 or len(borders) < 2 or (np.diff(borders) < 0).any():
        raise InvalidParameter("starts must have one entry more than paths, and increase")
    lengths = np.diff(borders)
    labels: list[object]
    if edges is None:
        counts = np.bincount(lengths)
        labels = list(range(len(counts)))
    else:
        cuts = np.asarray(edges, np.float64)
        if cuts.ndim != 1 or len(cuts) < 2 or (np.diff(cuts) <= 0).any():
            raise InvalidParameter("edges must increase, and there must be at least two")
        place = np.searchsorted(cuts, lengths, "right") - 1
        counts = np.bincount(place[(place >= 0) & (place < len(cuts) - 1)], minlength=len(cuts) - 1)
        labels = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
    n = len(lengths)
    shares = counts / n
    covariance = (np.diag(shares) - np.outer(shares, shares)) / max(n - 1, 1)
    return Estimate(
        value=shares,
        covariance=covariance if target == "population" else np.zeros_like(covariance),
        n=n,
        target=target,
        method="lengths of paths, which reports show",
        labels=labels,
        total=1.0 if edges is None else None,
        bounds=(0.0, 1.0),
        # A length is reported as it is, so only who was asked is left to chance.
        sure=of_supports(shares, 1.0, 0.0, n, 1.0) if target == "population" else None,
    )
