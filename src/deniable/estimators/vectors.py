"""The mean of vectors, with the noise of every coordinate and of the whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2

from deniable.batch import Accumulator, Floats
from deniable.core import NearestCodes
from deniable.errors import InvalidParameter
from deniable.estimators.estimate import Estimate, Target, half_width

BIAS = 0.5
"""Fast rotations are not quite uniform. Over the width of the rotation, this is more than the bias of any coordinate was
measured to be, as a share of the longest vector (`python benchmarks/vectors.py bias`)."""


@dataclass(frozen=True, eq=False)
class _WithBias:
    """Normal intervals, wider by the bias that a fast rotation may have."""

    value: Floats
    standard_error: Floats
    bias: float

    def interval(self, level: float) -> tuple[Floats, Floats]:
        half = half_width(level) * self.standard_error + self.bias
        return self.value - half, self.value + half


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class VectorMean(Estimate):
    """The mean vector. Standard errors are upper bounds that depend on the recipe alone, not on the vectors."""

    width: int
    bias: float

    def distance(self, level: float = 0.95) -> float:
        """How far the true mean is from the estimated one, at most, at this level."""
        if not 0 < level < 1:
            raise InvalidParameter("level must lie between 0 and 1, for example 0.95")
        # A folded vector has no more independent coordinates than the rotation is wide.
        free = min(self.value.size, self.width)
        square = float(self.variance.flat[0]) * self.value.size * float(chi2.ppf(level, free)) / free
        return math.sqrt(square) + self.bias

    def norm(self, level: float = 0.95) -> tuple[float, float]:
        """Both ends of an interval for the length of the true mean."""
        length, off = float(np.linalg.norm(self.value)), self.distance(level)
        return max(0.0, length - off), length + off

    def top(self, count: int, level: float = 0.95) -> list[dict[str, Any]]:
        """The coordinates of largest size, with intervals that hold for all coordinates together."""
        if not 1 <= count <= self.value.size:
            raise InvalidParameter(f"count must be from 1 to {self.value.size}")
        low, high = self.interval(level, together=True)
        order = np.argsort(-np.abs(self.value), kind="stable")[:count]
        return [{"coordinate": int(i), "value": float(self.value[i]), "low": float(low[i]), "high": float(high[i])} for i in order]


def vector_mean(sums: Accumulator, target: Target) -> VectorMean:
    """The sum of the words over their number and the public constant."""
    mechanism = sums.mechanism
    assert isinstance(mechanism, NearestCodes)
    law, reach, n = mechanism.law, mechanism.domain.reach, sums.n
    if mechanism.domain.dimension == mechanism.width:  # what fills up a short vector shares a place with a coordinate
        law = law.folded(mechanism.width)
    value = np.asarray(sums.sums * (mechanism.scale / n), np.float64)
    each = law.most_variance if target == "these users" else law.most_square
    variance = np.full(value.shape, reach**2 * each / n)
    bias = reach * BIAS / mechanism.width
    return VectorMean(
        value=value,
        variance=variance,
        n=n,
        target=target,
        method=f"unbiased mean of {mechanism.name}",
        labels=range(value.size),
        sure=_WithBias(value, np.sqrt(variance), bias),
        width=mechanism.width,
        bias=bias,
    )
