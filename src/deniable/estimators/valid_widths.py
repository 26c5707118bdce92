"""How wide the intervals of bins will be, before anybody has answered."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from deniable.core import Circle, Interval, Mechanism
from deniable.errors import NotSupported
from deniable.estimators.bins import checked_bins
from deniable.estimators.estimate import half_width
from deniable.estimators.plausible import Pilot, Plausible
from deniable.estimators.response import groups_for, response


@lru_cache(maxsize=256)
def valid_half_width(mechanism: Mechanism, bins: int, n: int, level: float = 0.95) -> float:
    """The mean half-width of the intervals of equal bins that `distribution` prints for n people spread evenly.

    The estimators are chosen for an even pilot, where the reports' own halves would choose nearly the same ones.
    """
    domain = mechanism.domain
    if not isinstance(domain, Interval | Circle):
        raise NotSupported(f"{mechanism.name} does not report numbers on an interval or a circle")
    checked_bins(mechanism, bins, bins)
    low, high = float(domain.low), float(domain.low) + float(domain.width)
    edges = low + (high - low) * np.arange(bins + 1) / bins
    wide = response(mechanism, groups_for(n)).with_edges(edges)
    # Every point stands for the values that are nearer to it than to its neighbours.
    halfway = np.concatenate([[low], (wide.least[1:] + wide.least[:-1]) / 2, [high]])
    pilot = Pilot(wide.table, np.diff(halfway) / (high - low), float(n), "these users")
    plausible = Plausible([(pilot, n * pilot.expected)])
    reach = half_width(level)
    ends = np.clip([plausible.interval(*wide.inside(a, b), reach) for a, b in pairwise(edges)], 0.0, 1.0)
    return float((ends[:, 1] - ends[:, 0]).mean()) / 2
