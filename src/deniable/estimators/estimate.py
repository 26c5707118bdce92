"""An estimate: values with their standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter

Target = Literal["these users", "population"]
"""Whose value is estimated: that of the people who answered, or of the population they were drawn from."""


@dataclass(frozen=True)
class Estimate:
    """What was estimated from `n` reports, and how far off it may be.

    Values are unbiased and therefore not clipped: a share may come out slightly negative.
    """

    value: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    n: int
    target: Target
    method: str

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper ends of normal confidence intervals, each at this level on its own."""
        reach = half_width(level) * self.standard_error
        return self.value - reach, self.value + reach


def half_width(level: float) -> float:
    """How many standard errors an interval of this level reaches to either side.

    >>> round(half_width(0.95), 3)
    1.96
    """
    if not 0 < level < 1:
        raise InvalidParameter("level must lie between 0 and 1, for example 0.95")
    return NormalDist().inv_cdf(0.5 + level / 2)


def check_target(target: str) -> None:
    """Refuse a target that is neither of the two."""
    if target not in ("these users", "population"):
        raise InvalidParameter("target must be 'these users' or 'population'")
