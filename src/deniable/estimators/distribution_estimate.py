"""Shares of bins from a fit, and intervals that are worked out when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable.batch import Floats
from deniable.estimators.estimate import Estimate, half_width

if TYPE_CHECKING:
    from deniable.estimators.shape_fit import Shape

Answer = Callable[[float], tuple[Floats, Floats]]
"""The ends of intervals at a level."""


@dataclass(frozen=True, eq=False)
class Ends:
    """Intervals that are worked out when they are asked for, and remembered; each holds its value."""

    work: Answer
    value: Floats
    bounds: tuple[float, float] | None = None

    @cached_property
    def _known(self) -> dict[float, tuple[Floats, Floats]]:
        return {}

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Lower and upper ends."""
        if level not in self._known:
            low, high = self.work(level)
            low, high = np.minimum(low, self.value), np.maximum(high, self.value)
            self._known[level] = (low, high) if self.bounds is None else (np.clip(low, *self.bounds), np.clip(high, *self.bounds))
        low, high = self._known[level]
        return low.copy(), high.copy()

    def variance(self) -> Floats:
        """So large that 1.96 standard errors reach the farther end."""
        low, high = self.interval(0.95)
        return np.asarray((np.maximum(high - self.value, self.value - low) / half_width(0.95)) ** 2)


class Distribution(Estimate):
    """Shares of equal bins between `edges`: sums of a finer fit, with intervals that assume nothing about its shape.

    `variance` is worked out when it is asked for: 1.96 standard errors reach the farther end of the interval.
    """

    edges: Floats
    iterations: int
    converged: bool
    shape: Shape

    def __init__(self, shape: Shape, bins: int) -> None:
        edges = shape.low + (shape.high - shape.low) * np.arange(bins + 1) / bins
        value = np.diff(shape.below(edges))
        ends = Ends(lambda level: shape.bin_ends(edges, level), value, (0.0, 1.0))
        fields = {
            "value": value,
            "n": shape.n,
            "target": shape.target,
            "method": f"{shape.described}, {bins} bins",
            "labels": tuple(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)),
            "total": None,
            "bounds": (0.0, 1.0),
            "covariance": None,
            "small_sample": None,
            "sure": ends,
            "assumes": shape.assumes,
            "parent": None,
            "edges": edges,
            "iterations": shape.fine.iterations,
            "converged": shape.fine.converged,
            "shape": shape,
        }
        for field, item in fields.items():
            object.__setattr__(self, field, item)

    def __repr__(self) -> str:
        return f"Distribution({self.method}, n={self.n})"

    @cached_property
    def variance(self) -> Floats:
        """Variances that give intervals as wide as the exact ones."""
        assert isinstance(self.sure, Ends)
        return self.sure.variance()

    @cached_property
    def cumulative(self) -> Floats:
        """The share up to every edge, from 0 to 1."""
        return self.shape.below(self.edges)

    def cdf(self, value: float) -> float:
        """The share up to a value."""
        return float(self.shape.below(np.array([value]))[0])
