"""The most likely distribution on points, by Newton's method with an active set (Wang, "On fast computation of the
non-parametric maximum likelihood estimate of a mixing distribution", 2007)."""

from __future__ import annotations

import numpy as np

from deniable.batch import Floats
from deniable.estimators.active_set import MOST_CHOSEN, least

MOST_STEPS = 40
EXACT = 1e-3
"""How far below the best log-likelihood of all reports the result may be."""


def most_likely(chances: Floats, seen: Floats, n: float) -> tuple[float, int]:
    """The largest log-likelihood per report of mixtures of the rows of `chances`, and how many rows it takes."""
    size = len(chances)
    at, shares = np.array([int(np.argmax(np.log(chances) @ seen))]), np.ones(1)
    likely = chances[at[0]]
    for _ in range(MOST_STEPS):
        gain = chances @ (seen / likely)
        if n * (float(gain.max()) - 1) <= EXACT:
            break
        most = min(size, len(at) + MOST_CHOSEN)
        chosen, own = np.zeros(most, np.int64), np.zeros(most)
        chosen[: len(at)], own[: len(at)] = at, shares
        slope, moving = np.empty(size), np.zeros(most)
        # Minus the second derivatives of the log-likelihood, per report, are RR' for these roots.
        roots = chances * (np.sqrt(seen) / likely)
        squares, ready = np.empty((size, size)), np.zeros(size, np.bool_)
        count = least(roots, squares, ready, 2 * gain, np.zeros(size), 0.0, 0.0, chosen, own, len(at), slope, moving)
        goal, now, part = own[:count] @ chances[chosen[:count]], float(seen @ np.log(likely)), 1.0
        while part > 1e-9 and float(seen @ np.log(likely + part * (goal - likely))) <= now:
            part /= 2
        if part <= 1e-9:
            break
        likely = likely + part * (goal - likely)
        both, where = np.unique(np.concatenate([at, chosen[:count]]), return_inverse=True)
        mixed = np.bincount(where, np.concatenate([(1 - part) * shares, part * own[:count]]))
        at, shares = both[mixed > 1e-12], np.asarray(mixed[mixed > 1e-12], np.float64)
    return float(seen @ np.log(likely)), len(at)
