"""Telling two distributions apart: which mechanism decides with the fewest reports.

The error is the probability of a wrong decision, averaged over both hypotheses, of the test that adds up
ln(M1(y)/M0(y)) over the reports and decides by its sign (a fair coin at 0): the best test when both are equally likely.
It is computed by Lugannani and Rice's saddlepoint formula, whose error shrinks like 1/n.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from deniable.batch import Floats, Keystream, randomize_many, uniform_below
from deniable.core import Categories, Epsilon, Mechanism
from deniable.errors import InvalidParameter
from deniable.planning.designs.extremal import extremal_design, marginals
from deniable.planning.designs.hypotheses import Hypotheses
from deniable.planning.designs.sample_size import sample_size
from deniable.planning.fakes import decision_gain
from deniable.planning.frequency import each_way
from deniable.planning.question import Question
from deniable.planning.way import LeftOut, Prediction, Way

DIVERGENCES = ("kl", "tv", "chi2", "hellinger")
LEVEL = 0.05
FINE = 1 << 40
AT_ONCE = 1 << 21
TIED = 1e-9


def hypothesis_ways(question: Question, epsilon: Epsilon) -> Iterator[Way | LeftOut]:
    """Every way to test at this epsilon: the extremal designs, and what is used for shares."""
    assert question.hypotheses is not None
    pair = Hypotheses.of(*question.hypotheses)
    domain = question.domain
    assert isinstance(domain, Categories)
    if pair.size != domain.size:
        raise InvalidParameter(f"hypotheses: P0 and P1 must have one share for each of the {domain.size} values")
    each = question.each(epsilon)
    seen = set()
    for name in DIVERGENCES:
        mechanism = extremal_design(*question.hypotheses, each, name).mechanism
        if mechanism.patterns not in seen:
            seen.add(mechanism.patterns)
            yield _way(mechanism, pair, question, f"best {name}")
    yield from each_way("test", domain, each, lambda asked: _way(asked, pair, question, None))


def laws(mechanism: Mechanism, pair: Hypotheses) -> tuple[Floats, Floats]:
    """The laws of a report under P0 and P1."""
    reported = marginals(mechanism, pair)
    return reported.second + reported.difference, reported.second


def _way(mechanism: Mechanism, pair: Hypotheses, question: Question, inner: str | None) -> Way:
    first, second = laws(mechanism, pair)
    assert question.hypotheses is not None
    size = sample_size(mechanism, *question.hypotheses, alpha=LEVEL, beta=LEVEL)
    more = {"reports_enough": float(size.sufficient), "reports_necessary": float(size.necessary)}
    return Way(
        name=mechanism.name,
        inner=inner,
        asked=mechanism,
        estimator="the sum of ln(M1(y)/M0(y)) over the reports: above 0 means P1 (`deniable extremal` prints the scores)",
        predict=lambda n: Prediction(wrong(first, second, n), None, more),
        losses=partial(_losses, mechanism, pair, first, second),
        root=False,
        gain=lambda n: decision_gain(first, second, n, wrong(first, second, n)),
    )


def wrong(first: Floats, second: Floats, n: int) -> float:
    """The probability of deciding wrongly after n reports, averaged over both hypotheses.

    >>> one_coin = wrong(np.array([0.6, 0.4]), np.array([0.4, 0.6]), 101)
    >>> abs(one_coin - 0.0213) < 0.0005      # the probability that 101 coins of 0.6 have their majority wrong
    True
    """
    score = np.log(second) - np.log(first)

    def tilted(s: float) -> tuple[float, float, float]:
        """ln of the sum of M0**(1-s) M1**s, and its first two derivatives."""
        weight = np.exp((1 - s) * np.log(first) + s * np.log(second))
        total = float(weight.sum())
        mean = float(weight @ score) / total
        return math.log(total), mean, float(weight @ (score - mean) ** 2) / total

    if not tilted(0.0)[1] < 0 < tilted(1.0)[1]:
        return 0.5  # the laws differ by less than doubles can tell
    at = float(brentq(lambda s: tilted(s)[1], 0.0, 1.0))
    value, _, curve = tilted(at)
    return (_beyond(at, value, curve, n) + _beyond(1 - at, value, curve, n)) / 2


def _beyond(at: float, value: float, curve: float, n: int) -> float:
    r, u = math.sqrt(max(-2 * n * value, 0.0)), at * math.sqrt(n * curve)
    if r < 1e-6 or u < 1e-6:
        return 0.5
    return min(max(float(ndtr(-r)) + math.exp(-r * r / 2) / math.sqrt(2 * math.pi) * (1 / u - 1 / r), 0.0), 0.5)


def _losses(mechanism: Mechanism, pair: Hypotheses, first: Floats, second: Floats, n: int, runs: int, stream: Keystream) -> Floats:
    """Half of the surveys under either hypothesis; the loss is 1 when the decision is wrong."""
    score = np.log(second) - np.log(first)
    values: Categories = mechanism.domain  # type: ignore[assignment]
    losses, at_once = [], max(1, AT_ONCE // n)
    for turn, shares in enumerate((pair.second + pair.difference, pair.second)):
        for start in range(0, runs // 2, at_once):
            count = min(at_once, runs // 2 - start)
            place = (uniform_below(FINE, n * count, stream) + 0.5) / FINE
            people = np.searchsorted(np.cumsum(shares)[:-1], place)
            named = people if values.labels is None else np.array(values.labels)[people]
            reports = randomize_many(mechanism, named, stream)
            total = score[reports.outputs.astype(np.int64)].reshape(count, n).sum(axis=1)
            losses.append(np.where(np.abs(total) < TIED, 0.5, (total > 0) != (turn == 1)))
    return np.concatenate(losses)
