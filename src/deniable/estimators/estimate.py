"""An estimate: values with their uncertainty, and the way back to the unbiased ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Any, Literal, Protocol

import numpy as np

from deniable._results import Result, counted
from deniable.batch import Floats
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators.projections import project

Target = Literal["these users", "population"]
"""Whose value is estimated: that of the people who answered, or of the population they were drawn from."""


MOST_PRINTED = 4
"""Values that a line shows; `to_frame()` has all."""


FEW_BINS = 64
"""Up to so many values a notebook shows intervals that have yet to be worked out."""


class SmallSample(Protocol):
    """Intervals that hold for every number of reports, not only for many."""

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Lower and upper ends, each value's interval at this level on its own."""
        ...


class _Later:
    """An array that was given as a function: worked out when it is asked for, and kept."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, estimate: Estimate | None, owner: type) -> Floats | None:
        if estimate is None:
            return None  # the field's default
        known = estimate.__dict__
        found: Floats | None = known["_" + self.name]()
        known[self.name] = found
        return found


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Estimate(Result):
    """What was estimated from `n` reports, and how far off it may be.

    Values are unbiased and therefore not clipped: a share may come out slightly negative. `projected`
    makes them possible values; the result is biased, so it keeps its unbiased `parent` and its intervals.
    `variance` has the shape of `value`; `covariance` is the full matrix where there is one, else None. Both may be given as
    functions: a thousand values have a million covariances, and most readers ask for none.
    """

    value: Floats
    variance: Floats = _Later()  # type: ignore[assignment]  # its diagonal, when only the covariance is given
    covariance: Floats | None = _Later()  # type: ignore[assignment]
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
        known = self.__dict__
        known["value"] = np.asarray(self.value, np.float64)
        if self.variance is None:
            if self.covariance is None:
                raise InvalidParameter("an estimate needs a variance or a covariance")
            known["variance"] = np.diagonal(self.covariance).reshape(self.value.shape)
        if callable(self.variance):
            known["_variance"] = known.pop("variance")
        else:
            known["variance"] = np.asarray(self.variance, np.float64)
            if self.variance.shape != self.value.shape:
                raise InvalidParameter("the variance must have the shape of the value")
        if callable(self.covariance):
            known["_covariance"] = known.pop("covariance")
        elif self.covariance is not None and self.covariance.shape != (self.value.size, self.value.size):
            raise InvalidParameter("the covariance must have one row and one column per value")
        if self.labels is not None and len(self.labels) != self.value.size:
            raise InvalidParameter("there must be one label per value")

    @property
    def standard_error(self) -> Floats:
        """The square root of the variance."""
        return np.asarray(np.sqrt(np.maximum(self.variance, 0)))

    def __repr__(self) -> str:
        values, labels = self.value.reshape(-1), self.labels
        shown = range(min(values.size, MOST_PRINTED))
        names = [f"{_text(labels[i])}: " if labels is not None else "" for i in shown]
        errors = self.standard_error.reshape(-1) if self._quick else None  # printing must not start a computation
        some = [f"{names[i]}{values[i]:.4g}" + ("" if errors is None else f" (SE {errors[i]:.2g})") for i in shown]
        more = f", … {values.size} values" if values.size > MOST_PRINTED else ""
        return f"<{type(self).__name__} n={self.n:,}; {', '.join(some)}{more}; {self.method}>"

    @property
    def _quick(self) -> bool:
        """Is the variance there, or soon there? For some estimates it takes whole intervals."""
        return "variance" in self.__dict__ or "_variance" in self.__dict__

    def _shown_rows(self) -> list[dict[str, Any]]:
        if self._quick or self.value.size <= FEW_BINS:
            return self._rows()
        labels = self.labels if self.labels is not None else range(self.value.size)
        return [
            {"label": _text(label), "value": value} for label, value in zip(labels, self.value.reshape(-1).tolist(), strict=True)
        ]

    def _rows(self) -> list[dict[str, Any]]:
        low, high = (ends.reshape(-1).tolist() for ends in self.interval())
        columns = zip(self.value.reshape(-1).tolist(), low, high, self.standard_error.reshape(-1).tolist(), strict=True)
        numbers = [dict(zip(("value", "low", "high", "standard_error"), row, strict=True)) for row in columns]
        if self.labels is None:
            return numbers
        return [{"label": _text(label), **row} for label, row in zip(self.labels, numbers, strict=True)]

    def _caption(self) -> str:
        return f"{self.method}; {counted(self.n, 'report')}, 95 % intervals for {self.target}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values: rows with 95 % intervals, the number of reports, the method."""
        facts = {"n": self.n, "target": self.target, "method": self.method, "level": 0.95, "assumes": self.assumes}
        return {**facts, "rows": self._rows()}

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
            covariance=partial(getattr, unbiased, "covariance"),  # type: ignore[arg-type]
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


def _text(label: Any) -> str:
    """A label in one cell: a bin as its two ends, anything else as it is written."""
    if isinstance(label, tuple) and all(isinstance(end, float) for end in label):
        return " to ".join(f"{end:.6g}" for end in label)
    return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)


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
