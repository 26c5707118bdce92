"""Noise that falls by e**epsilon over the width of the domain, clipped far outside: Laplace and staircase."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from deniable.core.channels.profile import Profile, symmetric
from deniable.core.exact.epsilon import Epsilon
from deniable.core.exact.lattice import check_count
from deniable.errors import InvalidParameter

MOST_DISTANCES = 1 << 17
MOST_POINTS = 1 << 15
"""Every point costs an exponential: half a second for so many."""
FARTHEST = 64
TOTAL_BITS = 62
"""Row totals stay below 2**62 where they can: one 64-bit word draws them."""


def reach(epsilon: Epsilon) -> int:
    """Domain widths beyond either end before reports are clipped: 12/epsilon, at most 64.

    Down to epsilon = 0.19, a report is clipped there less than once in 10**5 times.
    """
    return min(math.ceil(12 / epsilon.exact), FARTHEST)


def checked_points(points: object, epsilon: Epsilon, widths: int = 0) -> int:
    """Refuse lattices of points that are no whole number or too long with their margins."""
    count = check_count("points", points)
    if count > MOST_POINTS:
        raise InvalidParameter(f"points must be at most {MOST_POINTS}: a finer lattice shows no more of a noisy value")
    if count * (widths + 1) > MOST_DISTANCES:
        raise InvalidParameter(
            f"points must be at most {MOST_DISTANCES // (widths + 1)} at epsilon={epsilon}: reports reach {widths} widths out"
        )
    return count


def unit_bits(epsilon: Epsilon, points: int, widths: int) -> int:
    """Bits of the smallest weight: a total below 2**62 if neighbouring weights then still differ enough."""
    eps = float(epsilon)
    mass = math.log2(4 * points / min(eps, 1)) + (widths + 1) * eps / math.log(2)
    finest = 20 + math.ceil(math.log2(points / eps))
    return max(TOTAL_BITS - math.ceil(mass), finest)


def clipped_noise(outer: Sequence[int], widths: int, epsilon: Epsilon) -> Profile:
    """The channel whose weights at the n = len(outer) largest distances inside the margin are `outer`.

    Distance d weighs floor(e**epsilon * the weight at d + n), and n is the width of the domain: no two
    inputs are farther apart, so by construction no inner output has a ratio above e**epsilon. What lies
    beyond lands on the end, whose own weight is the geometric tail, rounded up: also within e**epsilon.
    `outer` must not grow, nor fall by more than e**epsilon.
    """
    n = len(outer)
    half = list(outer)
    for _ in range(widths):
        half = [epsilon.floor(weight) for weight in half[:n]] + half
    tail = Fraction(sum(outer)) / (epsilon.bounds()[0] - 1)
    return symmetric([*half, math.ceil(tail)], inputs=n + 1, margin=n * widths)
