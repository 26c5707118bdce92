"""The prefix extending method: which prefixes are frequent, from the reports of one group after the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import stats

from deniable.batch import PEMCollector
from deniable.core import TwoLevel
from deniable.estimators.estimate import Estimate, Target
from deniable.estimators.frequency import OWN
from deniable.estimators.frequent_words.candidates import WANTED, Prefixes, best, extend, readable
from deniable.estimators.frequent_words.result import HeavyHitters, Level, held_out_shares
from deniable.estimators.frequent_words.wide_support import supported
from deniable.estimators.intervals import SupportInterval
from deniable.estimators.score_intervals import of_supports


def find(collector: PEMCollector, share: float, false_positives: float, most: int, target: Target) -> HeavyHitters:
    """Test every extension of the prefixes found so far, keep those above the threshold, and go on.

    The support of a prefix that nobody has is binomial with chance 1/g, so the threshold is its exact
    quantile at false_positives / (prefixes tested): at most so often does any of them pass by luck.
    """
    mechanism = collector.mechanism
    kept: Prefixes = np.zeros(1, np.uint64)
    levels: list[Level] = []
    before = 0
    for group, bits in enumerate(mechanism.levels):
        outputs = collector.outputs(group)
        channel = mechanism.part(group)
        p, q = chances(channel)
        tested = extend(kept, bits - before)
        counts = supported(channel, outputs, tested)
        needed = max(
            float(stats.binom.isf(false_positives / max(1, len(tested)), len(outputs), q)) + 1,
            (q + WANTED * share * (p - q)) * len(outputs),
        )
        passed = np.flatnonzero(counts >= needed) if len(outputs) else np.empty(0, np.intp)
        kept = tested[best(passed, counts.astype(np.float64), most)]
        threshold = (needed / len(outputs) - q) / (p - q) if len(outputs) else np.inf
        levels.append(Level(bits, len(outputs), len(tested), len(passed), len(kept), threshold))
        before = bits
        if len(kept) == 0:
            break
    words, prefixes = readable(mechanism.domain, kept)
    # In the order of the search: of words sorted by their own estimates, the first is too large by luck.
    shares = estimate(collector, prefixes, words, target)
    return HeavyHitters(tuple(words), shares, tuple(levels), false_positives, collector.n)


def estimate(collector: PEMCollector, prefixes: Prefixes, words: list[object], target: Target) -> Estimate:
    """Unbiased shares of whole words from the last group, who had no part in finding them.

    A group is a sample of all users: the variance s(1-s)/(m (p-q)**2), s = q + f(p-q), holds the noise and
    the sampling of m users from the population.
    """
    group = len(collector.mechanism.levels)
    channel, outputs = collector.mechanism.part(group), collector.outputs(group)
    p, q = chances(channel)
    m = len(outputs)
    ascending = np.argsort(prefixes)
    counts = np.zeros(len(prefixes), np.int64)
    if len(prefixes):
        counts[ascending] = supported(channel, outputs, prefixes[ascending])
    value = (counts / m - q) / (p - q) if m else np.zeros(len(prefixes))
    chance = q + np.clip(value, 0, 1) * (p - q)
    variance = chance * (1 - chance) / (m * (p - q) ** 2) if m else np.full(len(prefixes), np.inf)
    exact = SupportInterval(counts, m, p, q, 1 / m, these_users=False) if m else None
    n = collector.n
    sampled = 1.0 if target == "population" else (n - m) / max(n - 1, 1)
    # Users drawn anew have the exact law of their supports; of given users, who was in the group is left to chance.
    sure = replace(exact, own=OWN) if exact and target == "population" else of_supports(value, p, q, max(m, 1), sampled)
    return held_out_shares("pem", n, value, variance, words, target, exact, sure)


def chances(channel: TwoLevel) -> tuple[float, float]:
    """p and q: how often a report supports its own prefix, and how often another one."""
    buckets = channel.outputs // channel.sets.members
    return channel.favoured / channel.total, 1 / buckets
