"""Joint and plain randomized response on the same users: exact errors by Theorem 4, and simulated ones (Figures 4.3 to 4.6)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from deniable.core import Pair
from deniable.studies import Simulation, published_pair, simulate, variance_joint
from deniable_reproduce.artifact import Run

PLAIN, JOINT = "RR", "JRR"
GRID = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""The ε of the synthetic experiments."""
HALF_NORMAL = math.sqrt(2 / math.pi)
"""E|Z| of a standard normal number: what a relative error has instead of a standard deviation."""


def pairs(epsilon: float) -> dict[str, Pair]:
    """Plain randomized response, and the published heuristic: p = E/(1 + E), ρ = 1 − 1/p."""
    joint = published_pair(str(epsilon))
    return {PLAIN: Pair.exactly(joint.truth, 0), JOINT: joint}


@dataclass(frozen=True)
class Error:
    """One mechanism on one set of users."""

    mse: float
    """The mean squared error, by the exact formula."""
    simulation: Simulation | None

    @property
    def deviation(self) -> float:
        """How far the simulated MSE is from the exact one, in its standard errors (the exact spread of a squared normal)."""
        if self.simulation is None:
            return 0.0
        return (self.simulation.mse / self.mse - 1) * math.sqrt(len(self.simulation.estimates) / 2)


def errors(run: Run, epsilon: float, n: int, ones: int, runs: int, purpose: str) -> dict[str, Error]:
    """Both mechanisms, exactly and in `runs` simulated surveys (none for 0)."""
    by_mechanism = {}
    for name, pair in pairs(epsilon).items():
        coins = run.keystream(f"{purpose} {name} ε={epsilon} n={n} ones={ones}")
        simulated = simulate(pair, n, ones, runs, keystream=coins) if runs else None
        by_mechanism[name] = Error(float(variance_joint(pair, n, ones)), simulated)
    return by_mechanism


def mean_relative_error(mse: float, n: int, ones: int) -> float:
    """E ARE in the normal approximation: the mean over the two values of |error| / count."""
    counts = [count for count in (ones, n - ones) if count > 0]
    return HALF_NORMAL * math.sqrt(mse) * sum(1 / count for count in counts) / len(counts)


def share_of_sums(grid: Sequence[float], n: int, ones: int) -> float:
    """The sum of JRR's relative errors over ε, as a share of RR's: what the text calls its average."""
    sums = dict.fromkeys((PLAIN, JOINT), 0.0)
    for epsilon in grid:
        for name, pair in pairs(epsilon).items():
            sums[name] += math.sqrt(float(variance_joint(pair, n, ones)))
    return sums[JOINT] / sums[PLAIN]


def share_of_sums_error(grid: Sequence[float], n: int, ones: int, runs: int) -> float:
    """The sampling error of that share when every mean relative error is taken from `runs` surveys: one standard error."""
    spread = math.sqrt(math.pi / 2 - 1) / math.sqrt(runs)  # relative error of the mean of |Z|
    relative = []
    for name in (PLAIN, JOINT):
        sizes = [math.sqrt(float(variance_joint(pairs(epsilon)[name], n, ones))) for epsilon in grid]
        relative.append(spread * math.hypot(*sizes) / sum(sizes))
    return share_of_sums(grid, n, ones) * math.hypot(*relative)
