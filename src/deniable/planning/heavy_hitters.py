"""Frequent words out of far too many to list: what each search finds.

The error is the smallest share of a word that is found with probability 95 %: it must pass the threshold of every level
of the search, when about `words` prefixes are followed and the answers have no other clusters. The interval is that
of the share of such a word, which is estimated by users who had no part in the search.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from scipy import special, stats
from scipy.optimize import brentq

from deniable.batch import Floats, Keystream, PEMCollector, accumulator_for, randomize_many, uniform_below
from deniable.core import Epsilon, PrefixExtendingMethod, PrefixMechanism, TreeHist, TwoLevel, Whole
from deniable.errors import NotSupported
from deniable.estimators import chances, heavy_hitters
from deniable.planning.fakes import word_gain
from deniable.planning.frequency import each_way
from deniable.planning.question import Question
from deniable.planning.way import NORMAL, LeftOut, Prediction, Simulated, Way

FOUND = 0.95
MOST_DRAWN = 1 << 62
FALSE_POSITIVES = 0.01
"""The default of `heavy_hitters`."""


def word_ways(question: Question, epsilon: Epsilon) -> Iterator[Way | LeftOut]:
    """Every mechanism that searches for frequent words, ready to be weighed."""
    return each_way("heavy-hitters", question.domain, question.each(epsilon), partial(_way, question.words))


def _way(words: int, mechanism: PrefixExtendingMethod | TreeHist) -> Way:
    return Way(
        name=mechanism.name,
        asked=mechanism,
        estimator="heavy_hitters(reports)",
        predict=partial(_prediction, mechanism, words),
        losses=partial(_losses, mechanism),
        root=False,
        measure=partial(_measured, mechanism, words),
        gain=lambda n: word_gain(n, group_sizes(mechanism, n)[-1], _per_fake(mechanism)),
    )


def _per_fake(mechanism: PrefixExtendingMethod | TreeHist) -> float:
    """What one report adds to the estimated count of a word it supports."""
    channel = mechanism.part(len(mechanism.levels))
    if isinstance(mechanism, PrefixExtendingMethod):
        p, q = chances(channel)
        return (1 - q) / (p - q)
    return (channel.high + channel.low) / (channel.high - channel.low)


def group_sizes(mechanism: PrefixMechanism, n: int) -> list[float]:
    """How many users every level of the search has, and how many estimate."""
    shares = mechanism.channel.shares
    return [n * share / sum(shares) for share in shares]


def found_chance(mechanism: PrefixExtendingMethod | TreeHist, words: int, n: int, share: float) -> float:
    """The probability that a word with this share of n users passes every level."""
    chance, before = 1.0, 0
    sizes = group_sizes(mechanism, n)
    for group, bits in enumerate(mechanism.levels):
        followed = 1 if group == 0 else min(words, 1 << before)
        tested = followed << (bits - before)
        passing = _hashed if isinstance(mechanism, PrefixExtendingMethod) else _signed
        # Everyone else's words are spread evenly: some of them begin like this one.
        begun = share + max(0.0, 1 - words * share) / (1 << bits)
        chance *= passing(mechanism.part(group), sizes[group], tested, begun)
        before = bits
    return chance


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


def _prediction(mechanism: PrefixExtendingMethod | TreeHist, words: int, n: int) -> Prediction:
    if found_chance(mechanism, words, n, 1.0) <= FOUND:
        return Prediction(math.inf, None)
    smallest = 0.0
    if found_chance(mechanism, words, n, smallest) < FOUND:  # else of few words even the rarest is found
        smallest = float(brentq(lambda share: found_chance(mechanism, words, n, share) - FOUND, 0.0, 1.0, xtol=1e-9))
    deviation = share_deviation(mechanism, n, smallest)
    return Prediction(smallest, NORMAL * deviation, {"share_error": deviation})


def share_deviation(mechanism: PrefixExtendingMethod | TreeHist, n: int, share: float) -> float:
    """The standard error of the share of a word that was found."""
    channel, users = mechanism.part(len(mechanism.levels)), group_sizes(mechanism, n)[-1]
    if isinstance(mechanism, PrefixExtendingMethod):
        p, q = chances(channel)
        chance = q + share * (p - q)
        variance = chance * (1 - chance) / (users * (p - q) ** 2)
    else:
        kept = (channel.high - channel.low) / (channel.high + channel.low)
        variance = (1 / kept**2 - share**2) / users
    return math.sqrt(max(variance - share * (1 - share) / n, 0.0))


def _losses(mechanism: PrefixExtendingMethod | TreeHist, n: int, runs: int, stream: Keystream) -> Floats:
    raise NotSupported("the smallest share that is found is not a mean of losses; Way.simulated measures it")


def _measured(mechanism: PrefixExtendingMethod | TreeHist, words: int, n: int, runs: int, stream: Keystream) -> Simulated:
    """The smallest share that is found, from how often words of the predicted share are.

    How fast that grows with the share is taken from the prediction; it is needed only for the small step to 95 %.
    """
    share = _prediction(mechanism, words, n).error
    if not math.isfinite(share):
        raise NotSupported("too few users to find anything: there is no share to try")
    rate, error, _ = found_by_trying(mechanism, n, share, runs, stream, words=words)
    rate = min(max(rate, 0.5 / runs), 1 - 0.5 / runs)
    step = 1.01
    chances_there = (found_chance(mechanism, words, n, share / step), found_chance(mechanism, words, n, share * step))
    slope = float(special.ndtri(chances_there[1]) - special.ndtri(chances_there[0])) / (2 * math.log(step))
    away = float(special.ndtri(FOUND) - special.ndtri(rate)) / slope
    density = math.exp(-(float(special.ndtri(rate)) ** 2) / 2) / math.sqrt(2 * math.pi)
    measured = share * math.exp(away)
    return Simulated(measured, measured * error / (density * slope), runs)


def found_by_trying(
    mechanism: PrefixExtendingMethod | TreeHist, n: int, share: float, runs: int, stream: Keystream, *, words: int = 1
) -> tuple[float, float, float]:
    """How often words with this share each are found among others that nobody shares, with the standard error of that; and
    the standard error of their estimated shares."""
    # A text is a whole number to the search; other people's words are drawn more easily as numbers.
    domain = Whole(mechanism.domain.bits)
    mechanism = replace(mechanism, domain=domain)
    having = round(share * n)
    count = max(1, min(words, n // max(having, 1)))
    # Far apart, so that their first prefixes differ, too.
    wanted = [(2 * place + 1) * domain.size // (2 * count) for place in range(count)]
    rates, shares = [], []
    for _ in range(runs):
        others = uniform_below(min(domain.size, MOST_DRAWN), n - having * count, stream)
        people = np.concatenate([np.repeat(np.array(wanted, np.uint64), having), others.astype(np.uint64)])
        reports = randomize_many(mechanism, people, stream)
        if isinstance(mechanism, PrefixExtendingMethod):
            result = heavy_hitters(PEMCollector(mechanism).add(reports))
        else:
            result = heavy_hitters(accumulator_for(mechanism).add(reports))
        listed = list(result.words)
        seen = [listed.index(word) for word in wanted if word in listed]
        rates.append(len(seen) / count)
        shares += [float(result.shares.value[place]) - having / n for place in seen]
    return float(np.mean(rates)), float(np.std(rates)) / math.sqrt(runs), float(np.std(shares)) if shares else math.nan
