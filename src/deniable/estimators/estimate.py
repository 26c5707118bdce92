"""An estimate: values with their uncertainty, and the way back to the unbiased ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators.projections import project

Floats = NDArray[np.float64]
Target = Literal["these users", "population"]
"""Whose value is estimated: that of the people who answered, or of the population they were drawn from."""


class SmallSample(Protocol):
    """Intervals that hold for every number of reports, not only for many."""

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Lower and upper ends, each value's interval at this level on its own."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """What was estimated from `n` reports, and how far off it may be.

    Values are unbiased and therefore not clipped: a share may come out slightly negative. `projected`
    makes them possible values; the result is biased, so it keeps its unbiased `parent` and its intervals.
    `variance` has the shape of `value`; `covariance` is the full matrix where there is one, else None.
    """

    value: Floats
    variance: Floats = None  # type: ignore[assignment]  # its diagonal, when only the covariance is given
    covariance: Floats | None = None
    n: int
    target: Target
    method: str
    labels: Sequence[Any] | None = None
    """What each value is the value of, in their order; None for a single number."""
    total: float | None = None
    """What the true values add up to: n for counts, 1 for shares, None when they are no distribution."""
    bounds: tuple[float, float] | None = None
    """Where a true value can lie, when that is known."""
    small_sample: SmallSample | None = None
    """Exact intervals, for few reports."""
    sure: SmallSample | None = None
    """Intervals that hold where the normal ones do not; the ones to show, where there are some."""
    assumes: str = ""
    """What the intervals assume about the values, in words; nothing when empty."""
    parent: Estimate | None = None
    """The unbiased estimate a projected one was made of."""

    def __post_init__(self) -> None:
        check_target(self.target)
        object.__setattr__(self, "value", np.asarray(self.value, np.float64))
        if self.variance is None:
            if self.covariance is None:
                raise InvalidParameter("an estimate needs a variance or a covariance")
            object.__setattr__(self, "variance", np.diagonal(self.covariance).reshape(self.value.shape))
        object.__setattr__(self, "variance", np.asarray(self.variance, np.float64))
        if self.variance.shape != self.value.shape:
            raise InvalidParameter("the variance must have the shape of the value")
        if self.covariance is not None and self.covariance.shape != (self.value.size, self.value.size):
            raise InvalidParameter("the covariance must have one row and one column per value")
        if self.labels is not None and len(self.labels) != self.value.size:
            raise InvalidParameter("there must be one label per value")

    @property
    def standard_error(self) -> Floats:
        """The square root of the variance."""
        return np.asarray(np.sqrt(np.maximum(self.variance, 0)))

    @property
    def unbiased(self) -> Estimate:
        """The estimate before any projection: itself, when it is none."""
        return self if self.parent is None else self.parent.unbiased

    def interval(
        self, level: float = 0.95, method: Literal["auto", "wald", "exact"] = "auto", *, together: bool = False
    ) -> tuple[Floats, Floats]:
        """Lower and upper ends of confidence intervals, each at this level on its own, or all of them together.

        "auto" is the best there is: it holds at this level for few reports too. "wald" is the normal one, for many
        reports. "exact" never holds less often than the level says, and is wider.
        A projected estimate has the intervals of its unbiased parent, cut to what is
        possible: its own spread says nothing about its bias.
        """
        if together:
            # Bonferroni: none of them misses more often than all of them may.
            level = 1 - (1 - level) / max(self.value.size, 1)
        reach = half_width(level)
        if method not in ("auto", "wald", "exact"):
            raise InvalidParameter("method must be 'auto', 'wald' or 'exact'")
        if method == "auto" and self.sure is not None:
            return self.sure.interval(level)
        if self.parent is not None:
            low, high = self.parent.interval(level, method)
            return (low, high) if self.bounds is None else (np.clip(low, *self.bounds), np.clip(high, *self.bounds))
        if method != "exact":
            return self.value - reach * self.standard_error, self.value + reach * self.standard_error
        if self.small_sample is None:
            raise NotSupported(f"there is no exact interval for {self.method}; use method='wald'")
        return self.small_sample.interval(level)

    def projected(self, name: str = "simplex") -> Estimate:
        """The nearest possible values: see `deniable.estimators.projections` for the names.

        Variances and intervals stay those of the unbiased estimate, which is the result's `parent`.
        """
        if self.total is None:
            raise NotSupported("only counts and shares can be projected: other values do not add up to anything known")
        unbiased = self.unbiased
        return Estimate(
            value=project(name, unbiased.value, self.total, unbiased.standard_error),
            variance=unbiased.variance,
            covariance=unbiased.covariance,
            n=self.n,
            target=self.target,
            method=f"{unbiased.method}, projected: {name} (intervals are those before it)",
            labels=self.labels,
            total=self.total,
            bounds=self.bounds,
            small_sample=unbiased.small_sample,
            sure=unbiased.sure,
            assumes=unbiased.assumes,
            parent=unbiased,
        )


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
