"""What shuffling adds: reports of n people without their senders are more private than each report by itself.

One bound for every mechanism and every level, `BlanketLaw`: from the largest ratio of its weights, how far apart its rows are,
and what all of them share. For two answers there is a sharper one, `ShuffledBits`; the smaller of both is given.

Everything is rounded toward less privacy. Proofs: proofs/shuffling.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy.special import betainc
from scipy.stats import binom

from deniable.batch import Floats
from deniable.core import Mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.privacy.blanket_law import BlanketLaw
from deniable.privacy.composition import composed_epsilon
from deniable.privacy.shuffled_bits import ShuffledBits, bits_of
from deniable.privacy.variation import overlap_of, ratio_of

LEAST_DELTA = 1e-30
"""Smaller ones are nobody's question."""
BITS_PEOPLE = 20_000
"""For more people the sharper bound of two answers takes too long."""
ROUNDING = 4e-14
"""What all rounding errors of one sum together stay below; added to every delta."""
MOST_RATIO = math.exp(20) * (1 + 1e-9)
PRECISION = 1e-6
"""How far above the crossing an epsilon may be reported, relatively."""
TAIL = 1e-15
"""The share of numbers of clones that is not summed; added to every delta."""


@dataclass(frozen=True)
class Crowd:
    """How this person's report looks beside one other report.

    `ratio` is e**epsilon. This person's report is one that only the first answer makes likely with probability
    `ratio * apart`, only the second with `apart` (the other way round for the second answer), and neither with `neither`.
    One other report is either of them with probability `clone` each.
    """

    ratio: float
    apart: float
    neither: float
    clone: float


def law_of(of: Mechanism | float) -> BlanketLaw:
    """The law whose expectation bounds delta: of a mechanism, or of the worst one of a level.

    >>> from deniable.core import Categories, make_mechanism
    >>> ten = make_mechanism("k-rr", domain=Categories(10), epsilon=1)
    >>> [round(share, 4) for share, _, _ in law_of(ten).kinds]                # 1 / (e + 9), twice, and the other eight
    [0.0853, 0.0853, 0.6827]
    """
    if not isinstance(of, Mechanism):
        if not 0 < of <= 20:
            raise InvalidParameter("epsilon must lie above 0 and be at most 20")
        return BlanketLaw.of(math.nextafter(math.exp(of), math.inf))
    if of.delta:
        raise NotSupported("shuffling bounds are for purely private mechanisms: delta must be 0")
    if not of.protects_all:
        raise InvalidParameter("shuffling is accounted for mechanisms with a level for every pair of values")
    ratio = ratio_of(of.channel)
    if not ratio <= MOST_RATIO:
        raise InvalidParameter("epsilon must lie above 0 and be at most 20")
    if ratio == 1:
        raise NotSupported("reports that do not depend on the answer need no shuffling")
    if of.channel.chained:
        return BlanketLaw.of(ratio)
    return BlanketLaw.of(ratio, *overlap_of(of.channel))


def shuffled_delta(of: Mechanism | float, people: int, epsilon: float) -> float:
    """An upper bound of delta at this epsilon, for the shuffled reports of so many people.

    `of` is a mechanism, or the epsilon of one report of any mechanism.

    >>> shuffled_delta(1.0, 10_000, 0.1) < 1e-6
    True
    """
    _check_people(people)
    if not epsilon >= 0:
        raise InvalidParameter("epsilon must not be negative")
    delta = law_of(of).delta(people, epsilon)
    bits = _bits(of, people)
    return delta if bits is None else min(delta, bits.delta(epsilon))


def shuffled_epsilon(of: Mechanism | float, people: int, delta: float) -> float:
    """The smallest epsilon, rounded up, at which the shuffled reports have at most this delta.

    Never above the epsilon of one report, which holds with delta 0.

    >>> round(shuffled_epsilon(1.0, 10_000, 1e-6), 4)
    0.0432
    """
    _check_people(people)
    if not LEAST_DELTA <= delta < 1:
        raise InvalidParameter(f"delta must lie between {LEAST_DELTA:g} and 1")
    law = law_of(of)
    level = math.log(law.ratio)
    smallest = _crossing(lambda epsilon: law.delta(people, epsilon), level, delta)[1]
    bits = _bits(of, people)
    return smallest if bits is None else min(smallest, _crossing(bits.delta, level, delta)[1])


def shuffled_rounds(of: Mechanism | float, people: int, delta: float, rounds: int) -> float:
    """The epsilon of so many rounds together, in each of which a person sends one report that is shuffled with those of `people`.

    Each round's level is taken at its part of delta. They are added up, or composed with half of delta, whichever is less.

    >>> shuffled_rounds(1.0, 10_000, 1e-6, 1) == shuffled_epsilon(1.0, 10_000, 1e-6)
    True
    >>> [round(shuffled_rounds(1.0, 10_000, 1e-6, rounds), 2) for rounds in (2, 12)]
    [0.09, 0.61]
    """
    if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= 10**4:
        raise InvalidParameter("rounds must be a whole number from 1 to 10,000")
    if rounds == 1:
        return shuffled_epsilon(of, people, delta)
    added = rounds * shuffled_epsilon(of, people, delta / rounds)
    each = shuffled_epsilon(of, people, delta / (2 * rounds))
    level = Fraction(math.ceil(each * 2**40), 2**40)
    return min(added, composed_epsilon([level] * rounds, delta / 2))


