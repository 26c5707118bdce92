"""Everything the reports say about a number or a direction, from one fit: bins, ranges, quantiles and the mean agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Literal
from weakref import proxy

import numpy as np

from deniable.batch import Floats, Integers
from deniable.core import Circle, Interval, Mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators.bins import gathered
from deniable.estimators.crossing import STEPS, RisingBound, crossing_step
from deniable.estimators.distribution_estimate import Answer, Distribution, Ends
from deniable.estimators.distribution_grid import Binned, binned, fine_cells
from deniable.estimators.estimate import Estimate, Target, half_width
from deniable.estimators.expectation_maximization import Fit, fit
from deniable.estimators.penalized import penalized_fit
from deniable.estimators.plausible import Pilot, Plausible
from deniable.estimators.response import Response, groups_for, only_multiples, response
from deniable.estimators.smooth_shapes import SmoothGrid, Suggested, smooth_plausible, suggested_peaks

Method = Literal["penalized", "ems", "em"]
RULES: dict[Method, str] = {"penalized": "most likely smooth", "ems": "smoothed", "em": "most likely"}
STOP = 1e-3
"""Li et al. 2020: EMS stops when the log-likelihood changes by less than this, EM at e**epsilon times this."""
MOST_ITERATIONS = 10_000
KEPT = 2
"""Sets of edges whose points are kept: each takes some ten megabytes."""


@dataclass(frozen=True, eq=False, repr=False)
class Shape:
    """One fit of the reports on a grid as fine as they support, and all answers from it. `shape` makes one."""

    mechanism: Mechanism
    sums: Integers
    """How often every output occurred."""
    n: int
    target: Target
    method: Method = "penalized"
    tolerance: float = STOP
    most_iterations: int = MOST_ITERATIONS
    multiples_of: float | None = None
    narrowest_peak: float | None = None

    def __repr__(self) -> str:
        return f"<Shape n={self.n:,}; {self.method} fit of {self.mechanism.name} on {self.domain!r}; {self.target}>"

    @cached_property
    def binned(self) -> Binned:
        """The mechanism between the fit's cells and groups of reports."""
        return binned(self.mechanism, fine_cells(self.mechanism))

    @cached_property
    def fine(self) -> Fit:
        """The shares of the fit's cells, by the chosen method."""
        counts, smooth = gathered(self.sums, self.binned.cuts), self.method == "ems"
        if self.method == "penalized":
            return penalized_fit(self.binned.transition.matrix, counts, circular=self.circular, tolerance=self.tolerance)
        circular, most = self.circular, self.most_iterations
        return fit(self.binned.transition, counts, smooth=smooth, circular=circular, tolerance=self.tolerance, most=most)

    @property
    def domain(self) -> Interval | Circle:
        """The interval or circle of the values."""
        assert isinstance(self.mechanism.domain, Interval | Circle)
        return self.mechanism.domain

    @property
    def low(self) -> float:
        """The lower end of the domain."""
        return float(self.domain.low)

    @property
    def high(self) -> float:
        """The upper end of the domain."""
        return float(self.domain.low) + float(self.domain.width)

    @property
    def circular(self) -> bool:
        """Is the domain a circle?"""
        return isinstance(self.domain, Circle)

    @property
    def described(self) -> str:
        """How it was fitted, in words."""
        cells = f"fitted on {len(self.fine.shares)} cells, {self.fine.iterations} iterations"
        return f"{self.method} ({RULES[self.method]} distribution) of {self.mechanism.name}, {cells}"

    @property
    def assumes(self) -> str:
        """What the intervals assume, in words."""
        if self.narrowest_peak is not None:
            return f"the density changes no faster than in one peak, {self.narrowest_peak:g} wide, that holds everybody"
        return "" if self.multiples_of is None else f"values are multiples of {self.multiples_of:g}"

    @cached_property
    def _cumulative(self) -> Floats:
        summed = np.concatenate([[0.0], np.cumsum(self.fine.shares)])
        return np.asarray(summed / summed[-1])

    def below(self, values: Floats) -> Floats:
        """The fitted share up to each value, straight within the fine cells."""
        return np.asarray(np.interp(values, self.binned.edges, self._cumulative))

    def reaching(self, levels: Floats) -> Floats:
        """Where the fitted share up to a value reaches each level: the other way round."""
        rising = self._cumulative + 1e-15 * np.arange(len(self._cumulative))
        return np.asarray(np.interp(levels, rising, self.binned.edges))

    @cached_property
    def _response(self) -> Response:
        whole = response(self.mechanism, groups_for(self.n))
        return whole if self.multiples_of is None else only_multiples(whole, self.multiples_of)

    @cached_property
    def _plain(self) -> Plausible:
        """What one half of the reports suggests, and the counts of the other half."""
        return Plausible.of(self._response.table, gathered(self.sums, self._response.cuts), self.target)

    def share_work(self, other: Shape) -> None:
        """Take over what was worked out for the same reports with the other target: the fit and the pilots are the same."""
        known = other.__dict__
        self.__dict__.update({name: known[name] for name in ("binned", "fine", "_cumulative", "_response") if name in known})
        if "_plain" in known:
            self.__dict__["_plain"] = other._plain.about(self.target)

    @cached_property
    def _known(self) -> dict[bytes, tuple[Response | SmoothGrid, Plausible]]:
        return {}

    def _plausible(self, edges: Floats) -> tuple[Response | SmoothGrid, Plausible]:
        """Points on both sides of these edges, and what the reports say of them; the last ones are kept."""
        key = np.asarray(edges, np.float64).tobytes()
        known = self._known.pop(key, None)
        if known is None:
            while len(self._known) >= KEPT:
                self._known.pop(next(iter(self._known)))
            known = self._looked_at(edges)
        self._known[key] = known
        return known

    @cached_property
    def _peaks(self) -> Suggested:
        assert self.narrowest_peak is not None
        grid = SmoothGrid.over(self._response, np.empty(0), self.narrowest_peak)
        return suggested_peaks(grid, gathered(self.sums, self._response.cuts))

    def _looked_at(self, edges: Floats) -> tuple[Response | SmoothGrid, Plausible]:
        if self.narrowest_peak is not None:
            grid = SmoothGrid.over(self._response, edges, self.narrowest_peak)
            return grid, smooth_plausible(grid, self._peaks, self._widened(grid.response))
        wide = self._response if self.multiples_of is not None else self._response.with_edges(edges)
        return wide, self._widened(wide)

    def _widened(self, wide: Response) -> Plausible:
        """What the reports say of distributions on more points."""
        if wide is self._response:
            return self._plain
        where = np.searchsorted(wide.places, self._response.places)
        parts = [(pilot.widened(wide.table, where), counts) for pilot, counts in self._plain.parts if isinstance(pilot, Pilot)]
        return Plausible(parts)

    def bin_ends(self, edges: Floats, level: float) -> tuple[Floats, Floats]:
        """The intervals of the shares between neighbouring edges."""
        wide, plausible = self._plausible(edges)
        ends = [plausible.interval(*wide.inside(a, b), half_width(level)) for a, b in pairwise(edges)]
        low, high = np.array(ends).T
        return low, high

    def bins(self, bins: int) -> Distribution:
        """The shares of equal bins."""
        return Distribution(self, bins)

    def cumulative_band(self, edges: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
        """The intervals of the shares up to each edge."""
        wide, plausible = self._plausible(edges)
        ends = [plausible.interval(*wide.inside(self.low, edge), half_width(level)) for edge in edges]
        low, high = np.array(ends).T
        here = self.below(edges)
        return np.minimum(low, here), np.maximum(high, here)

    def range_share(self, low: float, high: float) -> Estimate:
        """The share between two values; on a circle from low forward to high."""
        if not (math.isfinite(low) and math.isfinite(high)):
            raise InvalidParameter("low and high must be finite numbers")
        if not self.circular and not low <= high:
            raise InvalidParameter("low must not lie above high")
        whole = high - low >= self.high - self.low if self.circular else (low <= self.low and high >= self.high)
        if self.circular:
            period = self.high - self.low
            low, high = low % period, high % period
        low, high = (min(max(end, self.low), self.high) for end in (low, high))
        inside = float(self.below(np.array([high]))[0] - self.below(np.array([low]))[0])
        value = np.asarray(1.0 if whole else inside + (low > high))

        def work(level: float) -> tuple[Floats, Floats]:
            if whole:
                return np.asarray(1.0), np.asarray(1.0)
            wide, plausible = self._plausible(np.array([low, high]))
            ends = plausible.interval(*wide.inside(low, high), half_width(level))
            return np.asarray(ends[0]), np.asarray(ends[1])

        return self._estimate(value, work, f"range of {self.described}", (0.0, 1.0))

    def mean(self) -> Estimate:
        """The mean of the fitted distribution."""
        if self.circular:
            raise NotSupported("directions have no mean on a line; use direction(source)")
        middles = (self.binned.edges[:-1] + self.binned.edges[1:]) / 2
        value = np.asarray(float(middles @ self.fine.shares) / float(self.fine.shares.sum()))

        return self._estimate(value, self.mean_ends, f"mean of the distribution: {self.described}", (self.low, self.high))

    def mean_ends(self, level: float) -> tuple[Floats, Floats]:
        """The interval of the mean."""
        wide, plausible = self._plausible(np.empty(0))
        low, high = plausible.interval(wide.least, wide.most, half_width(level))
        return np.asarray(low), np.asarray(high)

    def variance(self) -> Estimate:
        """The variance of the fitted distribution: for any c, the mean of (x - c)**2 minus (mean - c)**2."""
        mean = self.mean()
        middles = (self.binned.edges[:-1] + self.binned.edges[1:]) / 2
        centre, step = float(mean.value), float(self.binned.edges[1] - self.binned.edges[0])
        shares = self.fine.shares / self.fine.shares.sum()
        value = np.asarray(float(shares @ (middles - centre) ** 2) + step**2 / 12)

        most = (self.high - self.low) ** 2 / 4
        method = f"variance of the distribution: {self.described}"
        return self._estimate(value, lambda level: self.variance_ends(centre, level), method, (0.0, most))

    def variance_ends(self, centre: float, level: float) -> tuple[Floats, Floats]:
        """The interval of the variance, which is the mean of (x - c)**2 minus (mean - c)**2 for a c near the mean."""
        wide, plausible = self._plausible(np.empty(0))
        # Half of what may go wrong for each of the two questions.
        reach = half_width((1 + level) / 2)
        sides = np.stack([(wide.least - centre) ** 2, (wide.most - centre) ** 2])
        across = (wide.least < centre) & (wide.most > centre)
        least = np.where(across, 0.0, sides.min(axis=0))
        # Between two points a parabola lies below its chord, at most by a quarter of their distance squared.
        gaps = np.diff(wide.least, append=wide.least[-1]) if self.multiples_of is None else np.zeros(len(wide.least))
        low, high = plausible.interval(least - max(gaps, default=0.0) ** 2 / 4, sides.max(axis=0), reach)
        ends = plausible.interval(wide.least, wide.most, reach)
        off = max(abs(ends[0] - centre), abs(ends[1] - centre))
        most = (self.high - self.low) ** 2 / 4
        return np.asarray(max(low - off**2, 0.0)), np.asarray(min(high, most))

    def quantiles(self, levels: Sequence[float]) -> Estimate:
        """The values below which these shares of the users lie."""
        if self.circular:
            raise NotSupported(
                "directions have no order, so they have no quantiles; use direction(source) or range_share(source, low, high)"
            )
        wanted = np.asarray(levels, np.float64)
        value = self.reaching(wanted)

        def work(level: float) -> tuple[Floats, Floats]:
            ends = np.array([self._crossing(float(share), level) for share in wanted])
            # Larger shares have larger quantiles, so ends may not cross either.
            order = np.argsort(wanted, kind="stable")
            low, high = np.empty(len(wanted)), np.empty(len(wanted))
            low[order] = np.maximum.accumulate(ends[order, 0])
            high[order] = np.minimum.accumulate(ends[order[::-1], 1])[::-1]
            return low, high

        estimate = self._estimate(value, work, f"quantiles of {self.described}", (self.low, self.high))
        return replace(estimate, labels=tuple(wanted.tolist()))

    def _crossing(self, share: float, level: float) -> tuple[float, float]:
        """Below the first value there is surely less than the share, up to the second surely as much."""
        middle = float(self.reaching(np.array([share]))[0] - self.low) / (self.high - self.low) * STEPS
        first, last = (crossing_step(share, middle, self._bounds(level, upper), upper=upper) for upper in (True, False))
        return self._step(first), self._step(last)

    def _bounds(self, level: float, upper: bool) -> RisingBound:
        """A side of the band of shares up to a step; all quantiles of a level look at the same one."""
        key = level, upper
        if key not in self._sides:
            # Not by `self`: a cycle would keep all its tables until somebody looks for garbage.
            self._sides[key] = RisingBound(partial(Shape._side, proxy(self), level=level, upper=upper))
        return self._sides[key]

    @cached_property
    def _sides(self) -> dict[tuple[float, bool], RisingBound]:
        return {}

    def _step(self, number: int) -> float:
        return self.low + (self.high - self.low) * number / STEPS

    def _side(self, number: int, *, level: float, upper: bool) -> float:
        """An end of the interval of the share up to a step."""
        value = self._step(number)
        wide, plausible = self._plausible(np.array([value]))
        surely, possibly = wide.inside(self.low, value)
        return plausible.largest(possibly, half_width(level)) if upper else -plausible.largest(-surely, half_width(level))

    def _estimate(self, value: Floats, work: Answer, method: str, bounds: tuple[float, float]) -> Estimate:
        ends = Ends(work, value, bounds)
        return Estimate(
            value=value,
            variance=ends.variance(),
            n=self.n,
            target=self.target,
            method=method,
            bounds=bounds,
            sure=ends,
            assumes=self.assumes,
        )
