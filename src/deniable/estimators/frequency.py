"""How many people have each value, from categorical reports.

A report *supports* a value v when its output lies in S_v (for unary reports: when bit v is 1). A person
with value v is supported with probability p, anyone else with probability q, so with C(v) supporting
reports out of n the count (C(v) - n q) / (p - q) is unbiased. General tables are inverted instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from deniable.batch import Floats, Joined
from deniable.core import Binary, Categories, Hierarchy
from deniable.errors import NotSupported
from deniable.estimators.covariance import MOST_VALUES, law_if_any
from deniable.estimators.estimate import Estimate, SmallSample, Target, check_target
from deniable.estimators.intervals import SupportInterval
from deniable.estimators.level_sums import tree_sums
from deniable.estimators.projections import simplex
from deniable.estimators.score_intervals import of_table
from deniable.estimators.source import Source, accumulated
from deniable.estimators.supports import support_counts
from deniable.estimators.table_decoder import TableDecoder

OWN = 0.75
"""Between mid-p (0.5), which holds a little less often than it says for few reports, and exact (1), which is too wide."""


def counts(source: Source, *, target: Target = "these users") -> Estimate:
    """The number of people with each value, unbiased, in the order of the domain's values.

    For "these users" the variance is that of the privacy noise alone; for "population" (n times the
    share in the population the users were drawn from) it holds the sampling too.

    >>> from deniable.core import Categories
    >>> from deniable.core import make_mechanism
    >>> mechanism = make_mechanism("k-rr", domain=Categories(["cat", "dog", "bird"]), epsilon=1)
    >>> estimated = counts(mechanism.randomize_many(["dog"] * 100))
    >>> abs(float(estimated.value.sum()) - 100) < 1e-9      # unbiased counts of k-rr add up to everyone
    True
    """
    return _estimate(source, target, as_shares=False)


def shares(source: Source, *, target: Target = "these users") -> Estimate:
    """The share of people with each value: counts divided by the number of reports."""
    return _estimate(source, target, as_shares=True)


def _estimate(source: Source, target: Target, *, as_shares: bool) -> Estimate:
    check_target(target)
    sums = accumulated(source)
    mechanism, n = sums.mechanism, sums.n
    domain = mechanism.domain
    if isinstance(mechanism, Hierarchy):
        if not as_shares:
            raise NotSupported("a hierarchy has shares: it asks every user at one level only; multiply them by the number of users")
        return replace(tree_sums(sums).shares(target), labels=mechanism.domain.labels or range(mechanism.domain.size))
    if isinstance(sums, Joined):
        raise NotSupported("a record has no counts of its own; ask for those of a field: accumulator.parts[name]")
    if not isinstance(domain, Categories | Binary):
        raise NotSupported(
            f"{mechanism.name} does not report categories; counts are for categorical mechanisms, numbers have a mean"
        )
    scale = 1 / n if as_shares else 1.0
    small_sample: SmallSample | None = None
    law = law_if_any(mechanism)
    if law is None:
        decoder = TableDecoder(mechanism)
        value: Floats = decoder.inverse @ sums.sums
        noise, widest = decoder.count_noise, np.ptp(decoder.inverse, axis=1)
        sampled = float(target == "population")
        sure: SmallSample = of_table(value / n, simplex(value / n, 1.0), decoder.inverse, decoder.law, n, sampled, n * scale)
    else:
        supported = support_counts(sums)
        value = np.asarray((supported - n * law.q) / law.gap, np.float64)
        noise, widest = law.count_noise, np.asarray(1 / law.gap)
        exact = SupportInterval(supported, n, law.p, law.q, scale, target == "these users")
        small_sample, sure = exact, SupportInterval(supported, n, law.p, law.q, scale, target == "these users", OWN)
    spread = partial(_spread, noise, widest, value, n, target, scale)
    several = len(value) <= MOST_VALUES and (n > 1 or target == "these users")
    return Estimate(
        value=value * scale,
        variance=partial(spread, full=False),  # type: ignore[arg-type]
        covariance=partial(spread, full=True) if several else None,  # type: ignore[arg-type]
        n=n,
        target=target,
        method=f"unbiased {'shares' if as_shares else 'counts'} of {mechanism.name}",
        labels=(domain.labels if isinstance(domain, Categories) else None) or range(domain.size),
        total=n * scale,
        bounds=(0.0, n * scale),
        small_sample=small_sample,
        sure=sure,
    )


def _spread(
    noise: Callable[[Floats, bool], Floats],
    widest: Floats,
    unbiased: Floats,
    n: int,
    target: Target,
    scale: float,
    *,
    full: bool,
) -> Floats:
    """The covariance of the counts times `scale`, or its diagonal.

    The noise depends on the true counts. The possible ones nearest to the unbiased ones stand in for them, so that the result
    is the covariance of a law that exists. `widest` is how far apart what two reports add to a count can be.
    """
    people = simplex(unbiased, n)
    if target == "these users":
        return noise(people, full) * scale**2
    if n == 1:
        # One report says nothing about how much reports differ: take the most that is possible.
        return np.zeros(len(people)) + widest**2 / 4 * scale**2
    sampling = np.diag(people) - np.outer(people, people) / n if full else people * (1 - people / n)
    # n - 1: the shares that the spread is measured around come from the same reports.
    return np.asarray((noise(people, full) + sampling) * (n / (n - 1) * scale**2))