def attained_delta(k: int, epsilon_each: float, people: int, epsilon: float) -> float:
    """A lower bound of what k-ary randomized response really has when everyone else's answer is the same third one.

    No bound for all mechanisms can be smaller. With k = 2 there is no third answer; everyone else then gives one of the two.
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 2:
        raise InvalidParameter("k must be a whole number of at least 2")
    _check_people(people)
    ratio = math.exp(epsilon_each)
    if k == 2:
        return _binary_delta(ratio, people, epsilon)
    low = 1 / (ratio + k - 1)
    return max(0.0, _divergence(Crowd(ratio, low, (k - 2) * low, low), people, epsilon)[0] - ROUNDING)


def attained_epsilon(k: int, epsilon_each: float, people: int, delta: float) -> float:
    """The epsilon that k-ary randomized response cannot be below at this delta, rounded down."""
    return _crossing(lambda epsilon: attained_delta(k, epsilon_each, people, epsilon), epsilon_each, delta)[0]


def _bits(of: Mechanism | float, people: int) -> ShuffledBits | None:
    return bits_of(of, people) if isinstance(of, Mechanism) and people <= BITS_PEOPLE else None


def _crossing(delta_at: Callable[[float], float], most: float, delta: float) -> tuple[float, float]:
    """Two epsilons close together between which a falling delta passes the one asked for; (most, most) when it never does."""
    low, high = 0.0, most
    above, below = delta_at(low), delta_at(high * (1 - 1e-12))
    if above <= delta:
        return 0.0, 0.0
    if below > delta:
        return most, most
    bisect = False
    while high - low > PRECISION * high:
        middle = (low + high) / 2
        if not bisect and below > 0:
            # The logarithm of delta is nearly a parabola: a straight line in between is a good guess, but never the ends.
            way = math.log(above / delta) / math.log(above / below)
            middle = low + (high - low) * min(max(way, 0.02), 0.98)
        before = high - low
        here = delta_at(middle)
        if here <= delta:
            high, below = middle, here
        else:
            low, above = middle, here
        bisect = high - low > before / 2
    return low, high


def _divergence(crowd: Crowd, people: int, epsilon: float) -> tuple[float, float]:
    """sum over outcomes of (P - e**epsilon Q)+, and a bound of what was not summed.

    An outcome is (a, b) with m = a + b. P and Q are Bin(m, 1/2)(a) times functions that are linear in a, and P/Q grows
    with a; so for every m the sum begins at one a and is two binomial tails.
    """
    near, far, m, unseen = _clone_numbers(crowd, people)
    factor = math.exp(epsilon)
    # P(a, m - a) / Bin(m, 1/2)(a) = far + near * (ratio a + (m - a)) / m; Q the same with a and m - a exchanged.
    steepness = near * (crowd.ratio - 1) * (1 + factor)
    start = far * (1 - factor) + near * (1 - factor * crowd.ratio)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(steepness > 0, np.ceil(-start * m / steepness), m + 1)
    first = np.clip(first, 0, m + 1)
    # The mean of a over its tail is that of one coin fewer: sum of a Bin(m)(a) = m/2 Bin(m - 1)'s tail from one lower.
    gain = steepness / 2 * _tail(m - 1, first - 1) * (m > 0) + start * _tail(m, first)
    return float(np.sum(np.maximum(gain, 0.0))), unseen


@lru_cache(maxsize=256)
def _clone_numbers(crowd: Crowd, people: int) -> tuple[Floats, Floats, Floats, float]:
    """For every number m of reports that look like one of the two answers: the weights of its two ways to come about."""
    law = binom(people - 1, min(2 * crowd.clone, 1.0))
    low, high = int(law.ppf(TAIL / 4)), int(law.isf(TAIL / 4))
    m = np.arange(max(low - 1, 0), min(high + 1, people - 1) + 2)
    near = 2 * crowd.apart * law.pmf(m - 1)
    far = crowd.neither * law.pmf(m)
    return near, far, m.astype(np.float64), TAIL


def _tail(m: Floats, first: Floats) -> Floats:
    """Pr[Bin(m, 1/2) >= first]."""
    tails: Floats = np.where(first <= 0, 1.0, 0.0)
    inside = (first > 0) & (first <= m)
    tails[inside] = betainc(first[inside], m[inside] - first[inside] + 1, 0.5)
    return tails


def _binary_delta(ratio: float, people: int, epsilon: float) -> float:
    """Randomized response where everyone else says no: the number of yes reports, exactly; the worse of both directions."""
    lie = 1 / (1 + ratio)
    law = binom(people - 1, lie)
    y = np.arange(max(int(law.ppf(1e-18)) - 1, 0), int(law.isf(1e-18)) + 3)
    stay, more = law.pmf(y), law.pmf(y - 1)
    yes, no = (1 - lie) * more + lie * stay, lie * more + (1 - lie) * stay
    factor = math.exp(epsilon)
    return max(float(np.sum(np.maximum(a - factor * b, 0.0))) for a, b in ((yes, no), (no, yes)))


def _check_people(people: int) -> None:
    if isinstance(people, bool) or not isinstance(people, int) or not 1 <= people <= 10**9:
        raise InvalidParameter("people must be a whole number from 1 to 10**9")
