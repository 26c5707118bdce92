"""A model at a record under several mechanisms: the published box bound, ρ itself, and what plain reports give."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

import altair as alt
import numpy as np

from deniable.charts import COLOURS, inline, themed
from deniable.studies import (
    Box,
    Cells,
    HalfSpace,
    Polyhedron,
    Study,
    exact_region,
    perturbations,
    product_law,
    quantify,
)
from deniable_reproduce.artifact import Evidence, Result, Run
from deniable_reproduce.pac_privacy import indicator_utility
from deniable_reproduce.pictures import significant

Row = dict[str, Any]
SHOWN = {
    "ogpm": "PM",
    "redesigned-sw": "SW",
    "exponential": "Exponential",
    "laplace": "Laplace",
    "k-rr": "k-RR",
    "gaussian": "Gaussian",
}
"""Names of chapter 7: its PM is this project's ogpm, its SW is redesigned-sw."""
STEPS = 30
BEYOND = (
    "The released programs draw noise again until it falls into [0, 1], and count every draw outside as a failure; the box bound "
    "counts it as lost. But a model answers there too: with every report answered, utility of Laplace is above utility of "
    "Exponential; Laplace as released is below utility of Exponential at ε = 1."
)


def rho_rows(
    question: Study,
    mechanisms: Sequence[str],
    epsilons: Sequence[float],
    run: Run,
    purpose: str,
    *,
    box: Box | None = None,
    empirical: int = 2000,
    indicator: float = 0.0,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    evaluations: int = 20_000,
    prove: bool = False,
) -> list[Row]:
    """One row per mechanism and epsilon. `box` adds Pr[M in box], which is what the source calls theoretical."""
    report = quantify(
        question,
        mechanisms,
        epsilons,
        indicator=indicator,
        parameters=parameters,
        evaluations=evaluations,
        empirical=empirical,
        prove=prove,
        keystream=run.keystream(purpose),
    )
    rows = []
    for row in report.rows:
        cells: Row = {
            "mechanism": SHOWN[row.mechanism],
            "epsilon": row.epsilon,
            "rho": significant(row.value, 6),
            "low": significant(row.low, 6),
            "high": significant(row.high, 6),
            "kind": row.kind,
        }
        if row.worst is not None:
            cells["worst"] = significant(row.worst, 6)
        if row.empirical is not None:
            cells["empirical"] = significant(row.empirical, 5)
        if row.proved_lower is not None:
            cells["proved"] = significant(row.proved_lower, 5)
        if box is not None:
            own = (parameters or {}).get(row.mechanism, {})
            laws = perturbations(row.mechanism, question.features, row.epsilon, **own)
            inside = product_law(laws, question.values(0)).probability(box.low, box.high)
            cells["box"] = significant(indicator_utility(inside, indicator) if indicator else inside, 6)
        rows.append(cells)
    return rows


def robust_box(model: Any, record: Any, sensitive: Sequence[int]) -> Box:
    """A box of [0, 1]^d around a record in which the answer provably stays: the features that matter least grow first."""
    region = exact_region(model, record, sensitive)
    point = [float(record[column]) for column in sensitive]
    if isinstance(region, Cells):
        grown = region.box_around([int(np.searchsorted(edge, value)) for edge, value in zip(region.edges, point, strict=True)])
        return Box(tuple(max(end, 0.0) for end in grown.low), tuple(min(end, 1.0) for end in grown.high))
    assert isinstance(region, HalfSpace | Polyhedron)
    weights = np.abs(np.atleast_2d(model.coef_)[:, list(sensitive)]).max(axis=0)
    return _grown(region.holds_in, point, [int(axis) for axis in np.argsort(weights)])


def _grown(holds: Callable[[Box], bool], point: Sequence[float], order: Sequence[int]) -> Box:
    low, high = list(point), list(point)
    for axis in order:
        for side, limit in ((low, 0.0), (high, 1.0)):
            near, far = side[axis], limit
            place = far
            for _ in range(STEPS):
                side[axis] = place
                if holds(Box(tuple(low), tuple(high))):
                    near = place
                else:
                    far = place
                place = (near + far) / 2
            side[axis] = near
    return Box(tuple(low), tuple(high))


def rho_panels(
    panels: Mapping[str, Sequence[Row]], *, title: str, subtitle: str, key: str = "rho", size: tuple[int, int] = (340, 270)
) -> Any:
    """Curves of `key`, dashed curves of the box bound where there is one, and circles for plain reports."""
    names = list(dict.fromkeys(row["mechanism"] for rows in panels.values() for row in rows))
    drawn = [_panel(heading, rows, names, key, size) for heading, rows in panels.items()]
    whole = drawn[0] if len(drawn) == 1 else alt.concat(*drawn, columns=2, spacing=34)
    return themed(whole, title=title, subtitle=subtitle)


