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

from deniable.batch import Accumulator, Floats, Reports, positions
from deniable.core import Affine, Mechanism, NumericMechanism, Reading
from deniable.errors import Malformed, NotSupported
from deniable.estimators.law.law import Law
from deniable.estimators.source import Source, accumulated

LOOKED_AT = 65
"""Values at which the law is compared with a straight line and a parabola; both ends are among them."""
MOST_BIAS = 1e-2
BIAS_TO_NOISE = 1e-3
NEGLIGIBLE = 1e-4
FEWEST_STEPS = 4
"""On a coarser lattice the values' mean has little to do with their cells'."""
HALF = 23
"""Squares of distances between outputs are below 2**46: two halves of so many bits."""
BLOCK = 1 << 16
MOST_EXACT = 1 << 39
"""Below so many reports, sums of halves stay below 2**63."""


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
    """Means of unbiased reports y: of y and y**2 around 1/2, and their number."""

    n: int
    first: float
    second: float


@dataclass(frozen=True)
class FourMoments(Moments):
    """And of y**3 and y**4."""

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


def first_moments(source: Source, rule: Debiasing) -> Moments:
    """Means of the unbiased reports and of their squares.

    Where outputs lie on a line these are whole sums of the outputs, exact, and the reports themselves are enough:
    nobody has to count a million different ones.
    """
    line, n, outputs = _line(rule), len(source), source.mechanism.channel.outputs
    if line is None or n >= MOST_EXACT or outputs > 1 << HALF:
        return moments(accumulated(source), rule)
    start, step = line
    middle = round(min(max(-start / step, 0), outputs - 1))
    if isinstance(source, Reports) and source.outputs.dtype.kind == "u" and n:
        largest, *sums = _sums_of_outputs(source.outputs, middle)
        if largest >= outputs:
            raise Malformed("a report's output is not one this recipe can give")
    else:
        sums = _sums_of_counts(accumulated(source).sums, middle)
    total, high, low = sums
    first, second = total / n, ((high << HALF) + low) / n
    off = start + middle * step
    return Moments(n, off + step * first, off * off + 2 * off * step * first + step * step * second)


def _line(rule: Debiasing) -> tuple[float, float] | None:
    """Start and step of y around 1/2; None where outputs do not lie on a line."""
    reading = rule.reading
    if not isinstance(reading, Affine) or reading.clip:
        return None
    return (float(reading.start) - rule.alpha) / rule.beta - 0.5, float(reading.step) / rule.beta


@njit(nogil=True, cache=True)
def _sums_of_outputs(outputs, middle):  # type: ignore[no-untyped-def]
    """The largest output, and the sums of d and d**2, d = output - middle below 2**23; the latter in two halves.

    A block is so short that its squares fit in 64 bits.
    """
    largest, total, high, low = np.uint64(0), np.int64(0), np.int64(0), np.int64(0)
    for begin in range(0, outputs.size, BLOCK):
        some = outputs[begin : begin + BLOCK]
        # As narrow as d allows: products of 32 bits share a vector, products of 64 do not.
        most, away, squares = some.dtype.type(0), np.int64(0), np.int64(0)
        for i in range(some.size):
            most = max(most, some[i])
            d = np.int64(np.int32(some[i]) - np.int32(middle))
            away += d
            squares += d * d
        largest = max(largest, np.uint64(most))
        total += away
        high += squares >> HALF
        low += squares & ((1 << HALF) - 1)
    return largest, total, high, low


@njit(nogil=True, cache=True)
def _sums_of_counts(counts, middle):  # type: ignore[no-untyped-def]
    """The same sums of d and d**2 when counts[i] reports say i."""
    total, high, low = np.int64(0), np.int64(0), np.int64(0)
    for i in range(counts.size):
        d = i - middle
        square = d * d
        total += counts[i] * d
        high += counts[i] * (square >> HALF)
        low += counts[i] * (square & ((1 << HALF) - 1))
    return total, high, low


def moments(sums: Accumulator, rule: Debiasing) -> FourMoments:
    """Means of powers of the unbiased reports, from the counts."""
    line = _line(rule)
    if line is not None:
        powers = _powers_on_line(sums.sums, *line) / sums.n
    else:
        seen = np.nonzero(sums.sums)[0]
        share, y = sums.sums[seen] / sums.n, rule.unbiased(seen) - 0.5
        square, weighed = y * y, share * y
        powers = np.array([weighed.sum(), weighed @ y, weighed @ square, (weighed * y) @ square])
    return FourMoments(sums.n, *powers.tolist())


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
