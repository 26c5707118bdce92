"""Straight and squared: what the mean and the mean square of a report say about the value behind it.

For a window that moves one cell per input, for noise that is only added, and for every unbiased mechanism,
the mean report is a straight line in the value; then (report - alpha) / beta is unbiased. Where its square
has a mean a + b x + c x**2 with c > 0, the mean square of the values can be recovered too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.batch import Accumulator, Floats, positions
from deniable.core import Affine, Mechanism, NumericMechanism, Reading
from deniable.errors import NotSupported
from deniable.estimators.law.law import Law

LOOKED_AT = 65
"""Values at which the law is compared with a straight line and a parabola; both ends are among them."""
MOST_BIAS = 1e-2
BIAS_TO_NOISE = 1e-3
NEGLIGIBLE = 1e-4
FEWEST_STEPS = 4
"""On a coarser lattice the values' mean has little to do with their cells'."""


@dataclass(frozen=True)
class Debiasing:
    """How a mechanism's reports become unbiased numbers. All in positions: 0 and 1 are the domain's ends."""

    reading: Reading
    alpha: float
    beta: float
    bias: float
    """What is left of the bias at the worst value: 0, but for noise that is clipped far outside."""
    square: tuple[float, float, float] | None
    """a, b, c: the mean square of an unbiased report, or None when it does not say what the values' is."""
    rounding: float
    """How much random rounding to rows may add to the mean square: the square is recovered up to that."""
    least_noise: float
    most_noise: float
    """The variance of one report, at the best and at the worst value."""
    reach: float
    """From the smallest to the largest unbiased report."""

    @property
    def sees_squares(self) -> bool:
        """Can the values' mean square be recovered?"""
        return self.square is not None and self.rounding <= NEGLIGIBLE

    def unbiased(self, outputs: NDArray[np.int64]) -> Floats:
        """Outputs as unbiased positions."""
        return np.asarray((positions(self.reading, outputs) - self.alpha) / self.beta)


@dataclass(frozen=True)
class Moments:
    """Means of unbiased reports y: of y, y**2, y**3 and y**4 around 1/2, and their number."""

    n: int
    first: float
    second: float
    third: float
    fourth: float


@lru_cache(maxsize=32)
def debiasing(mechanism: Mechanism) -> Debiasing | None:
    """The straight line of a mechanism on an interval; None when its mean report is no straight line in the value."""
    if not isinstance(mechanism, NumericMechanism):
        raise NotSupported(f"{mechanism.name} does not report numbers on an interval; on a circle use direction(source)")
    channel = mechanism.channel
    steps = 1 if channel.between is None else channel.between[1]
    if steps == 1 and mechanism.grid.steps < FEWEST_STEPS:
        raise NotSupported(f"{mechanism.name} sees values as {mechanism.grid.size} cells, too few for a mean; use hm, pm or duchi")
    law = Law(mechanism)
    if isinstance(law.reading, Affine) and law.reading.clip:
        # What was read as an end of the domain is known better: clipping is post-processing.
        law.reading = replace(law.reading, clip=False)
    rows = (channel.inputs - 1) // steps + 1
    looked = np.unique(np.linspace(0, rows - 1, LOOKED_AT).round().astype(np.int64)) * steps
    at = np.array([float(law.grid.position(int(index))) for index in looked])
    mean, noise = law.moments(looked)
    beta = float((mean[-1] - mean[0]) / (at[-1] - at[0]))
    if abs(beta) < 1e-12:
        return None
    alpha = float(mean[0] - beta * at[0])
    if mechanism.unbiased and law.reading is mechanism.reading:
        alpha, beta = 0.0, 1.0  # by construction, not up to rounding errors
    bias = float(np.abs((mean - alpha) / beta - at).max())
    noise = noise / beta**2
    if bias > min(MOST_BIAS, BIAS_TO_NOISE * math.sqrt(float(noise.min()))):
        return None
    between = law.moments(looked[:-1] + steps // 2)[1] / beta**2 if steps > 1 else noise
    ends = (positions(law.reading, _ends(channel.outputs)) - alpha) / beta
    return Debiasing(
        reading=law.reading,
        alpha=alpha,
        beta=beta,
        bias=bias if bias > 1e-9 else 0.0,
        square=_parabola(at, noise + at**2),
        rounding=1 / (4 * (rows - 1) ** 2) if steps > 1 else 0.0,
        least_noise=float(min(noise.min(), between.min())),
        most_noise=float(max(noise.max(), between.max())),
        reach=float(ends.max() - ends.min()),
    )


def _ends(outputs: int) -> NDArray[np.int64]:
    """All outputs when they are few; else the first, the last and the last but two: joined readings end with a pair."""
    return np.arange(outputs) if outputs <= 1 << 12 else np.array([0, outputs - 3, outputs - 2, outputs - 1])


def _parabola(at: Floats, square: Floats) -> tuple[float, float, float] | None:
    """a, b, c with square = a + b x + c x**2, when it is one that opens."""
    if len(at) < 3:
        return None
    c, b, a = np.polyfit(at, square, 2).tolist()
    left = np.abs(a + b * at + c * at**2 - square).max()
    return (a, b, c) if c > NEGLIGIBLE and left <= NEGLIGIBLE * square.max() else None


def moments(sums: Accumulator, rule: Debiasing) -> Moments:
    """Means of powers of the unbiased reports, from the counts."""
    reading = rule.reading
    if isinstance(reading, Affine) and not reading.clip:
        step = float(reading.step) / rule.beta
        powers = _powers_on_line(sums.sums, (float(reading.start) - rule.alpha) / rule.beta - 0.5, step) / sums.n
    else:
        seen = np.nonzero(sums.sums)[0]
        share, y = sums.sums[seen] / sums.n, rule.unbiased(seen) - 0.5
        square, weighed = y * y, share * y
        powers = np.array([weighed.sum(), weighed @ y, weighed @ square, (weighed * y) @ square])
    return Moments(sums.n, *powers.tolist())


@njit(nogil=True, cache=True)
def _powers_on_line(counts, start, step):  # type: ignore[no-untyped-def]
    """The sums of y, y**2, y**3 and y**4 when counts[i] reports say y = start + i step."""
    first = second = third = fourth = 0.0
    for i in range(counts.size):
        if counts[i]:
            y = start + i * step
            square, weighed = y * y, counts[i] * y
            first += weighed
            second += weighed * y
            third += weighed * square
            fourth += weighed * y * square
    return np.array([first, second, third, fourth])
