"""Joint and plain randomized response on the same users, many times: measured errors beside the formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from deniable.batch import Floats, Keystream, SystemKeystream
from deniable.core import Pair, as_index
from deniable.errors import InvalidParameter
from deniable.studies.joint.arguments import check_ones, check_users
from deniable.studies.joint.sampling import PairSampler, answer_in_pairs, shuffle
from deniable.studies.joint.variance import check_informative

PUBLISHED_COUNTS: dict[str, tuple[int, int]] = {
    "Kosarak": (20_000, 659),
    "Amazon": (10_000, 762),
    "E-commerce": (23_486, 19_314),
    "Census": (10_000, 9_528),
}
"""Users and ones of the published data sets: for one bit per user, counts are all there is to know."""

MOST_RUNS = 10**6


@dataclass(frozen=True, eq=False)
class Simulation:
    """Estimates of one mechanism over many runs."""

    n: int
    ones: int
    estimates: Floats
    """The estimated number of ones, one per run."""

    @property
    def mse(self) -> float:
        """Mean squared error; the same for ones and zeros."""
        return float(np.mean((self.estimates - self.ones) ** 2))

    @property
    def mse_standard_error(self) -> float:
        """How far `mse` may be off by chance: one standard error."""
        squares = (self.estimates - self.ones) ** 2
        return float(squares.std(ddof=1) / np.sqrt(len(squares))) if len(squares) > 1 else float("inf")

    @property
    def relative_errors(self) -> Floats:
        """ARE of every run: the mean over the two values of |error| / true count (only values somebody has)."""
        counts = [count for count in (self.ones, self.n - self.ones) if count > 0]
        inverse = sum(1 / count for count in counts) / len(counts)
        return np.asarray(np.abs(self.estimates - self.ones) * inverse)

    def percentiles(self, levels: Sequence[float] = (5, 25, 50, 75, 80, 95)) -> dict[str, float]:
        """Percentiles of ARE, by level."""
        return {
            f"{level:g}": float(value) for level, value in zip(levels, np.percentile(self.relative_errors, levels), strict=True)
        }


def simulate(
    pair: Pair,
    n: int,
    ones: int,
    runs: int = 1000,
    *,
    leftover: bool = False,
    keystream: Keystream | None = None,
    progress: Callable[[int], None] = lambda runs_done: None,
) -> Simulation:
    """Pair the users at random, let every pair answer, estimate; `runs` times, each run with new randomness.

    Independent tables (plain randomized response) need no pairing.
    """
    check_users(n, leftover)
    check_informative(pair)
    truth, count = check_ones(ones, n), as_index(runs)
    if count is None or not 1 <= count <= MOST_RUNS:
        raise InvalidParameter(f"runs must be a whole number from 1 to {MOST_RUNS}")
    stream = SystemKeystream() if keystream is None else keystream
    users = np.zeros(n, np.uint8)
    users[:truth] = 1
    reported = np.empty(count, np.float64)
    sampler = PairSampler(pair) if n <= 1 << 16 and n % 2 == 0 else None
    out = np.empty(n, np.uint8)
    for run in range(count):
        if pair.correlation:
            shuffle(users, stream)
        if sampler is not None:
            sampler.answer(users, out, stream)
        else:
            out = answer_in_pairs(pair, users, stream)
        reported[run] = np.count_nonzero(out)
        progress(1)
    p, q = float(pair.truth), float(pair.lie)
    return Simulation(n, truth, (reported - n * q) / (p - q))
