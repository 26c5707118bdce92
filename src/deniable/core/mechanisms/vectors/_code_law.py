"""What one report of nearest code words says about a vector: the public constants, for a uniformly random rotation.

Floats choose and read; nothing here touches a private value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

STEP = 1 / 16
FARTHEST = 9.0
MOST_ROUNDS = 10_000


class CodeLaw(NamedTuple):
    """Moments of the sent word c along a vector v of length 1, and across it, in the rotated dimension.

    E[c] = mean * v, E[<c, v>**2] = along, and E[<c, w>**2] = across for every w at right angles to v.
    """

    mean: float
    along: float
    across: float

    def error(self, dimension: int) -> float:
        """The expected squared distance of one report, read as a vector, from a vector on the sphere."""
        return (self.along + (dimension - 1) * self.across) / self.mean**2 - 1

    def folded(self, width: int) -> CodeLaw:
        """The same where a coordinate may share its place with another one, of any size, once in `width` seeds."""
        return self._replace(across=self.across + max(0.0, self.along - self.across) / width)

    @property
    def most_variance(self) -> float:
        """The variance of one coordinate of one report, at most, over all vectors of the unit ball."""
        return max(self.across / self.mean**2, self.along / self.mean**2 - 1)

    @property
    def most_square(self) -> float:
        """The mean square of one coordinate of one report, at most."""
        return max(self.across, self.along) / self.mean**2


@lru_cache(maxsize=256)
def code_law(width: int, codes: int, nearest: int, odds: float) -> CodeLaw:
    """The law of the sent word; `odds` is high / low.

    For a simplex and for one set of axes it is exact: direction and length of a normal vector are independent, so the sum over the
    nearest is that of the largest normal numbers over the mean length. Axes of several rotations of one vector depend on one
    another only through its length; that is corrected to the first order in 1/width.
    """
    total = nearest * odds + codes - nearest
    if codes <= width:
        first, second = _largest(nearest, codes, _normal_tail, two_sided=True)
        first /= _mean_length(width)
        second -= nearest / codes  # corners of a simplex are axes less their mean
        square, everything = 1 - 1 / codes, codes - 1.0
    elif codes == 2 * width:
        first, second = _largest(nearest, width, lambda z: 2 * _normal_tail(z))
        first /= _mean_length(width)
        square, everything = 1.0, float(codes)
    else:
        first, second = _largest(nearest, codes // 2, lambda z: sphere_tail(z, width), width=width)
        first /= math.sqrt(width)
        square, everything = 1.0, float(codes)
    mean = (odds - 1) / total * first
    along = (odds * second + everything - second) / total / width
    return CodeLaw(mean, along, (square - along) / (width - 1))


def limit_error(odds: float) -> tuple[float, float]:
    """The least error per dimension of any such mechanism, for many dimensions and words, and the share of favoured words.

    >>> error, share = limit_error(math.exp(4))
    >>> round(error, 3), round(share, 3)
    (0.435, 0.065)
    """
    normal = NormalDist()

    def error(log_share: float) -> float:
        share = math.exp(log_share)
        return ((share * odds + 1 - share) / ((odds - 1) * normal.pdf(normal.inv_cdf(share)))) ** 2

    low, high = -math.log(odds) - 6, math.log(0.5)
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(80):
        width = golden * (high - low)
        low, high = (low, low + width) if error(high - width) < error(low + width) else (high - width, high)
    return error((low + high) / 2), math.exp((low + high) / 2)


def best_nearest(width: int, codes: int, odds: float) -> int:
    """How many words to favour for the least error."""
    share = limit_error(odds)[1]
    low, high = 1, codes // 2
    guess = min(max(round(share * codes), low), high)

    def cost(nearest: int) -> float:
        law = code_law(width, codes, nearest, odds)
        return (law.along + (width - 1) * law.across) / law.mean**2

    step = max(1, guess // 16)
    while True:  # downhill; the error has one valley
        better = min((max(guess - step, low), guess, min(guess + step, high)), key=cost)
        if better == guess and step == 1:
            return guess
        if better == guess:
            step = max(1, step // 4)
        guess = better


def _largest(
    kept: int, count: int, tail: Callable[[float], float], *, two_sided: bool = False, width: int | None = None
) -> tuple[float, float]:
    """The mean sum, and the mean sum of squares, of the `kept` largest of `count` numbers with this tail."""
    first = second = 0.0
    for z in _grid(two_sided):
        chance = tail(z)
        above = _mean_kept(kept, count, chance)
        if width is not None:
            # Two axes of one rotation are rarely both near: their joint tail lacks 2 z**2 phi(z)**2 / width of the product.
            pairs = count * (width - 1) / 2
            above += pairs * 2 * z * z * NormalDist().pdf(z) ** 2 / width * _binomial(kept - 1, count - 2, chance)
        weight = STEP * (0.5 if z == 0 else 1.0)
        if z >= 0:
            first += weight * above
            second += weight * 2 * z * above
        if z < 0 or (z == 0 and two_sided):
            first -= weight * (kept - above)
            second -= weight * 2 * z * (kept - above)
    return first, second + STEP * STEP / 6 * kept  # the squares bend at 0, which the sum over steps does not see


def _grid(two_sided: bool) -> Iterator[float]:
    steps = round(FARTHEST / STEP)
    return (STEP * step for step in range(-steps if two_sided else 0, steps + 1))


def _mean_kept(kept: int, count: int, chance: float) -> float:
    """E[min(kept, N)] for N binomial."""
    if chance >= 1:
        return float(kept)
    fewer = count * chance * binomial_at_most(kept - 2, count - 1, chance) if kept > 1 else 0.0
    return kept * (1 - binomial_at_most(kept - 1, count, chance)) + fewer


def _mean_length(width: int) -> float:
    """The mean length of a vector of so many normal numbers."""
    return math.sqrt(2) * math.exp(math.lgamma((width + 1) / 2) - math.lgamma(width / 2))


def _normal_tail(z: float) -> float:
    return math.erfc(z / math.sqrt(2)) / 2


def sphere_tail(z: float, width: int) -> float:
    """How likely a coordinate of a uniform unit vector exceeds z / sqrt(width) in size."""
    share = z * z / width
    return 0.0 if share >= 1 else incomplete_beta((width - 1) / 2, 0.5, 1 - share)


def _binomial(k: int, n: int, p: float) -> float:
    if not 0 <= k <= n or not 0 < p < 1:
        return float((p <= 0 and k == 0) or (p >= 1 and k == n))
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(p) + (n - k) * math.log1p(-p))


def binomial_at_most(k: int, n: int, p: float) -> float:
    """The chance of at most k successes in n trials."""
    if k < 0:
        return 0.0
    return 1.0 if k >= n else incomplete_beta(n - k, k + 1, 1 - p)


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction.

    >>> round(incomplete_beta(2, 3, 0.5), 6)
    0.6875
    """
    if not 0 < x < 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if front < -700:
        return 0.0
    tiny = 1e-300
    numerator, denominator = 1.0, 1 - (a + b) * x / (a + 1)
    denominator = 1 / (denominator if abs(denominator) > tiny else tiny)
    fraction = denominator
    for m in range(1, MOST_ROUNDS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            denominator = 1 + term * denominator
            denominator = 1 / (denominator if abs(denominator) > tiny else tiny)
            numerator = 1 + term / numerator
            numerator = numerator if abs(numerator) > tiny else tiny
            fraction *= denominator * numerator
        if abs(denominator * numerator - 1) < 1e-13:
            break
    return math.exp(front) * fraction / a
