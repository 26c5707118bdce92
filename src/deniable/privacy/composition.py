"""What several answers cost together: added up, or as exactly as it can be known.

For pure privacy the worst mechanism of level ε is randomized response, so k of them are a sum of k coins, and the
divergence of that sum is the exact price of k answers (Kairouz, Oh, Viswanath 2015). Levels that differ are put on a
common lattice; where that is too fine they are rounded up, which only makes the answer safer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from deniable.core import Number, as_fraction
from deniable.errors import InvalidParameter

MOST_STEPS, MOST_WORK = 1 << 19, 1 << 33
"""Lattice steps of all levels together, and steps times answers; a finer lattice is replaced by a coarser one, rounded up."""
MOST_MIXED, MOST_ALIKE = MOST_STEPS // 64, 10**7
"""Answers that can be added up: of different levels on a coarser lattice, and of one level."""
HIGHEST, LARGE = 10**6, 700
ROUNDING = 1e-12
"""Relative, added to every delta: far more than the rounding of doubles in these sums."""


def basic(epsilons: Sequence[Number]) -> Fraction:
    """The sum: what any number of answers cost at most, with delta 0.

    >>> basic(["1/2", 1, "0.25"])
    Fraction(7, 4)
    """
    return sum((level * count for level, count in _counted(epsilons)), start=Fraction(0))


def parallel(epsilons: Sequence[Number]) -> Fraction:
    """The largest: what answers of different people cost, since each person gives one."""
    return max((_level(epsilon) for epsilon in epsilons), default=Fraction(0))


def group(epsilon: Number, size: int, delta: Number = 0) -> tuple[Fraction, float]:
    """(epsilon, delta) for `size` people together, or one person who is counted so often.

    >>> group(1, 3)
    (Fraction(3, 1), 0.0)
    """
    level, extra = _level(epsilon), _share("delta", delta)
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise InvalidParameter("size must be a whole number of at least 1")
    if extra == 0 or level * size > LARGE:  # beyond that a delta of 1 is reached long ago
        return level * size, 1.0 if extra else 0.0
    return level * size, min(1.0, _up(float(extra) * math.expm1(float(level * size)) / math.expm1(float(level))))


def composed_delta(epsilons: Sequence[Number], epsilon: float, deltas: Sequence[Number] = ()) -> float:
    """The smallest delta, rounded up, that answers of these levels have together at `epsilon`.

    No better statement holds for all mechanisms of these levels, as long as nothing was rounded up to a coarser lattice.

    >>> composed_delta([1] * 10, 10) <= 1e-12, round(composed_delta([0.1] * 100, 3), 6)
    (True, 0.001361)
    """
    return _delta(*_coins(epsilons), epsilon, deltas)


def _delta(law: NDArray[np.float64], step: float, epsilon: float, deltas: Sequence[Number]) -> float:
    loss = step * (2 * np.arange(law.size) - (law.size - 1))
    over = loss > epsilon
    pure = float(np.sum(law[over] * -np.expm1(epsilon - loss[over])))
    kept = math.prod(1 - float(_share("deltas", delta)) for delta in deltas)
    return min(1.0, _up(1 - kept * (1 - _up(pure))) if deltas else _up(pure))


def composed_epsilon(epsilons: Sequence[Number], delta: float, deltas: Sequence[Number] = ()) -> float:
    """The smallest epsilon, rounded up, at which answers of these levels have at most `delta` together.

    >>> round(composed_epsilon([0.1] * 100, 1e-6), 3), float(basic(["0.1"] * 100))
    (4.775, 10.0)
    """
    if not 0 <= delta < 1:
        raise InvalidParameter("delta must lie between 0 and 1")
    most = float(basic(epsilons))
    low, high = 0.0, most
    law, step = _coins(epsilons)
    if _delta(law, step, high, deltas) > delta + 1e-300 and deltas:
        raise InvalidParameter("delta must be larger than what the answers' own deltas add up to")
    if delta == 0:
        return most
    if _delta(law, step, 0.0, deltas) <= delta:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        if _delta(law, step, middle, deltas) <= delta:
            high = middle
        else:
            low = middle
    return high


def advanced_epsilon(epsilon: Number, answers: int, delta: float) -> float:
    """The textbook's advanced composition (Dwork, Rothblum, Vadhan 2010): simple, and larger than `composed_epsilon`."""
    level = float(_level(epsilon))
    return level * math.sqrt(2 * answers * math.log(1 / delta)) + answers * level * math.expm1(level)


def _coins(epsilons: Sequence[Number]) -> tuple[NDArray[np.float64], float]:
    """The law of the total privacy loss of randomized responses: probabilities on a lattice, and half its step.

    Place i stands for (2 i - last) times the half step: the loss is +level with probability e**level / (1 + e**level).
    """
    whole, step, _ = _lattice(_counted(epsilons))
    law = np.ones(1)
    for steps, count in whole:
        truth = 1 / (1 + math.exp(-steps * step))
        shares = binom.pmf(np.arange(count + 1), count, truth)
        wider = np.zeros(law.size + steps * count)
        if law.size == 1:
            wider[::steps] = shares
        else:
            for heads, share in enumerate(shares):
                wider[steps * heads : steps * heads + law.size] += share * law
        law = wider
    return law, step


def composed_exactly(epsilons: Sequence[Number]) -> bool:
    """Is `composed_epsilon` the smallest that is true of all mechanisms of these levels, or were levels rounded up for it?

    >>> composed_exactly(["0.1", "0.25"]), composed_exactly(["0.1", "0.100000001"])
    (True, False)
    """
    return _lattice(_counted(epsilons))[2]


def _lattice(levels: list[tuple[Fraction, int]]) -> tuple[list[tuple[int, int]], float, bool]:
    """Levels as whole numbers of a step, with their counts: exactly, or rounded up where the common step would be too small."""
    if not levels:
        return [], 1.0, True
    answers = sum(count for _, count in levels)
    common = math.lcm(*(level.denominator for level, _ in levels))
    whole = [(int(level * common), count) for level, count in levels]
    shared = math.gcd(*(steps for steps, _ in whole))
    total = sum(steps * count for steps, count in whole) // shared
    if (len(levels) == 1 and answers <= MOST_ALIKE) or (total <= MOST_STEPS and total * answers <= MOST_WORK):
        return [(steps // shared, count) for steps, count in whole], float(Fraction(shared, common)), True
    if answers > MOST_MIXED:
        raise InvalidParameter(f"at most {MOST_ALIKE} answers of one level, or {MOST_MIXED} of several, can be added up")
    step = sum((level * count for level, count in levels), start=Fraction(0)) / (MOST_STEPS - answers)
    return [(math.ceil(level / step), count) for level, count in levels], float(step), False


def _counted(epsilons: Sequence[Number]) -> list[tuple[Fraction, int]]:
    """The different levels, from the smallest, and how many answers have each."""
    counts: Counter[Fraction] = Counter()
    for value, count in Counter(epsilons).items():
        counts[_level(value)] += count
    return sorted(counts.items())


def _level(value: Number) -> Fraction:
    level = as_fraction(value)
    if level is None or level <= 0:
        raise InvalidParameter("every epsilon must be a positive number")
    if level > HIGHEST:
        raise InvalidParameter(f"an epsilon beyond {HIGHEST} promises nothing")
    return level


def _share(name: str, value: Number) -> Fraction:
    chance = as_fraction(value)
    if chance is None or not 0 <= chance < 1:
        raise InvalidParameter(f"{name} must be at least 0 and below 1")
    return chance


def _up(value: float) -> float:
    return value * (1 + ROUNDING)
