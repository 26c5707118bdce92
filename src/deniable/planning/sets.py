"""Items of which everyone has a few, and keys with numbers: which mechanism.

The error of an item's share hardly depends on who has what; it is predicted for people with one item each, spread evenly. The error
of a key's mean depends on how many have the key: it is predicted for one person in ten.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from deniable.batch import Floats, Keystream, Reports, draw_many
from deniable.core import Epsilon, ItemSet, KeyValue, Mechanism
from deniable.estimators import KeyLaw, PairLaw, accumulated, item_noise, item_shares, key_distributions, key_means
from deniable.planning.frequency import each_way
from deniable.planning.question import Question
from deniable.planning.way import LeftOut, Prediction, Way, fakes, normal
from deniable.privacy import Gain

RARE = 10
"""One person in so many has the key whose mean is predicted."""


def set_ways(question: Question, epsilon: Epsilon) -> Iterator[Way | LeftOut]:
    """Every mechanism for the items, or for the keys, at this epsilon."""
    each = question.each(epsilon)
    ways = {"items": _items, "key-values": _keys, "key-distributions": _numbers}
    yield from each_way(question.task, question.domain, each, ways[question.task])


def _items(mechanism: Mechanism) -> Way:
    return Way(
        name=mechanism.name,
        asked=mechanism,
        estimator="item_shares(reports)",
        predict=lambda n: normal(math.sqrt(item_noise(mechanism, 1 / _size(mechanism)) / n)),
        losses=partial(_item_losses, mechanism),
        gain=partial(_item_gain, mechanism),
    )


def _size(mechanism: Mechanism) -> int:
    assert isinstance(mechanism.domain, ItemSet)
    return mechanism.domain.items.size


def _item_losses(mechanism: Mechanism, n: int, runs: int, stream: Keystream) -> Floats:
    size = _size(mechanism)
    # The sets of one item come behind the empty one, in the order of the items.
    people = np.arange(n) % size
    truth = np.bincount(people, minlength=size) / n
    losses = []
    for _ in range(runs):
        reports = Reports(mechanism, draw_many(mechanism.channel, people + 1, stream))
        losses.append(((item_shares(reports).value - truth) ** 2).mean())
    return np.array(losses)


def _item_gain(mechanism: Mechanism, n: int) -> Gain | None:
    held, other = mechanism.channel.naming(1, 1), mechanism.channel.naming(0, 1)
    if held is None or other is None:
        return None
    per_fake = float((1 - other) / (held - other))
    return Gain("the share of one item", fakes(n) * per_fake / (n + fakes(n)), per_fake, True)


def _keys(mechanism: Mechanism) -> Way:
    return Way(
        name=mechanism.name,
        asked=mechanism,
        estimator="key_means(reports)",
        predict=partial(_key_prediction, mechanism),
        losses=partial(_key_losses, mechanism),
    )


def _key_prediction(mechanism: Mechanism, n: int) -> Prediction:
    assert isinstance(mechanism.domain, KeyValue)
    share = 1 / RARE
    if mechanism.channel.signs() is None:
        return _pair_prediction(mechanism, share, n)
    law = key_law(mechanism)
    shown = (1 - share) * law.q + share * law.p
    half = float(mechanism.domain.values.width) / 2
    frequency = math.sqrt(shown * (1 - shown) / n) / (law.p - law.q)
    return normal(half * math.sqrt(shown / n) / (law.slope * share), share_error=frequency)


def _numbers(mechanism: Mechanism) -> Way:
    return Way(
        name=mechanism.name,
        asked=mechanism,
        estimator="key_distributions(reports)",
        predict=partial(_number_prediction, mechanism),
        losses=partial(_number_losses, mechanism),
    )


def _number_prediction(mechanism: Mechanism, n: int) -> Prediction:
    law = PairLaw.of(mechanism.accumulator())
    marks = np.eye(law.counts.shape[1])
    variance = float(np.mean([law.about(row, np.array([row.mean()]), np.array(1 / RARE))[0][0] for row in marks]))
    return normal(math.sqrt(variance / n) * RARE)


def _number_losses(mechanism: Mechanism, n: int, runs: int, stream: Keystream) -> Floats:
    """One person in ten has the first key, with every number in turn."""
    domain = mechanism.domain
    assert isinstance(domain, KeyValue)
    low, step, numbers = float(domain.values.low), float(domain.values.width) / domain.values.cells, domain.grid.size
    having = np.array([domain.encode({domain.labels[0]: low + step * place}) for place in range(numbers)])
    owners = np.arange(n) % RARE == 0
    people = np.where(owners, having[np.arange(n) // RARE % numbers], 0)
    truth = np.bincount(np.flatnonzero(owners) // RARE % numbers, minlength=numbers) / owners.sum()
    losses = []
    for _ in range(runs):
        reports = Reports(mechanism, draw_many(mechanism.channel, people, stream))
        losses.append(((key_distributions(reports).value[:numbers] - truth) ** 2).mean())
    return np.array(losses)


def key_law(mechanism: Mechanism) -> KeyLaw:
    """The chances of a report, without anything counted yet."""
    return KeyLaw.of(mechanism.accumulator())


def _pair_prediction(mechanism: Mechanism, share: float, n: int) -> Prediction:
    assert isinstance(mechanism.domain, KeyValue)
    law = PairLaw.of(mechanism.accumulator())
    numbers = law.counts.shape[1]
    off, every = np.linspace(-1, 1, numbers) / 2 * float(mechanism.domain.values.width), np.ones(numbers)
    mean, frequency = (
        math.sqrt((share * law.moments(row, numbers // 2).variance + (1 - share) * law.moments(row, None).variance) / n)
        for row in (off, every)
    )
    return normal(mean / share, share_error=frequency)


def _key_losses(mechanism: Mechanism, n: int, runs: int, stream: Keystream) -> Floats:
    domain = mechanism.domain
    assert isinstance(domain, KeyValue)
    middle = float(domain.values.low + domain.values.width / 2)
    index = domain.encode({domain.labels[0]: middle})
    truth = domain.decode(index)[domain.labels[0]]
    people = np.array([index if person % RARE == 0 else 0 for person in range(n)], np.int64 if index < 1 << 62 else object)
    losses = []
    for _ in range(runs):
        reports = Reports(mechanism, draw_many(mechanism.channel, people, stream))
        losses.append((key_means(accumulated(reports)).value[0] - truth) ** 2)
    return np.array(losses)
