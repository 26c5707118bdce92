"""Hierarchical histograms: ranges, quantiles and the cdf from a tree of categories.

Users are split over the levels of a tree, never epsilon: each user reports the node of one level, drawn at
random and public, by a categorical mechanism at the full epsilon. A range is then a few nodes instead of
many bins (Cormode, Kulkarni and Srivastava, 2019).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np

from deniable.batch import (
    Accumulator,
    Floats,
    GridEncoder,
    Keystream,
    Reports,
    SystemKeystream,
    accumulator_for,
    randomize_many,
    unframed,
    uniform_below,
)
from deniable.core import Categories, Channel, EpsilonLike, Interval, Mechanism, cells, make_mechanism
from deniable.errors import InvalidParameter, WrongRecipe
from deniable.estimators.distribution_estimate import Ends
from deniable.estimators.estimate import Estimate, half_width
from deniable.estimators.law.support import support
from deniable.estimators.projections import simplex
from deniable.estimators.quantile_levels import checked_levels
from deniable.estimators.ranges import covered
from deniable.estimators.score_intervals import ScoreIntervals, ScoreQuestion, averaged
from deniable.estimators.supports import sums_over_sets, sums_over_values, support_counts
from deniable.estimators.tree import consistent, influence

MOST_LEAVES = 1 << 20
MOST_SURE = 1 << 10
"""Up to so many leaves all of them have intervals from the law of the reports; with more, normal ones."""


@dataclass(frozen=True)
class HierarchicalHistogram:
    """A tree with `fan_out` children per node and `levels` levels over an interval.

    Guarantee: epsilon-LDP, that of `oracle` ("hadamard", one number per report, or "oue"): the level does
    not depend on the value.

    >>> tree = HierarchicalHistogram(Interval(0, 100), epsilon=1, fan_out=4, levels=3)
    >>> tree.leaves, tree.mechanisms[0].domain.size
    (64, 4)
    """

    domain: Interval
    epsilon: EpsilonLike
    fan_out: int = 4
    levels: int = 5
    oracle: Literal["hadamard", "oue"] = "hadamard"

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Interval):
            raise InvalidParameter("domain must be an Interval")
        for name, least in (("fan_out", 2), ("levels", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InvalidParameter(f"{name} must be a whole number, at least {least}")
        if self.fan_out**self.levels > MOST_LEAVES:
            raise InvalidParameter(f"fan_out**levels must be at most {MOST_LEAVES}")
        if self.oracle not in ("hadamard", "oue"):
            raise InvalidParameter("oracle must be 'hadamard' or 'oue'")

    @property
    def leaves(self) -> int:
        """The bins of the finest level."""
        return int(self.fan_out**self.levels)

    @cached_property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """One per level, from the coarsest to the finest."""
        sizes = (self.fan_out ** (level + 1) for level in range(self.levels))
        return tuple(make_mechanism(self.oracle, domain=Categories(size), epsilon=self.epsilon) for size in sizes)

    @cached_property
    def edges(self) -> Floats:
        """The ends of the finest bins, in the domain's units."""
        return float(self.domain.low) + float(self.domain.width) * np.arange(self.leaves + 1) / self.leaves

    def randomize_many(self, values: Any, keystream: Keystream | None = None) -> tuple[Reports, ...]:
        """One batch of reports per level; every user is in exactly one of them."""
        stream = SystemKeystream() if keystream is None else keystream
        leaves = GridEncoder(self.domain, cells(self.leaves))(np.asarray(unframed(values)))
        # Drawn apart from the values: the level is public and says nothing.
        chosen = uniform_below(self.levels, len(leaves), stream)
        parts = []
        for level, mechanism in enumerate(self.mechanisms):
            nodes = leaves[chosen == level] // self.fan_out ** (self.levels - 1 - level)
            parts.append(randomize_many(mechanism, nodes, stream))
        return tuple(parts)

    def accumulate(self, reports: Sequence[Reports]) -> TreeSums:
        """The sums of batches of reports, one per level."""
        return TreeSums(self).add(reports)


