"""The joint distribution of two attributes, from records that report both.

With s_a(u) = 1 when a report supports u in the first field, and s_b(v) likewise, the products
(s_a(u) - q_a)(s_b(v) - q_b) / ((p_a - q_a)(p_b - q_b)) have the mean 1 for people with (u, v) and 0 for all
others, because the two fields are randomised independently. Their sum is an unbiased count.
"""

from __future__ import annotations

import numpy as np

from deniable.batch import Floats, PairCounts, Reports
from deniable.core import Domain
from deniable.errors import InvalidParameter
from deniable.estimators.estimate import Estimate, Target, check_target
from deniable.estimators.law.support import Support, support
from deniable.estimators.projections import simplex
from deniable.estimators.score_intervals import ScoreIntervals, ScoreQuestion, averaged


def two_way(source: PairCounts | Reports, first: str = "", second: str = "", *, target: Target = "these users") -> Estimate:
    """The share of people with each pair of values: unbiased, first field's values outermost.

    `source` is reports of `product` and the names of two fields, or their `PairCounts`. The values are flat, as
    are the labels (pairs); `value.reshape(k_first, k_second)` is the table, `projected()` makes it possible.

    >>> from deniable.core import Binary, Categories, Record
    >>> from deniable.core import make_mechanism
    >>> both = make_mechanism("product", domain=Record({"smokes": Binary(), "city": Categories(3)}), epsilon=4)
    >>> people = {"smokes": np.ones(500, int), "city": np.full(500, 2)}
    >>> table = two_way(both.randomize_many(people), "smokes", "city")
    >>> table.labels[int(np.argmax(table.value))], round(float(table.value.sum()), 9)
    ((1, 2), 1.0)
    """
    check_target(target)
    sums = _counted(source, first, second)
    n = sums.n
    if n == 0:
        raise InvalidParameter("there are no reports to estimate from")
    parts = [sums.mechanism.parts[name] for name in sums.fields]
    laws = (support(parts[0]), support(parts[1]))
    (qa, gap_a), (qb, gap_b) = [(float(law.q), float(law.p - law.q)) for law in laws]
    rows, columns = sums.margins
    people = (sums.pairs - qb * rows[:, None] - qa * columns[None] + n * qa * qb) / (gap_a * gap_b)
    possible = simplex(people.ravel(), n).reshape(people.shape)
    spread = _noise(possible, laws, n)
    if target == "population":
        spread = _with_sampling(spread, possible, laws, n)
    labels = [(u, v) for u in _labels(parts[0].domain) for v in _labels(parts[1].domain)]
    return Estimate(
        value=people.ravel() / n,
        variance=spread.ravel() / n**2,
        n=n,
        target=target,
        method=f"unbiased two-way shares of {sums.fields[0]} and {sums.fields[1]}",
        labels=labels,
        total=1.0,
        bounds=(0.0, 1.0),
        sure=_intervals(people / n, possible / n, laws, n, float(target == "population")),
    )


def _intervals(value: Floats, likely: Floats, laws: tuple[Support, Support], n: int, sampled: float) -> ScoreIntervals:
    """For each pair (u, v) people are of four kinds, with both, only u, only v or neither; reports are products of two readings."""
    raw = [[_raw_moments(law, own=own) for own in (True, False)] for law in laws]
    kinds = [(0, 0), (0, 1), (1, 0), (1, 1)]
    first, second, third = (np.array([raw[0][i][k] * raw[1][j][k] for i, j in kinds]) for k in range(3))
    variance = second - first**2
    moments = averaged(first, variance, third - 3 * first * variance - first**3, n, sampled)
    both = np.array([1.0, 0.0, 0.0, 0.0])
    questions = []
    for (u, v), share in np.ndenumerate(value):
        own, row, column = likely[u, v], likely[u].sum(), likely[:, v].sum()
        kinds_likely = np.maximum([own, row - own, column - own, 1 - row - column + own], 0.0)
        questions.append(ScoreQuestion(float(share), both, kinds_likely, moments, n))
    return ScoreIntervals(tuple(questions))


def _raw_moments(law: Support, *, own: bool) -> tuple[float, float, float]:
    """E[w], E[w**2], E[w**3] of w = (s - q) / (p - q), of a person with the value or with another."""
    p, q, gap = float(law.p), float(law.q), float(law.p - law.q)
    chance = p if own else q
    high, low = (1 - q) / gap, -q / gap
    return (float(own), *(chance * high**k + (1 - chance) * low**k for k in (2, 3)))  # type: ignore[return-value]


def _counted(source: PairCounts | Reports, first: str, second: str) -> PairCounts:
    if isinstance(source, PairCounts):
        if (first or second) and (first, second) != source.fields:
            raise InvalidParameter(f"the pair counts are of the fields {' and '.join(source.fields)}")
        return source
    if not isinstance(source, Reports):
        raise InvalidParameter(f"the source of a two-way table is Reports or PairCounts, got {type(source).__name__}")
    return PairCounts(source.mechanism, first, second).add(source)


def _labels(domain: Domain) -> list[object]:
    return [domain.decode(index) for index in range(domain.size)]


def _noise(people: Floats, laws: tuple[Support, Support], n: int) -> Floats:
    """The variance of every count when these are the true ones.

    A person who has neither, one or both of (u, v) adds the product of two second moments, less the squared mean.
    """
    (own_a, other_a), (own_b, other_b) = (_second_moments(law) for law in laws)
    rows, columns = people.sum(axis=1, keepdims=True), people.sum(axis=0, keepdims=True)
    neither = n - rows - columns + people
    both = people * (own_a * own_b - 1)
    one = (rows - people) * own_a * other_b + (columns - people) * other_a * own_b
    return np.asarray(both + one + neither * other_a * other_b)


def _second_moments(law: Support) -> tuple[float, float]:
    """E[(s - q)**2] / (p - q)**2 of a person with the value, and of one with another."""
    p, q, gap = float(law.p), float(law.q), float(law.p - law.q)
    return (p * (1 - q) ** 2 + (1 - p) * q**2) / gap**2, q * (1 - q) / gap**2


def _with_sampling(noise: Floats, people: Floats, laws: tuple[Support, Support], n: int) -> Floats:
    """The noise, and that other people could have been asked."""
    if n == 1:
        # One report says nothing about how much reports differ: take the most that is possible.
        ends = [[(1 - float(law.q)) / float(law.p - law.q), -float(law.q) / float(law.p - law.q)] for law in laws]
        products = np.outer(ends[0], ends[1])
        return np.full_like(people, np.ptp(products) ** 2 / 4)
    return np.asarray((noise + people * (1 - people / n)) * (n / (n - 1)))
