"""What counts prove about epsilon and delta: exact binomial bounds, and how large a violation they would show."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from deniable.batch import Floats
from deniable.errors import InvalidParameter
from deniable.estimators import chance_above, chance_below


def epsilon_below(hits: Any, trials: Any, other_hits: Any, other_trials: Any, error: float, delta: float = 0.0) -> Floats:
    """A lower bound of ln((p - delta) / q), wrong with probability at most `error`; -inf when nothing is shown."""
    excess = chance_below(hits, trials, error / 2) - delta
    ceiling = chance_above(other_hits, other_trials, error / 2)
    with np.errstate(divide="ignore"):
        return np.where(excess > 0, np.log(np.maximum(excess, 1e-300) / ceiling), -np.inf)


def delta_below(hits: Any, trials: Any, other_hits: Any, other_trials: Any, error: float, epsilon: float) -> Floats:
    """A lower bound of p - e**epsilon * q, wrong with probability at most `error`."""
    ceiling = chance_above(other_hits, other_trials, error / 2)
    return np.asarray(chance_below(hits, trials, error / 2) - math.exp(epsilon) * ceiling)


def detection_chance(epsilon: float, actual: float, other: float, trials: int, error: float) -> float:
    """At least how likely a test shows more than `epsilon` when the truth is `actual` and the rarer chance is `other`.

    Both counts are taken at unlucky values; the bound is one minus the two tails, at the best of a few splits.
    """
    chance = min(1.0, other * math.exp(actual))
    best = 0.0
    for tail in (0.25, 0.1, 0.05, 0.025, 0.01, 0.005, 0.0025, 0.001, 1e-4):
        low = int(special.bdtrik(tail, trials, chance)) if chance < 1 else trials
        high = math.ceil(special.bdtrik(1 - tail, trials, other)) + 1 if other > 0 else 0
        if float(epsilon_below(max(low, 0), trials, min(high, trials), trials, error)) > epsilon:
            best = max(best, 1 - 2 * tail)
    return best


def visible_violation(epsilon: float, other: float, trials: int, error: float, power: float = 0.99) -> float:
    """The smallest excess of the true epsilon over the claimed one that is seen with probability `power`; inf when none is.

    `other` is the chance of the event under its less likely input. Violations that need an event of another
    size are not covered.
    """
    if not 0 < power < 1:
        raise InvalidParameter("power must lie between 0 and 1, both excluded")
    low, high = 0.0, math.log(1 / other) - epsilon if other > 0 else 50.0
    if high <= 0 or detection_chance(epsilon, epsilon + high, other, trials, error) < power:
        return math.inf
    for _ in range(30):
        middle = (low + high) / 2
        seen = detection_chance(epsilon, epsilon + middle, other, trials, error) >= power
        low, high = (low, middle) if seen else (middle, high)
    return high


def samples_for(epsilon: float, violation: float, other: float, error: float, power: float = 0.99) -> int | None:
    """Draws per input that show an excess of `violation` over epsilon with probability `power`; None beyond 10**12.

    >>> 1_000 < samples_for(1.0, 0.1, 0.25, 1e-4) < 50_000
    True
    """
    trials = 64
    while detection_chance(epsilon, epsilon + violation, other, trials, error) < power:
        trials *= 2
        if trials > 10**12:
            return None
    low, high = trials // 2, trials
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        seen = detection_chance(epsilon, epsilon + violation, other, middle, error) >= power
        low, high = (low, middle) if seen else (middle, high)
    return high