def _panel(heading: str, rows: Sequence[Row], names: Sequence[str], key: str, size: tuple[int, int]) -> Any:
    levels = sorted({row["epsilon"] for row in rows})
    x = alt.X(
        "epsilon:Q",
        title="ε of every sensitive feature",
        scale=alt.Scale(nice=False, zero=False, padding=10),
        axis=alt.Axis(values=levels, format="~g", labelOverlap=True),
    )
    colour = alt.Color(
        "mechanism:N",
        title=None,
        sort=list(names),
        scale=alt.Scale(domain=list(names), range=COLOURS[: len(names)]),
        legend=alt.Legend(orient="bottom", symbolType="stroke", symbolSize=400, symbolOpacity=1),
    )
    shown = [row[name] for row in rows for name in (key, "low", "box", "empirical") if name in row]
    # A panel of values near 1 begins higher.
    scale = alt.Scale(domain=[max(math.floor(10 * min(shown) - 0.5) / 10, 0.0) if min(shown) > 0.5 else 0.0, 1], nice=False)

    def y(name: str) -> Any:
        return alt.Y(f"{name}:Q", title="probability of the same answer", scale=scale, axis=alt.Axis(tickCount=6))

    base = alt.Chart(inline(list(rows))).encode(x=x, color=colour)
    layers = []
    if key == "rho" and any(row["high"] - row["low"] > 1e-4 for row in rows):
        layers.append(base.mark_area(opacity=0.2).encode(y=y("low"), y2="high:Q"))
    layers.append(base.mark_line(strokeWidth=2.4).encode(y=y(key)))
    if key == "rho" and any("box" in row for row in rows):
        layers.append(base.mark_line(strokeWidth=2, strokeDash=[5, 4]).encode(y=y("box")))
    if key == "rho" and any("empirical" in row for row in rows):
        layers.append(base.mark_point(size=38, strokeWidth=1.5).encode(y=y("empirical")))
    title = alt.TitleParams(heading, fontSize=14, fontWeight="normal", anchor="middle", offset=8)
    return alt.layer(*layers).properties(width=size[0], height=size[1], title=title)


def at(rows: Sequence[Row], mechanism: str, epsilon: float) -> Row:
    """One row of a study."""
    return next(row for row in rows if row["mechanism"] == mechanism and row["epsilon"] == epsilon)


SLACK = 0.005
"""So much less is as good."""


def ordered(rows: Sequence[Row], *names: str, key: str = "rho", slack: float = SLACK, least: float = 0.0) -> bool:
    """Is each mechanism at least as good as the next named one, at every epsilon from `least` on, up to `slack`?"""
    levels = sorted({row["epsilon"] for row in rows if row["epsilon"] >= least})
    pairs = list(pairwise(names))
    return all(at(rows, one, level)[key] >= at(rows, other, level)[key] - slack for level in levels for one, other in pairs)


def best_at(panels: Iterable[Sequence[Row]], best: str, others: Sequence[str]) -> dict[float, bool]:
    """For every epsilon: is one mechanism as good as all others, in all panels?"""
    is_best: dict[float, bool] = {}
    for rows in panels:
        for level in sorted({float(row["epsilon"]) for row in rows}):
            some = [row for row in rows if row["epsilon"] == level]
            is_best[level] = is_best.get(level, True) and all(ordered(some, best, other) for other in others)
    return is_best


def not_best_before(levels: Mapping[float, bool]) -> str:
    """Why PM is not always best, and from which epsilon on it is."""
    behind = [level for level, best in levels.items() if not best]
    after = [level for level in levels if not behind or level > max(behind)]
    ahead = (
        f"from ε = {min(after):g} on PM is best or less than {SLACK} behind" if after else "PM is not best at the largest ε either"
    )
    few = ", ".join(f"{level:g}" for level in sorted(behind))
    return f"At ε = {few} noise that leaves [0, 1] keeps a forest's answer more often, because a forest answers there too; {ahead}."


FALLS = (
    "Strong noise throws a value beyond [0, 1], where a forest answers as it does at the end; weaker noise falls between its "
    "thresholds first, before it is small enough to leave the value where it was."
)
"""Why a forest's utility need not rise with epsilon."""


def rising(rows: Sequence[Row], key: str = "rho", slack: float = 1e-6) -> bool:
    """Does every mechanism's curve rise with epsilon? No point may lie more than `slack` below any before it."""
    for name in {row["mechanism"] for row in rows}:
        values = [row[key] for row in sorted((r for r in rows if r["mechanism"] == name), key=lambda r: r["epsilon"])]
        if any(after < highest - slack for highest, after in zip(accumulate(values, max), values[1:], strict=False)):
            return False
    return True


def utilities(names: Sequence[str], key: str = "rho", levels: Sequence[float] | None = None) -> Evidence:
    """Evidence: the curves themselves, at the given epsilons or at all."""

    def shown(result: Result) -> dict[str, float]:
        panels = result["rows"].items() if isinstance(result["rows"], dict) else [("", result["rows"])]
        what = ", worst record" if key == "worst" else ""
        return {
            f"{row['mechanism']}{', ' + panel if panel else ''}{what}, ε = {row['epsilon']:g}": row[key]
            for panel, rows in panels
            for row in rows
            if row["mechanism"] in names and key in row and (levels is None or row["epsilon"] in levels)
        }

    return shown


def boxes_below(result: Result, slack: float = 1e-6) -> bool:
    """Never above ρ: every box bound of a result's panels."""
    return all(row["box"] <= row["high"] + slack for rows in result["rows"].values() for row in rows if "box" in row)


def best_is_pm(result: Result) -> bool:
    """No mechanism is better than PM at any epsilon of any panel, up to half a percent."""
    return all(
        ordered(rows, "PM", other)
        for rows in result["rows"].values()
        for other in sorted({row["mechanism"] for row in rows} - {"PM"})
    )
