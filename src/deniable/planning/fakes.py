"""How far fake users can push what a candidate estimates: m of them send the worst reports the format allows.

One percent of the users, added to them. Everything is in expectation and in the units of what is estimated. `exact` says
whether some report reaches the number; otherwise it is an upper bound, or where it says "about", an approximation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations

import numpy as np
from scipy.special import ndtr

from deniable.batch import Floats
from deniable.core import Interval, Mechanism
from deniable.estimators import SupportLaw
from deniable.planning.way import fakes
from deniable.privacy import Gain, count_gain, mean_gain

MOST_LISTED = 1 << 14


def part_of(users: int, groups: float = 1) -> float:
    """The fakes' part of the reports of a group that they all join, of so many equal ones."""
    return fakes(users) / (users / groups + fakes(users))


def record_gain(parts: Mapping[str, Mechanism], users: int, *, sampled: bool) -> Gain:
    """The attribute that can be pushed most, in shares or in widths of its domain; `sampled` users answer one attribute each.

    Honest users pick their attribute at random; fakes all pick the same.
    """
    asked = max(1, users // len(parts)) if sampled else users
    gains = []
    for part in parts.values():
        if isinstance(part.domain, Interval):
            gain = mean_gain(part, users=asked, fakes=fakes(users))
            width = float(part.domain.width)
            gains.append(Gain("the mean of one attribute, in widths", gain.gain / width, gain.per_fake / width, gain.exact))
        else:
            gain = count_gain(part, users=asked, fakes=fakes(users))
            gains.append(Gain("the share of one value of one attribute", gain.gain, gain.per_fake, gain.exact))
    return max(gains, key=lambda gain: gain.gain)


def supported(questions: Floats, law: SupportLaw, mechanism: Mechanism) -> tuple[Floats, bool]:
    """How far one report moves every question about the values' shares, and whether reports reach it.

    A column for every report, where there are few. Otherwise one column: what a report that supports just the values that
    help would do; with free bits there is one for every single question.
    """
    every = _supports(mechanism)
    if every is not None:
        return questions @ ((every - law.q) / law.gap), True
    ends = np.stack([questions * (1 - law.q), -questions * law.q]) / law.gap
    most = np.maximum(ends.max(axis=0).sum(axis=1), -ends.min(axis=0).sum(axis=1))
    return most[:, None], mechanism.channel.free_bits and len(questions) == 1


def _supports(mechanism: Mechanism) -> Floats | None:
    """Which values every report supports, a column each; None where the reports are too many."""
    channel = mechanism.channel
    sets, values = channel.set_system, range(channel.inputs)
    if sets is None or channel.support() is None:
        return None
    if sets.members == 1 and channel.inputs == channel.outputs:
        return np.eye(channel.inputs)
    if channel.ones is not None and channel.occurring <= MOST_LISTED:
        chosen = list(combinations(values, channel.ones))
        return np.array([[value in one for one in chosen] for value in values], np.float64)
    if channel.inputs * channel.outputs <= MOST_LISTED:
        return np.array([[sets.contains(value, output) for output in range(channel.outputs)] for value in values], np.float64)
    return None


def word_gain(users: int, estimating: float, per_fake: float) -> Gain:
    """The share of a word: fakes all join the group that estimates."""
    part = fakes(users) / (estimating + fakes(users))
    return Gain("the share of one word", part * per_fake, per_fake, True)


def decision_gain(first: Floats, second: Floats, users: int, honest: float) -> Gain:
    """The probability of a wrong decision when fakes send the report that speaks most for the wrong hypothesis.

    About: the sum of the honest scores is taken as normal.
    """
    score, worst = np.log(second) - np.log(first), 0.0
    for law, toward in ((first, score), (second, -score)):
        mean, push = float(law @ toward), float(toward.max())
        spread = math.sqrt(users * float(law @ (toward - mean) ** 2))
        worst = max(worst, float(ndtr((users * mean + fakes(users) * push) / spread)))
    more = max(worst - honest, 0.0)
    return Gain("the probability of a wrong decision, about", more, more / fakes(users), False)
