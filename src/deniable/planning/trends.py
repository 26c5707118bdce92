"""Shares that are followed over many periods: which mechanism, and what a device does from period to period.

The error is that of a share in one period, for the share among everyone; people are spread evenly. Where only some of them
report in a period, who they are is part of the error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from deniable.batch import Floats, Keystream, KeystreamCoins, Reports, draw_many
from deniable.core import (
    Binary,
    Epsilon,
    FreshReports,
    KeptAnswer,
    Mechanism,
    RandomizedResponse,
    RandomPeriod,
    Stream,
    TakingTurns,
    TreeOfChanges,
    make_mechanism,
)
from deniable.errors import InvalidParameter
from deniable.estimators import shares, support, yes_shares
from deniable.planning.frequency import attempt, each_way
from deniable.planning.question import Question
from deniable.planning.way import LeftOut, Way, normal

UNLINKED = "Reports cannot be linked by what they say"
PER_DEVICE = "This is promised for each device: a person with two spends twice."
PARTS_OF_PERMANENT = (2, 4)
"""One report of a kept answer has this part of its permanent level: half of it, or a quarter, which can be followed less."""
MOST_TRACKED = 64
MOST_WINDOWS = 1000
"""A survey has at most so many."""


def trend_ways(question: Question, epsilon: Epsilon) -> Iterator[Way | LeftOut]:
    """Every mechanism for shares: in every period with a part of epsilon, in turns with all of it, or once and kept."""
    window = question.periods if question.window is None else question.window
    fresh = partial(_fresh, question)
    if window > 1:
        yield from each_way("frequency", question.domain, epsilon.times(Fraction(1, window)), fresh)
    yield from each_way("frequency", question.domain, epsilon, partial(_turns, question, window))
    if question.window is None:
        yield from _kept_ways(question, epsilon)
        yield attempt("tree of changes", partial(RandomizedResponse, epsilon=epsilon), partial(_tree, question, epsilon))


def _fresh(question: Question, mechanism: Mechanism) -> Way:
    stream = FreshReports(question.periods, mechanism)
    way = _way(question, mechanism, stream, 1, "every period", "trend(rounds)", "Everyone reports in every period.")
    return replace(way, in_survey=f'epsilon = {_level(mechanism.privacy)}, repeat = "each-window"')


def _turns(question: Question, window: int, mechanism: Mechanism) -> Way:
    if window == question.periods:
        stream: Stream = RandomPeriod(question.periods, mechanism)
        words = "Everyone reports once, in a period drawn at random."
        way = _way(question, mechanism, stream, window, "one random period", "trend(rounds)", words)
        return replace(way, in_survey=_between(question, mechanism.privacy, "random-window"))
    stream = TakingTurns(question.periods, mechanism, turns=window)
    words = f"Everyone reports in every {window}th period, in a turn of their own."
    way = _way(question, mechanism, stream, window, f"1 of {window} periods", "trend(rounds)", words)
    lines = f'epsilon = {_level(mechanism.privacy)}, repeat = "turns:{window}"'
    return replace(way, in_survey=lines if window <= MOST_WINDOWS else "")


def _kept_ways(question: Question, epsilon: Epsilon) -> Iterator[Way | LeftOut]:
    size = question.domain.size
    if question.changes != 0:
        # KeptAnswer.changing: between people who change at different times the loss grows with the number of reports.
        yield LeftOut("kept answer", "it does not hide when someone changes; for values that never change, say changes=0")
        return
    for part in PARTS_OF_PERMANENT:
        single = epsilon.times(Fraction(1, part))
        name = "randomized-response" if isinstance(question.domain, Binary) else "k-rr"
        make = partial(make_mechanism, name, domain=question.domain, epsilon=single)
        yield attempt(f"{name} (kept)", make, partial(_kept, question, size, epsilon, single, part))


def _kept(question: Question, size: int, epsilon: Epsilon, single: Epsilon, part: int, mechanism: Mechanism) -> Way:
    stream = KeptAnswer(question.periods, size, epsilon=single, permanent=epsilon)
    words = "One answer is drawn and kept for life; every period adds fresh noise. It must not change: when it does, that is seen."
    made = f"KeptAnswer({question.periods}, {size}, epsilon={single}, permanent={epsilon})"
    way = _way(question, mechanism, stream, 1, f"kept, 1/{part} in a period", f"shares of each period of {made}", words)
    return replace(way, in_survey=f'epsilon = {_level(single)}, budget = {_level(epsilon)}, repeat = "kept:{epsilon.exact}"')


def _tree(question: Question, epsilon: Epsilon, mechanism: Mechanism) -> Way:
    if not isinstance(question.domain, Binary) or question.changes is None or question.changes < 1:
        raise InvalidParameter("it is for a yes or no that changes a known number of times at most: give changes=…")
    stream = TreeOfChanges(question.periods, changes=min(question.changes, question.periods), epsilon=epsilon)
    scale = stream.changes * (stream.high + stream.low) / (stream.high - stream.low)
    stretches = sum((period + 1).bit_count() for period in range(question.periods)) / question.periods
    return Way(
        name=mechanism.name,
        inner="tree of changes",
        asked=mechanism,
        estimator=f"yes_shares(TreeOfChanges({question.periods}, {stream.changes}, {epsilon}), signs)",
        predict=lambda n: normal(scale * math.sqrt(stream.lengths * stretches / n), tracking=float(stream.tracking())),
        losses=partial(_tree_losses, stream),
        in_survey=_between(question, epsilon, f"changes:{stream.changes}"),
        promise=f"Everyone sends signs of one of their at most {stream.changes} changes. {UNLINKED}. {PER_DEVICE}",
    )


def _level(epsilon: Epsilon) -> str:
    """As a survey file writes it."""
    return str(epsilon.exact) if epsilon.exact.denominator == 1 else f'"{epsilon.exact}"'


def _between(question: Question, epsilon: Epsilon, repeat: str) -> str:
    """The lines of a survey that has a first and a last window."""
    if not 2 <= question.periods <= MOST_WINDOWS:
        return ""
    return f'epsilon = {_level(epsilon)}, repeat = "{repeat}", and opens and closes with {question.periods} windows between them'


def _tree_losses(stream: TreeOfChanges, n: int, runs: int, keystream: Keystream) -> Floats:
    """Everyone says yes from a period of their own on, and every device walks through its life."""
    coins, losses = KeystreamCoins(keystream), []
    turned = np.arange(n) % stream.periods
    truth = (turned[:, None] <= np.arange(stream.periods)).mean(axis=0)
    for _ in range(runs):
        signs = {1 << bit: np.zeros((stream.periods >> bit, 2), np.int64) for bit in range(stream.lengths)}
        for turn in turned.tolist():
            memory = stream.start(coins)
            for period in range(stream.periods):
                sign = stream.report(memory, period, int(period >= turn), coins)
                if sign is not None:
                    signs[memory["length"]][period // memory["length"], sign] += 1
        losses.append(((yes_shares(stream, signs).value - truth) ** 2).mean())
    return np.array(losses)


def _way(question: Question, mechanism: Mechanism, stream: Stream, every: int, name: str, estimator: str, words: str) -> Way:
    """One person in `every` reports in a period."""
    if isinstance(stream, KeptAnswer) and stream.size > MOST_TRACKED:
        raise InvalidParameter(f"how well a kept answer can be followed is worked out for at most {MOST_TRACKED} values")
    tracking = float(stream.tracking())
    if question.untrackable and tracking > 0:
        raise InvalidParameter(f"two reports of one person can be linked (tracking {tracking:.2g}), and untrackable was asked for")
    linked = (
        "Reports cannot be linked by what they say" if tracking == 0 else f"Two reports can be linked (tracking {tracking:.2g})"
    )
    return Way(
        name=mechanism.name,
        inner=name,
        asked=mechanism,
        estimator=estimator,
        predict=lambda n: normal(trend_error(mechanism, n, every), tracking=tracking),
        losses=partial(_losses, mechanism, every),
        promise=f"{words} {linked}. {PER_DEVICE}",
    )


def trend_error(mechanism: Mechanism, n: int, every: int) -> float:
    """The root of the variance of a share in one period, when one in `every` of n people reports: noise, and who reports."""
    heard, k = n / every, mechanism.domain.size
    if heard < 1:
        return math.inf
    noise = support(mechanism).variance(heard, heard / k) / heard**2
    return math.sqrt(noise + (1 / heard - 1 / n) * (1 - 1 / k) / k)


def _losses(mechanism: Mechanism, every: int, n: int, runs: int, stream: Keystream) -> Floats:
    k, coins = mechanism.domain.size, KeystreamCoins(stream)
    people = np.arange(n) % k
    truth = np.bincount(people, minlength=k) / n
    losses = []
    for _ in range(runs):
        mine = people[[coins.below(every) == 0 for _ in range(n)]] if every > 1 else people
        reports = Reports(mechanism, draw_many(mechanism.channel, mine, stream))
        losses.append(((shares(reports).value - truth) ** 2).mean())
    return np.array(losses)
