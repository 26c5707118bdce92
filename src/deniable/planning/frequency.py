"""Shares of categories: which mechanism, for one attribute or for several.

The error is the root of a share's variance given the users' data, averaged over all values. For every mechanism with
a p and a q that average does not depend on the data. For the worst data it is the largest variance any share can have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from deniable.batch import Floats, Keystream, randomize_many
from deniable.core import (
    Binary,
    Categories,
    Domain,
    Epsilon,
    Mechanism,
    ProductMechanism,
    RandomSamplingPlusFakeData,
    Record,
    SampleOne,
    make_mechanism,
    mechanisms_for,
)
from deniable.errors import InvalidParameter, MissingPackage, NotSupported
from deniable.estimators import predicted_errors, support, support_counts
from deniable.planning.fakes import record_gain
from deniable.planning.question import Question
from deniable.planning.trials import each_sum, rounds
from deniable.planning.way import LeftOut, Prediction, Way, fakes, normal
from deniable.privacy import count_gain


def share_ways(question: Question, epsilon: Epsilon) -> Iterator[Way | LeftOut]:
    """Every way to ask for shares at this epsilon."""
    record = question.record
    if record is not None:
        yield from _record_ways(question, record, question.each(epsilon))
        return
    each = question.each(epsilon)
    yield from each_way("frequency", question.domain, each, partial(_one, question))
    if question.repeats > 1 and not question.changing and not isinstance(question.domain, Binary):
        # The lifetime level is all of epsilon; a single report is kept at half of it.
        kept = partial(make_mechanism, "rappor", domain=question.domain, epsilon=epsilon.exact / 2, permanent=epsilon)
        yield attempt("rappor", kept, partial(_one, question))


def each_way(
    task: str, domain: Domain, epsilon: Epsilon, way: Callable[[Any], Way], *, slow: bool = True
) -> Iterator[Way | LeftOut]:
    """The way of every mechanism that says it serves this task; the slow ones last, or not at all."""
    kinds = sorted(mechanisms_for(task, domain), key=lambda kind: kind.slow)
    for kind in kinds:
        if slow or not kind.slow:
            yield attempt(kind.name, partial(kind, domain=domain, epsilon=epsilon), way)


def attempt(name: str, make: Callable[[], Any], way: Callable[[Any], Way]) -> Way | LeftOut:
    """The way of a mechanism, or why there is none."""
    try:
        return way(make())
    except (InvalidParameter, MissingPackage, NotSupported) as refused:
        return LeftOut(name, str(refused))


def _one(question: Question, mechanism: Mechanism) -> Way:
    worst = question.data == "worst"
    return Way(
        name=mechanism.name,
        asked=mechanism,
        estimator="shares(reports)",
        predict=lambda n: normal(share_error(mechanism, n, worst=worst)),
        losses=partial(_losses, mechanism, worst),
        gain=lambda n: count_gain(mechanism, users=n, fakes=fakes(n)),
    )


def share_error(mechanism: Mechanism, n: int, *, worst: bool = False) -> float:
    """The root of the variance of a share among n users: averaged over the values, or the largest there is.

    >>> from deniable.core import Categories
    >>> mechanism = make_mechanism("oue", domain=Categories(1000), epsilon=1)
    >>> round(share_error(mechanism, 100_000), 6)      # about sqrt(4e / (e - 1)**2 / n)
    0.006069
    """
    law = support(mechanism)
    if worst:
        return math.sqrt(max(law.variance(n, 0), law.variance(n, n))) / n
    return math.sqrt(law.variance(n, n / mechanism.domain.size)) / n


def _losses(mechanism: Mechanism, worst: bool, n: int, runs: int, stream: Keystream) -> Floats:
    law, k = support(mechanism), mechanism.domain.size
    people = np.zeros(n, np.int64) if worst else np.arange(n) % k
    looked = [0 if law.variance(1, 1) >= law.variance(1, 0) else 1] if worst else list(range(k))
    truth = np.bincount(people, minlength=k)[looked] / n
    p, q = float(law.p), float(law.q)
    losses = []
    for count in rounds(n, runs):
        reports = randomize_many(mechanism, _named(mechanism.domain, np.tile(people, count)), stream)
        counts = np.array([support_counts(sums)[looked] for sums in each_sum(reports, n)])
        losses.append((((counts / n - q) / (p - q) - truth) ** 2).mean(axis=1))
    return np.concatenate(losses)


def _named(domain: Domain, people: np.ndarray[tuple[int], np.dtype[np.int64]]) -> object:
    """Numbers of categories as their values."""
    labels: Sequence[str] | None = getattr(domain, "labels", None)
    return people if labels is None else np.array(labels)[people]


def _record_ways(question: Question, record: Record, epsilon: Epsilon) -> Iterator[Way | LeftOut]:
    """Every field with a part of epsilon, or one field with all of it, by each mechanism; and fakes."""
    if question.data == "worst":
        raise NotSupported("several attributes are planned for data='even' only")
    for kind in mechanisms_for("field", Categories(2)):
        inner = kind.name
        chosen = {name: "randomized-response" if isinstance(field, Binary) else inner for name, field in record.fields.items()}
        split = partial(ProductMechanism.split, record, epsilon, mechanism=chosen)
        yield attempt(f"product ({inner})", split, partial(_record, inner))
        sample = partial(SampleOne.of, record, epsilon, mechanism=chosen)
        yield attempt(f"sample-one ({inner})", sample, partial(_record, inner))
    yield attempt("rs-fd", partial(RandomSamplingPlusFakeData, domain=record, epsilon=epsilon), partial(_record, None))


def _record(inner: str | None, mechanism: ProductMechanism | SampleOne | RandomSamplingPlusFakeData) -> Way:
    return Way(
        name=mechanism.name,
        inner=inner,
        asked=mechanism,
        estimator="attribute_shares(reports)",
        predict=partial(_record_prediction, mechanism),
        losses=partial(_record_losses, mechanism),
        gain=lambda n: record_gain(mechanism.parts, n, sampled=isinstance(mechanism, SampleOne)),
    )


def _record_prediction(mechanism: ProductMechanism | SampleOne | RandomSamplingPlusFakeData, n: int) -> Prediction:
    errors = predicted_errors(mechanism, n)
    return normal(math.sqrt(sum(errors.values()) / len(errors)), worst_attribute=math.sqrt(max(errors.values())))


def _record_losses(
    mechanism: ProductMechanism | SampleOne | RandomSamplingPlusFakeData, n: int, runs: int, stream: Keystream
) -> Floats:
    sizes = {name: part.domain.size for name, part in mechanism.parts.items()}
    people = {name: np.arange(n) % size for name, size in sizes.items()}
    truth = {name: np.bincount(column, minlength=sizes[name]) / n for name, column in people.items()}
    laws = {name: support(part) for name, part in mechanism.parts.items()}
    means = []
    for count in rounds(n, runs):
        everyone = {name: _named(mechanism.parts[name].domain, np.tile(column, count)) for name, column in people.items()}
        for sums in each_sum(randomize_many(mechanism, everyone, stream), n):
            losses = []
            for name, part in sums.parts.items():  # type: ignore[attr-defined]
                p, q = float(laws[name].p), float(laws[name].q)
                losses.append((((support_counts(part) / part.n - q) / (p - q) - truth[name]) ** 2).mean())
            means.append(np.mean(losses))
    return np.array(means)
