"""What shuffling adds: reports of n people without their senders are more private than each report by itself.

Any level. Every other report could, with some probability, have been this person's: it is a clone. With C clones, of
which A look like one answer, the two answers to compare become (A + X, C - A + Y) and (A + Y, C - A + X), where X and Y
say what this person's own report looked like (Feldman, McMillan, Talwar 2022). The divergence of these two laws, summed
over all C and A, holds for every mechanism of that level.

One mechanism. When any two answers differ on equally many outputs (k-ary randomized response, Hadamard, subsets,
projective), every other person sends a uniform output with probability N * low / T, whatever their answer: the privacy
blanket (Balle, Bell, Gascón, Nissim 2019). The others are taken to be known. What is left is again a pair of such laws.

Everything is rounded toward less privacy. Proofs: proofs/shuffling.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betainc
from scipy.stats import binom

from deniable.batch import Floats
from deniable.core import Mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.privacy.shuffled_bits import bits_of

LEAST_DELTA = 1e-11
"""Smaller ones drown in the rounding of doubles."""
ROUNDING = 4e-14
"""What all rounding errors of one sum together stay below; added to every delta."""
PRECISION = 1e-6
"""How far above the crossing an epsilon may be reported, relatively."""
TAIL = 1e-15
"""The share of numbers of clones that is not summed; added to every delta."""
BLOCKS, FEW_BLOCKS, MANY_PEOPLE = 64, 12, 100_000
"""Numbers of blanket reports are taken together in so many blocks, each as its smallest; few are enough for many people."""


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


@dataclass(frozen=True)
class Blanket:
    """The share of people whose report is uniform whatever they say, and the crowd they make."""

    share: float
    crowd: Crowd


def crowd_of(epsilon: float) -> Crowd:
    """The worst of all mechanisms with this epsilon."""
    if not 0 < epsilon <= 20:
        raise InvalidParameter("epsilon must lie above 0 and be at most 20")
    apart = 1 / (1 + math.exp(epsilon))
    return Crowd(math.exp(epsilon), apart, 0.0, apart)


def blanket_of(mechanism: Mechanism) -> Blanket | None:
    """Of a two-level mechanism whose answers all differ equally; None for others.

    >>> from deniable.core import Categories
    >>> from deniable.core import make_mechanism
    >>> blanket = blanket_of(make_mechanism("k-rr", domain=Categories(10), epsilon=1))
    >>> round(blanket.share, 4)                                           # k / (e + k - 1)
    0.8534
    """
    channel = mechanism.channel.two_level
    if channel is None or channel.buckets is not None:  # sets of hashes differ equally on average only
        return None
    shared = channel.sets.overlap()
    if shared is None:
        return None
    different = int(channel.sets.members - shared)  # outputs in one answer's set and not in another's
    outputs, low, high, total = channel.occurring, channel.low, channel.high, channel.total
    # Outputs in both sets weigh `high` for both answers; counting them as `low` can only enlarge the divergence.
    crowd = Crowd(high / low, different * low / total, max(outputs - 2 * different, 0) * low / total, different / outputs)
    return Blanket(outputs * low / total, crowd)


def shuffled_delta(of: Mechanism | float, people: int, epsilon: float) -> float:
    """An upper bound of delta at this epsilon, for the shuffled reports of so many people.

    `of` is a mechanism, or the epsilon of one report of any mechanism.

    >>> shuffled_delta(1.0, 10_000, 0.1) < 1e-6
    True
    """
    _check_people(people)
    if not epsilon >= 0:
        raise InvalidParameter("epsilon must not be negative")
    level, blanket = _parts(of)
    if epsilon >= level:
        return 0.0
    delta = _whole(crowd_of(level), people, epsilon)
    bits = bits_of(of, people) if isinstance(of, Mechanism) else None
    if bits is not None:
        delta = min(delta, bits.delta(epsilon))
    return delta if blanket is None else min(delta, _under_blanket(blanket, people, epsilon))


def shuffled_epsilon(of: Mechanism | float, people: int, delta: float) -> float:
    """The smallest epsilon, rounded up, at which the shuffled reports have at most this delta.

    Never above the epsilon of one report, which holds with delta 0.

    >>> round(shuffled_epsilon(1.0, 10_000, 1e-6), 4)
    0.0432
    """
    _check_people(people)
    if not LEAST_DELTA <= delta < 1:
        raise InvalidParameter(f"delta must lie between {LEAST_DELTA:g} and 1")
    level, blanket = _parts(of)
    crowd = crowd_of(level)
    smallest = _crossing(lambda epsilon: _whole(crowd, people, epsilon), level, delta)[1]
    bits = bits_of(of, people) if isinstance(of, Mechanism) else None
    if bits is not None:
        return min(smallest, _crossing(bits.delta, level, delta)[1])
    if blanket is not None:
        smallest = min(smallest, _crossing(lambda epsilon: _under_blanket(blanket, people, epsilon), level, delta)[1])
    return smallest


def attained_delta(k: int, epsilon_each: float, people: int, epsilon: float) -> float:
    """A lower bound: what k-ary randomized response really has when everyone else's answer is the same third one.

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


def _parts(of: Mechanism | float) -> tuple[float, Blanket | None]:
    if not isinstance(of, Mechanism):
        return float(of), None
    if of.delta:
        raise NotSupported("shuffling bounds are for purely private mechanisms: delta must be 0")
    if not of.protects_all:
        raise InvalidParameter("shuffling is accounted for mechanisms with a level for every pair of values")
    return of.certificate().epsilon_exact, blanket_of(of)


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


def _whole(crowd: Crowd, people: int, epsilon: float) -> float:
    total, unseen = _divergence(crowd, people, epsilon)
    return min(1.0, total + unseen + ROUNDING)


def _under_blanket(blanket: Blanket, people: int, epsilon: float) -> float:
    """The average over how many of the others are under the blanket; each block of numbers counts as its smallest."""
    law = binom(people - 1, blanket.share)
    low, high = int(law.ppf(TAIL)), int(law.isf(TAIL))
    blocks = BLOCKS if people < MANY_PEOPLE else FEW_BLOCKS
    ends = np.unique(np.linspace(low, high + 1, blocks + 1).astype(np.int64))
    if len(ends) < 2:
        ends = np.array([low, high + 1])
    masses = np.diff(law.cdf(ends - 1))
    total = 2 * TAIL + float(law.cdf(low - 1)) if low else 2 * TAIL
    for start, mass in zip(ends[:-1].tolist(), masses.tolist(), strict=True):
        if mass > 0:
            # More people under the blanket are never worse, so the smallest number stands for its block.
            total += mass * _whole(blanket.crowd, start + 1, epsilon)
    return min(1.0, total)


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
