"""Hierarchical histograms: ranges, quantiles and the cdf from a tree of categories.

Users are split over the levels of a tree, never epsilon: each user reports the node of one level, drawn at
random and public, by a categorical mechanism at the full epsilon. A range is then a few nodes instead of
many bins (Cormode, Kulkarni and Srivastava, 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from deniable.batch import (
    Accumulator,
    GridEncoder,
    Keystream,
    Reports,
    SystemKeystream,
    accumulator_for,
    randomize_many,
    unframed,
    uniform_below,
)
from deniable.core import Categories, EpsilonLike, Interval, Mechanism, cells, make_mechanism
from deniable.errors import InvalidParameter, WrongRecipe
from deniable.estimators.bins import Floats
from deniable.estimators.estimate import Estimate
from deniable.estimators.law.support import support
from deniable.estimators.quantile_levels import checked_levels
from deniable.estimators.ranges import covered
from deniable.estimators.supports import support_counts
from deniable.estimators.tree import consistent, influence

MOST_LEAVES = 1 << 20


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
        found = []
        for level, mechanism in enumerate(self.mechanisms):
            nodes = leaves[chosen == level] // self.fan_out ** (self.levels - 1 - level)
            found.append(randomize_many(mechanism, nodes, stream))
        return tuple(found)

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
        found = []
        for part, mechanism, (p, q) in zip(self.parts, self.tree.mechanisms, self._laws, strict=True):
            chance = q + (p - q) / mechanism.domain.size
            found.append(chance * (1 - chance) / (part.n * (p - q) ** 2))
        return found

    def node_shares(self) -> list[Floats]:
        """The unbiased share of every node of every level, before anything is made consistent."""
        found = []
        for part, (p, q) in zip(self.parts, self._laws, strict=True):
            if part.n == 0:
                self.node_variances()
            found.append(np.asarray((support_counts(part) / part.n - q) / (p - q), np.float64))
        return found

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
        )

    def range_share(self, low: float, high: float) -> Estimate:
        """The share of users between low and high, unbiased up to the bins at both ends."""
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
        )

    def quantiles(self, levels: float | Sequence[float] = (0.25, 0.5, 0.75)) -> Estimate:
        """The values below which these shares of the users lie, from the cdf made to rise.

        The standard error is a quarter of the distance between the quantiles at level plus and minus two
        standard errors of the share below: nearer by, the noise of single bins would hide the slope.
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
        )

    def _variance(self, question: Floats) -> float:
        """Of the sum of question * leaves: nodes of a level are taken as uncorrelated and alike."""
        variances = self.node_variances()
        pulls = influence(question, variances, self.tree.fan_out)
        return float(sum(variance * (pull @ pull) for variance, pull in zip(variances, pulls, strict=True)))

    def _method(self, what: str) -> str:
        tree = self.tree
        return f"{what} of a hierarchical histogram, {tree.oracle}, fan-out {tree.fan_out}, {tree.levels} levels, consistent"
