"""Frequent words out of far too many to list: what each search finds.

The error is the smallest share of a word that is found with probability 95 %: it must pass the threshold of every level
of the search, when about `words` prefixes are followed and the answers have no other clusters. The interval is that
of the share of such a word, which is estimated by users who had no part in the search.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy import special, stats
from scipy.optimize import brentq

from deniable.accumulators import accumulator_for
from deniable.batch import Keystream, randomize_many
from deniable.batch.sampler import uniform_below
from deniable.channels import TwoLevel
from deniable.domains.words import Text, Whole
from deniable.errors import NotSupported
from deniable.estimators.heavy_hitters import PEMCollector, heavy_hitters
from deniable.estimators.heavy_hitters.pem import chances
from deniable.exact import Epsilon
from deniable.mechanisms.words.pem import PrefixExtending
from deniable.mechanisms.words.prefixes import PrefixMechanism
from deniable.mechanisms.words.tree_hist import TreeHist
from deniable.planning.frequency import attempt
from deniable.planning.question import Question
from deniable.planning.way import NORMAL, Floats, LeftOut, Prediction, Way

FOUND = 0.95
FALSE_POSITIVES = 0.01
"""The default of `heavy_hitters`."""


def word_ways(question: Question, epsilon: Epsilon) -> Iterator[Way | LeftOut]:
    """Both searches."""
    each, domain = question.each(epsilon), question.domain
    assert isinstance(domain, Text | Whole)
    yield attempt("pem", partial(PrefixExtending, domain=domain, epsilon=each), partial(_way, question.words))
    yield attempt("tree-hist", partial(TreeHist, domain=domain, epsilon=each), partial(_way, question.words))


def _way(words: int, mechanism: PrefixExtending | TreeHist) -> Way:
    return Way(
        name=mechanism.name,
        asked=mechanism,
        estimator="heavy_hitters(reports)",
        predict=partial(_prediction, mechanism, words),
        losses=partial(_losses, mechanism, words),
        root=False,
    )


def group_sizes(mechanism: PrefixMechanism, n: int) -> list[float]:
    """How many users every level of the search has, and how many estimate."""
    shares = mechanism.mixture.shares
    return [n * share / sum(shares) for share in shares]


def found_chance(mechanism: PrefixExtending | TreeHist, words: int, n: int, share: float) -> float:
    """The probability that a word with this share of n users passes every level."""
    found, before = 1.0, 0
    sizes = group_sizes(mechanism, n)
    for group, bits in enumerate(mechanism.levels):
        followed = 1 if group == 0 else min(words, 1 << before)
        tested = followed << (bits - before)
        passing = _hashed if isinstance(mechanism, PrefixExtending) else _signed
        found *= passing(mechanism.part(group), sizes[group], tested, share)
        before = bits
    return found


def _hashed(channel: TwoLevel, users: float, tested: int, share: float) -> float:
    p, q = chances(channel)
    count = max(1, round(users))
    needed = float(stats.binom.isf(FALSE_POSITIVES / tested, count, q)) + 1
    return float(stats.binom.sf(needed - 1, count, q + share * (p - q)))


def _signed(channel: TwoLevel, users: float, tested: int, share: float) -> float:
    kept = (channel.high - channel.low) / (channel.high + channel.low)
    deviation = math.sqrt(1 / (kept**2 * users))
    threshold = deviation * math.sqrt(2 * math.log(tested / FALSE_POSITIVES))
    spread = math.sqrt(max(1 / kept**2 - share**2, 0.0) / users)
    return float(special.ndtr((share - threshold) / spread))


def _prediction(mechanism: PrefixExtending | TreeHist, words: int, n: int) -> Prediction:
    if found_chance(mechanism, words, n, 1.0) <= FOUND:
        return Prediction(math.inf, None)
    smallest = float(brentq(lambda share: found_chance(mechanism, words, n, share) - FOUND, 0.0, 1.0, xtol=1e-9))
    deviation = share_deviation(mechanism, n, smallest)
    return Prediction(smallest, NORMAL * deviation, {"share_error": deviation})


def share_deviation(mechanism: PrefixExtending | TreeHist, n: int, share: float) -> float:
    """The standard error of the share of a word that was found."""
    channel, users = mechanism.part(len(mechanism.levels)), group_sizes(mechanism, n)[-1]
    if isinstance(mechanism, PrefixExtending):
        p, q = chances(channel)
        chance = q + share * (p - q)
        variance = chance * (1 - chance) / (users * (p - q) ** 2)
    else:
        kept = (channel.high - channel.low) / (channel.high + channel.low)
        variance = (1 / kept**2 - share**2) / users
    return math.sqrt(max(variance - share * (1 - share) / n, 0.0))


def _losses(mechanism: PrefixExtending | TreeHist, words: int, n: int, runs: int, stream: Keystream) -> Floats:
    raise NotSupported("the smallest share that is found is no mean of losses; planning.words.found_by_trying measures it")


def found_by_trying(
    mechanism: PrefixExtending | TreeHist, n: int, share: float, runs: int, stream: Keystream
) -> tuple[float, float]:
    """How often one word with this share is found among words that nobody shares; and the standard error of its share."""
    domain = mechanism.domain
    assert isinstance(domain, Whole)
    having = round(share * n)
    wanted = (1 << domain.bits) * 2 // 3
    found, shares = 0, []
    for _ in range(runs):
        others = uniform_below(1 << domain.bits, n - having, stream)
        people = np.concatenate([np.full(having, wanted), others]).astype(np.int64)
        reports = randomize_many(mechanism, people, stream)
        if isinstance(mechanism, PrefixExtending):
            result = heavy_hitters(PEMCollector(mechanism).add(reports))
        else:
            result = heavy_hitters(accumulator_for(mechanism).add(reports))
        if wanted in result.words:
            found += 1
            shares.append(float(result.shares.value[result.words.index(wanted)]) - having / n)
    return found / runs, float(np.std(shares)) if shares else math.nan
