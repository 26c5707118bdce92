"""Answers to linear questions about the shares of categories, with their covariance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import nnls

from deniable.batch import Floats
from deniable.core import Hierarchy
from deniable.errors import InvalidParameter
from deniable.estimators.estimate import Estimate, Target
from deniable.estimators.frequency import shares
from deniable.estimators.level_sums import tree_sums
from deniable.estimators.linear_law import ReportGroup, linear_intervals, report_law
from deniable.estimators.projections import simplex
from deniable.estimators.source import Source, accumulated
from deniable.estimators.table_decoder import TableDecoder

HEAVY = 1e6
"""How much more the sum of the shares counts than a standard error of theirs."""


@dataclass(frozen=True, eq=False)
class BoundedTerms:
    """Hoeffding's intervals: an answer is a mean of independent terms, one a report, within known ends."""

    value: Floats
    widths: Floats
    n: int

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Holds for every number of reports and all data."""
        reach = self.widths * np.sqrt(np.log(2 / (1 - level)) / (2 * self.n))
        return self.value - reach, self.value + reach


def answers(source: Source, questions: Any, *, target: Target = "these users", labels: Sequence[Any] | None = None) -> Estimate:
    """Unbiased answers to linear questions: one a row, one number for every category.

    Intervals hold for few reports and at the ends of what is possible. Where the mechanism is a table there are those of
    `interval(method="exact")` too, which never hold less often than they say, and are wider.

    >>> from deniable.core import Categories, make_mechanism
    >>> mechanism = make_mechanism("k-rr", domain=Categories(3), epsilon=4)
    >>> estimated = answers(mechanism.randomize_many([0, 1, 1, 2] * 500), [[1, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> abs(float(estimated.value[1]) - 0.75) < 0.1, bool(estimated.standard_error[2] < 1e-9)
    (True, True)
    """
    sums = accumulated(source)
    estimated = shares(sums, target=target)
    matrix = _checked(questions, estimated.value.size)
    # Shares add up to 1: what is missing is spread evenly, which keeps them unbiased and calms the noise.
    even = np.eye(estimated.value.size) - 1 / estimated.value.size
    value = matrix @ (even @ estimated.value + 1 / estimated.value.size)
    calm = matrix @ even
    if estimated.covariance is None:
        raise InvalidParameter(
            "answers need at least two reports"
            if estimated.n < 2
            else "answers need the covariance of the shares, which is worked out for fewer values"
        )
    exact = None
    if isinstance(sums.mechanism, Hierarchy):
        sure = tree_sums(sums).linear_intervals(matrix)
    else:
        group = ReportGroup(report_law(sums.mechanism), sums.n, calm)
        sure = linear_intervals(value, matrix, simplex(estimated.value, 1.0), [group], float(target == "population"))
    if sums.mechanism.channel.support() is None and sums.mechanism.channel.sums == "outputs":
        terms = calm @ TableDecoder(sums.mechanism).inverse
        exact = BoundedTerms(value, np.ptp(terms, axis=1), sums.n)
    return Estimate(
        value=value,
        covariance=calm @ estimated.covariance @ calm.T,
        n=estimated.n,
        target=target,
        method=f"unbiased answers to {len(matrix)} linear questions, {estimated.method}",
        labels=range(len(matrix)) if labels is None else labels,
        small_sample=exact,
        sure=sure,
    )


def consistent_answers(source: Source, questions: Any, *, target: Target = "these users") -> Estimate:
    """Answers that some distribution has: shares at least 0 that add up to 1, the nearest in the metric of their noise.

    Biased; the result keeps the unbiased `parent`, whose variances and intervals it has.
    """
    parent = answers(source, questions, target=target)
    estimated = shares(source, target=target)
    matrix = _checked(questions, estimated.value.size)
    return replace(
        parent,
        value=matrix @ possible_shares(estimated),
        method=f"{parent.method}, made consistent (intervals are those before it)",
        parent=parent,
    )


def possible_shares(estimated: Estimate) -> Floats:
    """The nearest shares that are at least 0 and add up to 1, in the metric of the estimate's own covariance."""
    size = estimated.value.size
    covariance = np.diag(estimated.variance) if estimated.covariance is None else estimated.covariance
    values, vectors = np.linalg.eigh(covariance)
    # Along the sum there may be no noise at all: it is held by a row of its own.
    least = max(float(values.max()) * 1e-9, 1e-300)
    metric = (vectors / np.sqrt(np.maximum(values, least))).T
    total = np.full((1, size), HEAVY / np.sqrt(max(float(values.max()), 1e-300)))
    solved, _ = nnls(np.concatenate([metric, total]), np.concatenate([metric @ estimated.value, total[0, :1]]))
    return np.asarray(solved / solved.sum(), np.float64)


def _checked(questions: Any, size: int) -> Floats:
    try:
        matrix = np.asarray(getattr(questions, "answers", questions), np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    if matrix.ndim != 2 or matrix.shape[1] != size or not np.isfinite(matrix).all():
        raise InvalidParameter(f"questions must be rows of {size} finite numbers, one for every category")
    return matrix
