"""Joint randomized response in pictures: variance, privacy against colluders, and the private region."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from deniable.charts.theme import COLOURS, inline, themed
from deniable.core import Pair
from deniable.studies import epsilon_by_colluders, variance_by_ones

NUMBERS = ["alone", "secret pairing", "known pairing", "as printed"]


def joint_chart(tables: Mapping[str, Pair], n: int, *, title: str, subtitle: str = "") -> Any:
    """The variance of every table over the share of ones; below, the privacy of the first over the share of colluders."""
    first = next(iter(tables.values()))
    curves = _lines(
        variance_by_ones(tables, n), "share", "share of ones", "variance", "variance of the count", "table", list(tables)
    )
    rows = epsilon_by_colluders(first, n)
    if not any(row["number"] == "known pairing" for row in rows):
        subtitle = f"{subtitle}; epsilon with a known pairing is infinite"
    shown = [name for name in NUMBERS if any(row["number"] == name for row in rows)]
    privacy = _lines(rows, "share", "share of colluders", "epsilon", "epsilon of one honest user", "number", shown, cut=True)
    return themed(
        alt.vconcat(curves, privacy, spacing=28).resolve_scale(color="independent", strokeDash="independent"),
        title=title,
        subtitle=subtitle,
    )


def pair_tables(rows: list[dict[str, Any]], ticks: int) -> Any:
    """Every pair table as a small rectangle: how often the truth is told, and how much two partners agree."""
    return alt.Chart(inline(rows)).encode(
        x=alt.X(
            "p:Q", title="p, the probability of the truth", scale=alt.Scale(zero=False, nice=False), axis=alt.Axis(tickCount=ticks)
        ),
        x2="p_to:Q",
        y=alt.Y("rho:Q", title="correlation ρ", scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=ticks)),
        y2="rho_to:Q",
    )


def _lines(
    rows: list[dict[str, Any]], x: str, x_title: str, y: str, y_title: str, series: str, names: list[str], *, cut: bool = False
) -> Any:
    highest = max(row[y] for row in rows)
    # One number that runs off to infinity would flatten the rest.
    usual = 3 * min(row[y] for row in rows if row[y] > 0) if cut else highest
    scale = alt.Scale(zero=True, domain=[0, min(usual, 1.06 * highest)]) if cut else alt.Scale(zero=True)
    dashes = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [1, 0]]
    return (
        alt.Chart(inline(rows))
        .mark_line(strokeWidth=2.5, clip=True)
        .encode(
            x=alt.X(f"{x}:Q", title=x_title, scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=6)),
            y=alt.Y(f"{y}:Q", title=y_title, scale=scale, axis=alt.Axis(tickCount=6)),
            color=alt.Color(
                f"{series}:N",
                title=None,
                sort=names,
                legend=alt.Legend(symbolSize=500),
                scale=alt.Scale(domain=names, range=COLOURS[: len(names)]),
            ),
            strokeDash=alt.StrokeDash(
                f"{series}:N", title=None, sort=names, scale=alt.Scale(domain=names, range=dashes[: len(names)])
            ),
        )
        .properties(width=560, height=240)
    )
