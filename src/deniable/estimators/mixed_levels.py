"""Shares from reports of different privacy levels: people who chose their own, or several mechanisms for one question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.batch import Floats
from deniable.core import Categories, Mechanism
from deniable.errors import InvalidParameter
from deniable.estimators.covariance import support_law
from deniable.estimators.estimate import Estimate
from deniable.estimators.frequency import shares
from deniable.estimators.linear_law import ReportGroup, linear_intervals, report_law
from deniable.estimators.projections import simplex
from deniable.estimators.source import Source, accumulated
from deniable.estimators.table_decoder import TableDecoder

MOST_VALUES = 1024


def combined_shares(sources: Sequence[Source]) -> Estimate:
    """The shares in the population, from groups of reports with mechanisms of their own for the same categories.

    Every group alone is unbiased; they are weighed by the inverses of their covariances (sampling included) at an even spread of
    people: weights that do not look at the reports, so that the sum stays unbiased, and the best there are for that spread. A group
    of a small epsilon counts for little and never harms. Who is in which group must not depend on the answer: where people choose
    their own epsilon, ask at random instead, or compare the groups.

    >>> from deniable.core import Categories, make_mechanism
    >>> levels = [make_mechanism("k-rr", domain=Categories(3), epsilon=level) for level in (1, 4)]
    >>> both = combined_shares([one.randomize_many([0, 1, 1, 2] * 500) for one in levels])
    >>> both.n, bool(both.variance[0] < 0.01)
    (4000, True)
    """
    sums = [accumulated(source) for source in sources]
    if not sums:
        raise InvalidParameter("sources must be at least one group of reports")
    domain = sums[0].mechanism.domain
    if not isinstance(domain, Categories) or any(one.mechanism.domain != domain for one in sums):
        raise InvalidParameter("all groups must be about the same categories")
    if domain.size > MOST_VALUES:
        raise InvalidParameter(f"groups are combined for at most {MOST_VALUES} categories")
    estimates = [shares(one, target="population") for one in sums]
    weights = group_weights([one.mechanism for one in sums], [one.n for one in sums])
    size = domain.size
    value, covariance = np.zeros(size), np.zeros((size, size))
    for weight, estimated in zip(weights, estimates, strict=True):
        value += weight @ estimated.value
        own = np.diag(estimated.variance) if estimated.covariance is None else estimated.covariance
        covariance += weight @ own @ weight.T
    groups = [ReportGroup(report_law(one.mechanism), one.n, weight) for one, weight in zip(sums, weights, strict=True)]
    return Estimate(
        value=value,
        covariance=covariance,
        n=sum(one.n for one in sums),
        target="population",
        method=f"unbiased shares of {len(sums)} groups, weighed by their covariances",
        labels=domain.labels or range(size),
        total=1.0,
        bounds=(0.0, 1.0),
        sure=linear_intervals(value, np.eye(size), simplex(value, 1.0), groups, 1.0),
    )


def group_weights(mechanisms: Sequence[Mechanism], counts: Sequence[int]) -> list[Floats]:
    """The matrices with which every group's shares are multiplied; they add up to the identity."""
    inverses = [np.linalg.inv(_even_covariance(mechanism) / count) for mechanism, count in zip(mechanisms, counts, strict=True)]
    together = np.linalg.inv(np.sum(inverses, axis=0))
    return [np.asarray(together @ inverse, np.float64) for inverse in inverses]


def _even_covariance(mechanism: Mechanism) -> Floats:
    """Of one report's unbiased shares, people being spread evenly and drawn at random."""
    channel = mechanism.channel
    size = channel.inputs
    even = np.full(size, 1 / size)
    noise = (TableDecoder(mechanism) if channel.support() is None else support_law(mechanism)).count_noise(even, True)
    # Along the sum of all shares there may be no noise at all: a trace of it keeps the inverse.
    sampled = noise + np.diag(even) - 1 / size**2
    return np.asarray(sampled + np.trace(sampled) * 1e-6, np.float64)
