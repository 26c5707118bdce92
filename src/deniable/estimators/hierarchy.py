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
    Floats,
    GridEncoder,
    Keystream,
    Reports,
    SystemKeystream,
    randomize_many,
    unframed,
    uniform_below,
)
from deniable.core import Categories, EpsilonLike, Interval, Mechanism, cells, make_mechanism
from deniable.errors import InvalidParameter
from deniable.estimators.level_sums import TreeSums

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
        parts = []
        for level, mechanism in enumerate(self.mechanisms):
            nodes = leaves[chosen == level] // self.fan_out ** (self.levels - 1 - level)
            parts.append(randomize_many(mechanism, nodes, stream))
        return tuple(parts)

    def accumulate(self, reports: Sequence[Reports]) -> TreeSums:
        """The sums of batches of reports, one per level."""
        return TreeSums(self).add(reports)
