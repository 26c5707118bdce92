"""Means of vectors: how far the estimated mean is from the true one, and how many rounds a lifetime's privacy pays for.

The error is the root mean squared distance between the two, for vectors as long as the ball allows in random directions. The
half-width is that of the 95 % interval of one coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betaincinv

from deniable.batch import Floats, Keystream, random_words, randomize_many
from deniable.core import LARGE, Ball, Epsilon, EpsilonLike, NearestCodes
from deniable.errors import InvalidParameter
from deniable.estimators import BIAS, mean
from deniable.planning.frequency import each_way
from deniable.planning.question import Question
from deniable.planning.way import NORMAL, LeftOut, Prediction, Way

MOST_ROUNDS = 1_000_000


def vector_ways(question: Question, epsilon: Epsilon) -> Iterator[Way | LeftOut]:
    """Every way to ask for a vector at this epsilon."""
    return each_way("vector", question.domain, question.each(epsilon), _way)


def _way(mechanism: NearestCodes) -> Way:
    return Way(
        name=mechanism.name,
        asked=mechanism,
        estimator="mean(reports)",
        predict=partial(_prediction, mechanism),
        losses=partial(_losses, mechanism),
    )


def _prediction(mechanism: NearestCodes, n: int) -> Prediction:
    reach = mechanism.domain.reach
    half = NORMAL * reach * math.sqrt(mechanism.law.most_variance / n) + reach * BIAS / mechanism.width
    return Prediction(math.sqrt(mechanism.error() / n), half)


def _losses(mechanism: NearestCodes, n: int, runs: int, stream: Keystream) -> Floats:
    """Squared distances of so many surveys, of people in random directions."""
    domain, losses = mechanism.domain, np.empty(runs)
    for run in range(runs):
        words = random_words(stream, n * domain.dimension).reshape(n, -1)
        vectors = (words >> np.uint64(11)).astype(np.float64) / (1 << 52) - 1
        if domain.norm == 2:
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        else:
            vectors = np.sign(vectors)
        vectors *= float(domain.radius)
        estimate = mean(randomize_many(mechanism, vectors, stream))
        losses[run] = float(((estimate.value - vectors.mean(axis=0)) ** 2).sum())
    return losses


def unit_vector_bound(dimension: int, epsilon: float) -> float:
    """The least expected squared distance of one unbiased report from a unit vector: that of the best PrivUnit.

    >>> round(unit_vector_bound(512, 8) / 512, 4)
    0.1318
    """
    if dimension == 1:
        odds = math.exp(epsilon)
        return ((odds + 1) / (odds - 1)) ** 2 - 1
    half, odds = (dimension - 1) / 2, math.exp(epsilon)

    def error(log_share: float) -> float:
        share = math.exp(log_share)
        edge = 1 - 2 * float(betaincinv(half, half, share))
        cap = half * math.log1p(-edge * edge) + math.lgamma(dimension / 2) - math.lgamma(half)
        cap -= math.log(math.sqrt(math.pi) * (dimension - 1))
        chance = share * odds / (share * odds + 1 - share)
        return (math.exp(cap) * (chance / share - (1 - chance) / (1 - share))) ** -2 - 1

    best = minimize_scalar(error, bounds=(-epsilon - 5, math.log(0.5)), method="bounded")
    return float(best.fun)


def affordable_rounds(domain: Ball, *, lifetime: EpsilonLike, users: int, target_error: float) -> int:
    """In how many rounds everyone can take part before `lifetime` is spent, when the mean of each must be so near to the true one.

    The levels of rounds add up, so each of R rounds has lifetime / R; more rounds mean more noise in each. 0 when not even one
    round is near enough. Groups that take turns can make more rounds: `training_choices`.

    >>> affordable_rounds(Ball(512), lifetime=8, users=100_000, target_error=0.1)
    4
    """
    whole = check_training(domain, lifetime=lifetime, users=users, target_error=target_error)

    def near_enough(rounds: int) -> bool:
        mechanism = NearestCodes(domain=domain, epsilon=whole.times(Fraction(1, rounds)))
        return mechanism.error() <= users * target_error**2

    low = max(1, math.ceil(whole.exact / LARGE))  # a round of more than that is not asked for
    if not near_enough(low):
        return 0
    high = 2 * low
    while high <= MOST_ROUNDS and near_enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if near_enough(middle) else (low, middle)
    return low


def check_training(domain: Ball, *, lifetime: EpsilonLike, users: int, target_error: float) -> Epsilon:
    """The lifetime, once the question about rounds makes sense."""
    # Only the levels of rounds are limited: many rounds may cost more together than a report may.
    whole = Epsilon(lifetime, allow_large=True)
    if not isinstance(domain, Ball):
        raise InvalidParameter(f"domain must be a Ball, got {type(domain).__name__}")
    if isinstance(users, bool) or not isinstance(users, int) or users < 1:
        raise InvalidParameter("users must be a whole number, at least 1")
    if not 0 < target_error < math.inf:
        raise InvalidParameter("target_error must be a positive number, in the units of the vectors")
    return whole
