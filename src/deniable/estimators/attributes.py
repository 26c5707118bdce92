"""Several attributes of one person: shares of every field, and which way to ask promises the least error.

product      everyone answers every field, each with a part of epsilon
sample-one   everyone answers one field with the whole epsilon; a public coin says which
rs-fd        the same, but hidden among fake answers for the other fields
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from deniable.batch import Accumulator, Joined, Sampled
from deniable.core import (
    Binary,
    Categories,
    Domain,
    Epsilon,
    EpsilonLike,
    Marginals,
    Mechanism,
    ProductMechanism,
    RandomSamplingPlusFakeData,
    Record,
    SampleOne,
    mechanisms_for,
)
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators.estimate import Estimate, Target, check_target
from deniable.estimators.frequency import shares
from deniable.estimators.law.support import support
from deniable.estimators.projections import simplex
from deniable.estimators.score_intervals import of_supports
from deniable.estimators.source import Source, accumulated
from deniable.estimators.tables_of_fields import marginal_sums

Aim = Literal["mean", "worst"]


def attribute_shares(source: Source, *, target: Target = "these users") -> dict[str, Estimate]:
    """The shares of every value of every field, from reports of `product`, `sample-one`, `rs-fd` or `marginals`.

    With `sample-one` a field's n is the number of people who answered it. They are a random part of all, so
    for "these users", who are all of them, the variance holds that sampling too.

    >>> both = SampleOne(domain=Record({"smokes": Binary(), "city": Categories(3)}), epsilon=1)
    >>> people = {"smokes": np.zeros(1000, int), "city": np.full(1000, 2)}
    >>> {name: estimate.value.size for name, estimate in attribute_shares(both.randomize_many(people)).items()}
    {'smokes': 2, 'city': 3}
    """
    check_target(target)
    sums = accumulated(source)
    if isinstance(sums.mechanism, Marginals):
        tables = marginal_sums(sums)
        return {name: tables.marginal([name], target=target) for name in tables.names}
    if not isinstance(sums, Joined) or not isinstance(sums.mechanism.domain, Record):
        raise NotSupported(f"{sums.mechanism.name} has no fields; for one attribute use shares(source)")
    by_attribute: dict[str, Estimate] = {}
    for name, part in sums.parts.items():
        if part.n == 0:
            raise InvalidParameter(f"nobody answered the field {name!r} yet; collect more reports")
        own = shares(part, target=target)
        by_attribute[name] = _of_everyone(own, part, sums.n) if isinstance(sums, Sampled) and target == "these users" else own
    return by_attribute


def _of_everyone(answered: Estimate, part: Accumulator, everyone: int) -> Estimate:
    """The shares of all, from those who were picked without replacement: the noise, and who was picked."""
    n = answered.n
    people = simplex(answered.value, 1.0)
    # The variance of a mean of n out of N is (1 - n/N) S**2 / n, and S**2 = N/(N - 1) times that of all N.
    picked = (everyone - n) / max(everyone - 1, 1) / n
    covariance = answered.covariance
    if covariance is not None:
        covariance = covariance + picked * (np.diag(people) - np.outer(people, people))
    variance = answered.variance + picked * people * (1 - people)
    method = f"{answered.method}, {n} of {everyone} picked"
    law, sampled = support(part.mechanism), (everyone - n) / max(everyone - 1, 1)
    # The intervals of those who answered are not those of all.
    sure = of_supports(answered.value, float(law.p), float(law.q), n, sampled)
    return replace(answered, variance=variance, covariance=covariance, method=method, small_sample=None, sure=sure)


@dataclass(frozen=True)
class Strategy:
    """A way to ask for a record, and the squared error it promises for every field's shares."""

    name: str
    mechanism: Mechanism
    errors: Mapping[str, float]
    """Per field, the variance of a share, averaged over the field's values."""

    @property
    def mean(self) -> float:
        """The average over the fields."""
        return sum(self.errors.values()) / len(self.errors)

    @property
    def worst(self) -> float:
        """The field with the largest error."""
        return max(self.errors.values())


