"""Means of bounded numbers: which mechanism, for one attribute or for several.

The error is the root mean squared error of the mean given the users' values: those spread evenly over the domain, or
all of them where a report is noisiest. Only mechanisms whose mean report is a straight line in the value are compared:
the others' means come from a smoothed distribution, whose bias depends on the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Floats, Keystream, randomize_many
from deniable.core import Epsilon, Interval, Mechanism, ProductMechanism, Record, SampleOne, mechanisms_for
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import Debiasing, Law, debiasing
from deniable.planning.fakes import record_gain
from deniable.planning.frequency import attempt, each_way
from deniable.planning.question import Question
from deniable.planning.trials import each_survey, rounds
from deniable.planning.way import LeftOut, Prediction, Way, fakes, normal
from deniable.privacy import mean_gain

LOOKED_AT = 256
AT_ONCE = 1 << 21
EVEN_VARIANCE = 1 / 12


class Noise(NamedTuple):
    """What one report adds to the variance of a mean, in units of the domain's width: on average, and at most."""

    rule: Debiasing
    even: float
    worst: float
    worst_at: float


def mean_ways(question: Question, epsilon: Epsilon, *, slow: bool = True) -> Iterator[Way | LeftOut]:
    """Every way to ask for a mean at this epsilon."""
    each, record = question.each(epsilon), question.record
    if record is not None:
        yield from _record_ways(question, record, each)
        return
    yield from each_way("mean", question.domain, each, partial(_one, question), slow=slow)


def noise_of(mechanism: Mechanism) -> Noise:
    """The noise of one report, from the weights.

    >>> from deniable.core import make_mechanism
    >>> noise = noise_of(make_mechanism("duchi", epsilon=1))
    >>> round(noise.worst, 4), round(noise.worst - noise.even, 4)      # ((E + 1)/(E - 1))**2 / 4, and the values' variance
    (1.1707, 0.0833)
    """
    rule = debiasing(mechanism)
    if rule is None:
        raise NotSupported(f"{mechanism.name}'s mean report is not a straight line in the value: its mean would be biased")
    law = Law(mechanism)
    law.reading = rule.reading
    at = (np.arange(LOOKED_AT) + 0.5) / LOOKED_AT
    middles = _moments(law, rule, at)
    places = np.linspace(0, 1, LOOKED_AT + 1)
    edges = _moments(law, rule, places)
    return Noise(rule, float(middles.mean()), float(edges.max()), float(places[edges.argmax()]))


def _moments(law: Law, rule: Debiasing, at: Floats) -> Floats:
    grid = law.grid
    indices = np.clip(np.floor(at * grid.steps + float(grid.shift)), 0, grid.last).astype(np.int64)
    return law.moments(indices)[1] / rule.beta**2


def _one(question: Question, mechanism: Mechanism) -> Way:
    assert isinstance(mechanism.domain, Interval)
    noise, width = noise_of(mechanism), float(mechanism.domain.width)
    worst = question.data == "worst"
    variance = noise.worst if worst else noise.even
    bias = width * noise.rule.bias
    return Way(
        name=mechanism.name,
        asked=mechanism,
        estimator="mean(reports)",
        predict=lambda n: normal(math.hypot(width * math.sqrt(variance / n), bias), worst=width * math.sqrt(noise.worst / n)),
        losses=partial(_losses, mechanism, noise, worst),
        gain=lambda n: mean_gain(mechanism, users=n, fakes=fakes(n)),
    )


def _values(n: int, domain: Interval, place: float | None) -> Floats:
    """Values spread evenly, or all at one place."""
    at = (np.arange(n) + 0.5) / n if place is None else np.full(n, place)
    return np.clip(float(domain.low) + float(domain.width) * at, float(domain.low), float(domain.high))


def _losses(mechanism: Mechanism, noise: Noise, worst: bool, n: int, runs: int, stream: Keystream) -> Floats:
    assert isinstance(mechanism.domain, Interval)
    values = _values(n, mechanism.domain, noise.worst_at if worst else None)
    low, width = float(mechanism.domain.low), float(mechanism.domain.width)
    losses, at_once = [], max(1, AT_ONCE // n)
    for start in range(0, runs, at_once):
        count = min(at_once, runs - start)
        outputs = randomize_many(mechanism, np.tile(values, count), stream).outputs
        means = noise.rule.unbiased(outputs).reshape(count, n).mean(axis=1)
        losses.append((low + width * means - values.mean()) ** 2)
    return np.concatenate(losses)


def _record_ways(question: Question, record: Record, epsilon: Epsilon) -> Iterator[Way | LeftOut]:
    if question.data == "worst":
        raise NotSupported("several attributes are planned for data='even' only")
    for kind in mechanisms_for("field", next(iter(record.fields.values()))):
        inner, chosen = kind.name, dict.fromkeys(record.fields, kind.name)
        split = partial(ProductMechanism.split, record, epsilon, mechanism=chosen)
        yield attempt(f"product ({inner})", split, partial(_record, inner))
        sample = partial(SampleOne.of, record, epsilon, mechanism=chosen)
        yield attempt(f"sample-one ({inner})", sample, partial(_record, inner))


def _record(inner: str, mechanism: ProductMechanism | SampleOne) -> Way:
    noises = {name: noise_of(part) for name, part in mechanism.parts.items()}
    return Way(
        name=mechanism.name,
        inner=inner,
        asked=mechanism,
        estimator="mean(accumulator.parts[name])",
        predict=partial(_record_prediction, mechanism, noises),
        losses=partial(_record_losses, mechanism, noises),
        gain=lambda n: record_gain(mechanism.parts, n, sampled=isinstance(mechanism, SampleOne)),
    )


def _record_prediction(mechanism: ProductMechanism | SampleOne, noises: Mapping[str, Noise], n: int) -> Prediction:
    """Every field counts in units of its own width."""
    answers = n / len(noises) if isinstance(mechanism, SampleOne) else float(n)
    if answers < 1:
        raise InvalidParameter("users must be at least as many as attributes, or some of them are answered by nobody")
    picking = (1 / answers - 1 / n) * EVEN_VARIANCE
    errors = [noise.even / answers + picking for noise in noises.values()]
    return normal(math.sqrt(sum(errors) / len(errors)), worst_attribute=math.sqrt(max(errors)))


def _record_losses(
    mechanism: ProductMechanism | SampleOne, noises: Mapping[str, Noise], n: int, runs: int, stream: Keystream
) -> Floats:
    domains = {name: part.domain for name, part in mechanism.parts.items()}
    values = {name: _values(n, domain, None) for name, domain in domains.items() if isinstance(domain, Interval)}
    losses = []
    for count in rounds(n, runs):
        everyone = {name: np.tile(column, count) for name, column in values.items()}
        for reports in each_survey(randomize_many(mechanism, everyone, stream), n):
            parts = _answered(mechanism.channel.starts, reports.outputs) if isinstance(mechanism, SampleOne) else reports.outputs
            # Evenly spread values have their mean in the middle.
            means = [noise.rule.unbiased(part).mean() for noise, part in zip(noises.values(), parts, strict=True)]
            losses.append(np.mean((np.array(means) - 0.5) ** 2))
    return np.array(losses)


def _answered(starts: Sequence[int], outputs: NDArray[np.uint64]) -> list[NDArray[np.int64]]:
    """The outputs of every part that was picked; part j's outputs are numbered from starts[j] on."""
    whole = outputs.astype(np.int64)
    picked = np.searchsorted(np.array(starts), whole, side="right") - 1
    return [whole[picked == place] - start for place, start in enumerate(starts)]
