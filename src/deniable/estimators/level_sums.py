"""The sums of every level of a tree of categories, and what they say: shares, ranges, the cdf, quantiles."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable.batch import (
    Accumulator,
    Floats,
    Reports,
    Sampled,
    accumulator_for,
)
from deniable.core import Hierarchy, Mechanism
from deniable.errors import InvalidParameter, NotSupported, WrongRecipe
from deniable.estimators.covariance import support_law
from deniable.estimators.distribution_estimate import Ends
from deniable.estimators.estimate import Estimate, Target, half_width
from deniable.estimators.law.support import support
from deniable.estimators.linear_law import on_unit_scale
from deniable.estimators.node_moments import node_moments
from deniable.estimators.projections import simplex
from deniable.estimators.quantile_levels import checked_levels
from deniable.estimators.ranges import covered
from deniable.estimators.score_intervals import Moments, ScoreIntervals, ScoreQuestion, averaged
from deniable.estimators.source import Source, accumulated
from deniable.estimators.supports import support_counts
from deniable.estimators.tree import consistent, influence

if TYPE_CHECKING:
    from deniable.estimators.hierarchy import HierarchicalHistogram

MOST_SURE = 1 << 10
"""Up to so many leaves all of them have intervals from the law of the reports; with more, normal ones."""


UNHEARD = 1e12
"""The variance of a level that nobody reported at: its estimates count for nothing."""


@dataclass(frozen=True)
class CategoryTree:
    """The tree of a mechanism `hierarchy`: its leaves are the categories, at 0, 1, 2, …"""

    mechanism: Mechanism
    fan_out: tuple[int, ...]

    @property
    def leaves(self) -> int:
        """The number of categories."""
        return math.prod(self.fan_out)

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """One per level, from the coarsest to the finest."""
        return tuple(self.mechanism.parts.values())

    @cached_property
    def edges(self) -> Floats:
        """The ends of the categories on the line of their numbers."""
        return np.arange(self.leaves + 1, dtype=np.float64)


def tree_sums(source: Source) -> TreeSums:
    """The sums of reports of a `hierarchy`, level by level, and what they say: shares, ranges, cdf, quantiles.

    >>> from deniable.core import Categories, Hierarchy
    >>> mechanism = Hierarchy(domain=Categories(12), epsilon=4, fan_outs=[3, 4])
    >>> estimated = tree_sums(mechanism.randomize_many([1, 5, 5, 9] * 500)).range_share(0, 6)
    >>> abs(float(estimated.value) - 0.75) < 0.2
    True
    """
    sums = accumulated(source)
    mechanism = sums.mechanism
    if not isinstance(mechanism, Hierarchy) or not isinstance(sums, Sampled):
        raise NotSupported(f"{mechanism.name} has no tree; use the mechanism hierarchy, or HierarchicalHistogram for numbers")
    tree = TreeSums(CategoryTree(mechanism, tuple(mechanism.fan_outs)))
    tree.parts = tuple(sums.parts.values())
    return tree


class TreeSums:
    """The sums of every level's reports, and what they say. Mergeable like any accumulator."""

    def __init__(self, tree: HierarchicalHistogram | CategoryTree) -> None:
        self.tree: HierarchicalHistogram | CategoryTree = tree
        self.parts: tuple[Accumulator, ...] = tuple(accumulator_for(mechanism) for mechanism in tree.mechanisms)

    @property
    def n(self) -> int:
        """The number of reports."""
        return sum(part.n for part in self.parts)

    def add(self, reports: Sequence[Reports]) -> TreeSums:
        """Add one batch per level; returns the sums themselves."""
        if len(reports) != len(self.parts):
            raise InvalidParameter(f"reports must be one batch for each of the {len(self.parts)} levels")
        for part, batch in zip(self.parts, reports, strict=True):
            part.add(batch)
        return self

    def merge(self, other: TreeSums) -> TreeSums:
        """New sums with the reports of both."""
        if other.tree != self.tree:
            raise WrongRecipe("only sums of the same tree can be merged")
        merged = TreeSums(self.tree)
        merged.parts = tuple(mine.merge(theirs) for mine, theirs in zip(self.parts, other.parts, strict=True))
        return merged

    @cached_property
    def _laws(self) -> list[tuple[float, float]]:
        laws = [support(mechanism) for mechanism in self.tree.mechanisms]
        return [(float(law.p), float(law.q)) for law in laws]

    def node_variances(self) -> list[float]:
        """The variance of one node's share at every level, for a share as large as the level's average.

        With m reports, share s and support p, q: t (1 - t) / (m (p - q)**2), t = q + s (p - q). It holds the
        noise and which users were asked at this level.
        """
        # Of a tree with shares of its own a rare level may have no reports: the others say what they can without it.
        needed = self.parts[-1:] if isinstance(self.tree, CategoryTree) else self.parts
        if any(part.n == 0 for part in needed):
            raise InvalidParameter("there are no reports to estimate from at some level; collect more, or use fewer levels")
        variances = []
        for part, mechanism, (p, q) in zip(self.parts, self.tree.mechanisms, self._laws, strict=True):
            chance = q + (p - q) / mechanism.domain.size
            variances.append(chance * (1 - chance) / (part.n * (p - q) ** 2) if part.n else UNHEARD)
        return variances

    def node_shares(self) -> list[Floats]:
        """The unbiased share of every node of every level, before anything is made consistent."""
        shares = []
        for part, (p, q) in zip(self.parts, self._laws, strict=True):
            if part.n == 0:
                self.node_variances()
                shares.append(np.full(part.mechanism.domain.size, 1 / part.mechanism.domain.size))
                continue
            shares.append(np.asarray((support_counts(part) / part.n - q) / (p - q), np.float64))
        return shares

    def shares(self, target: Target = "population") -> Estimate:
        """The shares of the finest bins: unbiased, and consistent with every level above."""
        variances = self.node_variances()
        leaves = consistent(self.node_shares(), variances, self.tree.fan_out)[-1]
        unit = np.zeros(self.tree.leaves)
        unit[0] = 1.0
        edges = self.tree.edges
        whole = self.covariance(leaves, target) if isinstance(self.tree, CategoryTree) and len(leaves) <= MOST_SURE else None
        return Estimate(
            value=leaves,
            variance=np.full(len(leaves), self._variance(unit)) if whole is None else np.diagonal(whole),
            covariance=whole,
            n=self.n,
            target=target,
            method=self._method("shares"),
            labels=tuple(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)),
            total=1.0,
            bounds=(0.0, 1.0),
            sure=self._sure([*np.eye(len(leaves))], leaves) if len(leaves) <= MOST_SURE else None,
        )

    def linear_intervals(self, questions: Floats) -> ScoreIntervals:
        """Those of any linear questions about the leaves, one a row."""
        asked, span, least = on_unit_scale(questions)
        leaves = consistent(self.node_shares(), self.node_variances(), self.tree.fan_out)[-1]
        return ScoreIntervals(tuple(self._question(one, leaves) for one in asked), span, offset=least)

    def covariance(self, leaves: Floats, target: Target = "population") -> Floats:
        """Of the finest shares, by the law of every level's reports at the nearest possible shares; who was asked is part of it."""
        likely = simplex(leaves, 1.0)
        pulls = influence(np.eye(len(leaves)), self.node_variances(), self.tree.fan_out)
        total = np.zeros((len(leaves), len(leaves)))
        for part, pull, mechanism in zip(self.parts, pulls, self.tree.mechanisms, strict=True):
            if part.n == 0:
                continue
            nodes = likely.reshape(pull.shape[1], -1).sum(axis=1)
            once = support_law(mechanism).count_noise(nodes, True) + np.diag(nodes) - np.outer(nodes, nodes)
            total += pull @ once @ pull.T / part.n
        if target == "these users":
            # Who was asked at which level counts; which users there are does not.
            total -= (np.diag(likely) - np.outer(likely, likely)) / self.n
        return total

    def ranges(self) -> tuple[Floats, Floats]:
        """Every range of values at once: entry [i, j] is the share from i up to and including j, and its standard error.

        Entries with j < i are 0. Up to 1,024 leaves.
        """
        if self.tree.leaves > MOST_SURE:
            raise NotSupported(f"all ranges at once are for at most {MOST_SURE} leaves; ask range_share for some of them")
        leaves = consistent(self.node_shares(), self.node_variances(), self.tree.fan_out)[-1]
        below = np.concatenate([[0.0], np.cumsum(leaves)])
        spread = np.zeros((len(below), len(below)))
        spread[1:, 1:] = self.covariance(leaves).cumsum(axis=0).cumsum(axis=1)
        own = np.diagonal(spread)
        value = np.triu(below[None, 1:] - below[:-1, None])
        variance = np.triu(own[None, 1:] + own[:-1, None] - 2 * spread[:-1, 1:])
        return value, np.sqrt(np.maximum(variance, 0.0))

    def range_share(self, low: float, high: float) -> Estimate:
        """The share of users between low and high, unbiased up to the bins at both ends.

        The interval holds for every distribution: a bin that is cut counts as outside for its lower end, as inside for its upper.
        """
        if not low <= high:
            raise InvalidParameter("low must not lie above high")
        question = covered(self.tree.edges, float(low), float(high))
        leaves = consistent(self.node_shares(), self.node_variances(), self.tree.fan_out)[-1]
        return Estimate(
            value=np.asarray(question @ leaves),
            variance=np.asarray(self._variance(question)),
            n=self.n,
            target="population",
            method=self._method("range"),
            bounds=(0.0, 1.0),
            sure=replace(self._sure([np.ceil(question)], leaves, [np.floor(question + 1e-12)]), single=True),
        )

    def cdf(self) -> Estimate:
        """The share below every inner edge of the finest bins; unbiased, so it may fall here and there."""
        leaves = consistent(self.node_shares(), self.node_variances(), self.tree.fan_out)[-1]
        inner = range(1, self.tree.leaves)
        below = np.arange(self.tree.leaves)
        return Estimate(
            value=np.cumsum(leaves)[:-1],
            variance=np.array([self._variance((below < edge).astype(np.float64)) for edge in inner]),
            n=self.n,
            target="population",
            method=self._method("cdf"),
            labels=tuple(self.tree.edges[1:-1].tolist()),
            bounds=(0.0, 1.0),
            sure=self._sure([(below < edge).astype(np.float64) for edge in inner], leaves) if len(leaves) <= MOST_SURE else None,
        )

    def quantiles(self, levels: float | Sequence[float] = (0.25, 0.5, 0.75)) -> Estimate:
        """The values below which these shares of the users lie, from the cdf made to rise.

        The standard error is a quarter of the distance between the quantiles at level plus and minus two
        standard errors of the share below: nearer by, the noise of single bins would hide the slope. An interval ends
        at the edge of a bin, where the share below is surely smaller, or surely as large.
        """
        wanted, edges = checked_levels(levels), self.tree.edges
        leaves = consistent(self.node_shares(), self.node_variances(), self.tree.fan_out)[-1]
        up = np.concatenate([[0.0], np.cumsum(leaves)])
        up[-1] = 1.0
        # Between the highest before and the lowest after: the middle of both keeps the order without leaning to a side.
        rising = (np.maximum.accumulate(up) + np.minimum.accumulate(up[::-1])[::-1]) / 2
        rising = np.clip(rising, 0.0, 1.0) + 1e-12 * np.arange(len(up))
        value = np.interp(wanted, rising, edges)
        error = np.sqrt([self._variance(covered(edges, float(edges[0]), float(at))) for at in value])
        slack = np.interp(wanted + 2 * error, rising, edges) - np.interp(wanted - 2 * error, rising, edges)
        return Estimate(
            value=value,
            variance=(slack / 4) ** 2,
            n=self.n,
            target="population",
            method=self._method("quantiles"),
            labels=tuple(wanted.tolist()),
            bounds=(float(edges[0]), float(edges[-1])),
            sure=Ends(lambda level: self._crossings(wanted, leaves, level), value),
        )

    def _crossings(self, wanted: Floats, leaves: Floats, level: float) -> tuple[Floats, Floats]:
        """The edges between which the share below passes each of the wanted ones."""
        size, reach = len(leaves), half_width(level)

        @cache
        def side(edge: int, sign: float) -> float:
            if edge in (0, size):
                return float(edge == size)
            return self._question((np.arange(size) < edge).astype(np.float64), leaves).end(reach, sign)

        def passed(share: float, sign: float) -> int:
            return bisect_left(range(size + 1), share, key=lambda edge: side(edge, sign))

        ends = [[passed(share, sign) for share in wanted.tolist()] for sign in (1.0, -1.0)]
        # The first edge up to which the share may be reached lies behind the quantile's bin; before it, it surely is not.
        first = np.maximum(np.array(ends[0]) - 1, 0)
        return self.tree.edges[first], self.tree.edges[np.minimum(ends[1], size)]

    def _sure(self, questions: Sequence[Floats], leaves: Floats, lower: Sequence[Floats] | None = None) -> ScoreIntervals:
        asked = tuple(self._question(question, leaves) for question in questions)
        return ScoreIntervals(asked, 1.0, None if lower is None else tuple(self._question(one, leaves) for one in lower))

    def _question(self, question: Floats, leaves: Floats) -> ScoreQuestion:
        """A sum of leaves, and the exact law of its estimate: at every level one number per report, summed over its nodes.

        The law is worked out when an interval is asked for: of a thousand leaves, that takes a second.
        """

        @cache
        def laws() -> list[tuple[Moments, int]]:
            pulls = influence(question, self.node_variances(), self.tree.fan_out)
            asked = [each for each in zip(self.parts, pulls, self._laws, strict=True) if each[0].n]
            own = [(node_moments(part.mechanism.channel, pull, p, q), part.n, len(pull)) for part, pull, (p, q) in asked]
            return [(averaged(*moments, n, 1.0), nodes) for moments, n, nodes in own]

        def moments(shares: Floats) -> tuple[float, float]:
            each = [law(shares.reshape(nodes, -1).sum(axis=1)) for law, nodes in laws()]
            return sum(second for second, _ in each), sum(third for _, third in each)

        least = min(part.n for part in self.parts if part.n)
        return ScoreQuestion(float(question @ leaves), question, simplex(leaves, 1.0), moments, least)

    def _variance(self, question: Floats) -> float:
        """Of the sum of question * leaves: nodes of a level are taken as uncorrelated and alike."""
        variances = self.node_variances()
        pulls = influence(question, variances, self.tree.fan_out)
        return float(sum(variance * (pull @ pull) for variance, pull in zip(variances, pulls, strict=True)))

    def _method(self, what: str) -> str:
        tree = self.tree
        if isinstance(tree, CategoryTree):
            return f"{what} of a hierarchy, fan-outs {', '.join(map(str, tree.fan_out))}, consistent"
        return f"{what} of a hierarchical histogram, {tree.oracle}, fan-out {tree.fan_out}, {tree.levels} levels, consistent"