@dataclass(frozen=True)
class StrategyChoice:
    """The strategies in order of their promised error, least first, and the reason in words."""

    strategies: tuple[Strategy, ...]
    explanation: str

    @property
    def best(self) -> Strategy:
        """The one with the least promised error."""
        return self.strategies[0]


def predicted_errors(mechanism: Mechanism, n: int) -> dict[str, float]:
    """For every field, the variance of a share among n users, averaged over the values.

    For `product` and `rs-fd` it does not depend on the true shares: p and q alone decide the sum over all
    values. For `sample-one` it holds the picking of n/d people too, which is most when shares are equal.
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise InvalidParameter("n must be a whole number of users, at least 1")
    parts = mechanism.parts
    if not parts:
        raise NotSupported(f"{mechanism.name} has no fields; its error is support(mechanism).variance(n)")
    answers = n / len(parts) if isinstance(mechanism, SampleOne) else float(n)
    variances = {}
    for name, part in parts.items():
        k = part.domain.size
        variances[name] = support(part).variance(answers, answers / k) / answers**2
        variances[name] += (1 / answers - 1 / n) * (1 - 1 / k) / k
    return variances


def choose_strategy(record: Record, epsilon: EpsilonLike, n: int, *, by: Aim = "mean") -> StrategyChoice:
    """Which of the three ways promises the least error for n users at this level for whole records.

    `by` is what is compared: the "mean" over the fields, or the "worst" field.

    >>> choice = choose_strategy(Record({"smokes": Binary(), "city": Categories(5), "job": Categories(8)}), 1, 10_000)
    >>> choice.best.name, [strategy.name for strategy in choice.strategies[1:]]
    ('sample-one', ['product', 'rs-fd'])
    """
    if by not in ("mean", "worst"):
        raise InvalidParameter("by must be 'mean' or 'worst'")
    if not isinstance(record, Record):
        raise InvalidParameter(f"record must be a Record, got {type(record).__name__}")
    for name, domain in record.fields.items():
        if not isinstance(domain, Binary | Categories):
            raise NotSupported(f"field {name!r} is not a list of values: strategies are compared for Binary and Categories only")
    whole, fields = Epsilon(epsilon), len(record.fields)
    part = Epsilon(whole.exact / fields, allow_large=True)
    mechanisms: list[Mechanism] = [
        ProductMechanism.split(record, whole, mechanism=_best_inner(record, part)),
        SampleOne.of(record, whole, mechanism=_best_inner(record, whole)),
        RandomSamplingPlusFakeData(domain=record, epsilon=whole),
    ]
    strategies = [Strategy(mechanism.name, mechanism, predicted_errors(mechanism, n)) for mechanism in mechanisms]
    ordered = tuple(sorted(strategies, key=lambda strategy: getattr(strategy, by)))
    return StrategyChoice(ordered, _explained(ordered, whole, fields, n, by))


def _best_inner(record: Record, epsilon: Epsilon) -> dict[str, str]:
    """The mechanism with the least error for every field."""

    def error(kind: type[Mechanism], domain: Domain) -> float:
        try:
            return support(kind(domain=domain, epsilon=epsilon)).variance(1, 1 / domain.size)
        except InvalidParameter:  # hashing has no more buckets at a very large epsilon
            return math.inf

    return {
        name: min(mechanisms_for("field", domain), key=lambda kind: error(kind, domain)).name
        for name, domain in record.fields.items()
    }


def _explained(ordered: tuple[Strategy, ...], epsilon: Epsilon, fields: int, n: int, by: Aim) -> str:
    """The comparison in words."""
    how = {
        "product": f"everyone answers all {fields} fields, each with epsilon/{fields}",
        "sample-one": f"everyone answers one field with all of epsilon, so a field has about n/{fields} answers",
        "rs-fd": "as sample-one with fake values for the other fields: it hides which field was answered, and pays for it",
    }
    lines = [f"{n} users, epsilon = {epsilon} for whole records; standard error of a share ({by} over the fields):"]
    lines += [f"  {strategy.name}: {getattr(strategy, by) ** 0.5:.4g} ({how[strategy.name]})" for strategy in ordered]
    return "\n".join(lines)