class TreeSums:
    """The sums of every level's reports, and what they say. Mergeable like any accumulator."""

    def __init__(self, tree: HierarchicalHistogram) -> None:
        self.tree = tree
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
        if any(part.n == 0 for part in self.parts):
            raise InvalidParameter("there are no reports to estimate from at some level; collect more, or use fewer levels")
        variances = []
        for part, mechanism, (p, q) in zip(self.parts, self.tree.mechanisms, self._laws, strict=True):
            chance = q + (p - q) / mechanism.domain.size
            variances.append(chance * (1 - chance) / (part.n * (p - q) ** 2))
        return variances

    def node_shares(self) -> list[Floats]:
        """The unbiased share of every node of every level, before anything is made consistent."""
        shares = []
        for part, (p, q) in zip(self.parts, self._laws, strict=True):
            if part.n == 0:
                self.node_variances()
            shares.append(np.asarray((support_counts(part) / part.n - q) / (p - q), np.float64))
        return shares

    def shares(self) -> Estimate:
        """The shares of the finest bins: unbiased, and consistent with every level above."""
        variances = self.node_variances()
        leaves = consistent(self.node_shares(), variances, self.tree.fan_out)[-1]
        unit = np.zeros(self.tree.leaves)
        unit[0] = 1.0
        edges = self.tree.edges
        return Estimate(
            value=leaves,
            variance=np.full(len(leaves), self._variance(unit)),
            n=self.n,
            target="population",
            method=self._method("shares"),
            labels=tuple(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)),
            total=1.0,
            bounds=(0.0, 1.0),
            sure=self._sure([*np.eye(len(leaves))], leaves) if len(leaves) <= MOST_SURE else None,
        )

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
        """A sum of leaves, and the exact law of its estimate: at every level one number per report, summed over its nodes."""
        pulls = influence(question, self.node_variances(), self.tree.fan_out)
        laws = []
        for part, pull, (p, q) in zip(self.parts, pulls, self._laws, strict=True):
            own = _node_moments(part.mechanism.channel, pull, p, q)
            laws.append((averaged(*own, part.n, 1.0), len(pull)))

        def moments(shares: Floats) -> tuple[float, float]:
            each = [law(shares.reshape(nodes, -1).sum(axis=1)) for law, nodes in laws]
            return sum(second for second, _ in each), sum(third for _, third in each)

        least = min(part.n for part in self.parts)
        return ScoreQuestion(float(question @ leaves), question, simplex(leaves, 1.0), moments, least)

    def _variance(self, question: Floats) -> float:
        """Of the sum of question * leaves: nodes of a level are taken as uncorrelated and alike."""
        variances = self.node_variances()
        pulls = influence(question, variances, self.tree.fan_out)
        return float(sum(variance * (pull @ pull) for variance, pull in zip(variances, pulls, strict=True)))

    def _method(self, what: str) -> str:
        tree = self.tree
        return f"{what} of a hierarchical histogram, {tree.oracle}, fan-out {tree.fan_out}, {tree.levels} levels, consistent"


def _node_moments(channel: Channel, pull: Floats, p: float, q: float) -> tuple[Floats, Floats, Floats]:
    """Mean, variance and third central moment of what a report adds to a sum of pulled nodes, for a person in each node."""
    gap = p - q
    if channel.free_bits:
        # Independent bits: their moments add up, and only the own one has another chance.
        (own2, own3), (other2, other3) = [(c * (1 - c), c * (1 - c) * (1 - 2 * c)) for c in (p, q)]
        second = other2 * float(pull @ pull) + (own2 - other2) * pull**2
        third = other3 * float(pull @ pull**2) + (own3 - other3) * pull**3
        return pull, second / gap**2, third / gap**3
    levels = channel.two_level
    assert levels is not None
    read = sums_over_values(levels.sets, pull) / gap
    raw = [
        (levels.low * float((read**k).sum()) + (levels.high - levels.low) * sums_over_sets(levels.sets, read**k)[: len(pull)])
        / levels.total
        for k in (1, 2, 3)
    ]
    second = raw[1] - raw[0] ** 2
    # A constant more or less in what is read changes no central moment.
    return raw[0] - float(raw[0].mean()) + float(pull.mean()), second, raw[2] - 3 * raw[0] * second - raw[0] ** 3
