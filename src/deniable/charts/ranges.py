"""Ordered categories in pictures: the share of every range at once, and the share up to each category with its band."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from deniable.batch import Floats
from deniable.charts.theme import COLOURS, inline, themed
from deniable.charts.trajectories import SHADES
from deniable.errors import InvalidParameter
from deniable.estimators import Estimate

MOST_DRAWN = 96
"""Categories, beyond which neighbours are joined for the picture."""
SIDE = 440


def range_chart(names: Sequence[str], ranges: Floats, *, quantity: str = "share", title: str, subtitle: str = "") -> Any:
    """A cell for every range: entry [i, j] of `ranges` is what is drawn of the categories from i up to and including j.

    Give it the shares or the standard errors of `tree_sums(reports).ranges()`. Of many categories, ranges that start and end
    with one of 96, evenly spaced, are drawn.
    """
    table = np.asarray(ranges, np.float64)
    if table.shape != (len(names), len(names)):
        raise InvalidParameter("ranges must have a row and a column for each of the names")
    drawn = np.unique(np.linspace(0, len(names) - 1, min(len(names), MOST_DRAWN)).round().astype(int)).tolist()
    cells = [
        {"first": names[first], "last": names[last], "amount": float(table[first, last])}
        for first in drawn
        for last in drawn
        if first <= last
    ]
    order = [names[index] for index in drawn]
    axis = alt.Axis(labelOverlap=True, ticks=False, labelAngle=0)
    most = max(float(np.triu(table).max()), 1e-12)
    chart = (
        alt.Chart(inline(cells))
        .mark_rect()
        .encode(
            x=alt.X("first:N", title="from", sort=order, axis=axis),
            y=alt.Y("last:N", title="up to", sort=order[::-1], axis=axis),
            color=alt.Color(
                "amount:Q",
                title=quantity,
                scale=alt.Scale(range=SHADES, interpolate="rgb", domain=[0, most], clamp=True),
                legend=alt.Legend(format=".2~%", gradientLength=200, tickCount=5, titlePadding=10),
            ),
        )
        .properties(width=SIDE, height=SIDE)
    )
    return themed(chart, title=title, subtitle=subtitle)


def cdf_chart(names: Sequence[str], cdf: Estimate, *, title: str, subtitle: str = "", level: float = 0.95) -> Any:
    """The share of everyone up to each category, a step for each, and the interval of every step as a band.

    `names` are those of all categories, the last of which everyone is up to, or of all but that one.
    The intervals hold one by one, not all together. What lies below 0 or above 1 is cut off.
    """
    everyone = [1.0] * (len(names) - cdf.value.size)
    if len(everyone) > 1 or len(names) < cdf.value.size:
        raise InvalidParameter("names must be one for each share, and may be one more for the last category")
    low, high = (np.append(np.clip(end, 0.0, 1.0), everyone) for end in cdf.interval(level))
    value = np.append(np.clip(cdf.value, 0.0, 1.0), everyone)
    rows = [
        {"name": name, "share": float(share), "low": float(least), "high": float(most)}
        for name, share, least, most in zip(names, value, low, high, strict=True)
    ]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("name:N", title=None, sort=list(names), axis=alt.Axis(labelOverlap=True, labelAngle=0, ticks=False))
    )
    span = alt.Y("low:Q", title="share up to here", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".0%"))
    band = base.mark_area(interpolate="step", opacity=0.3, color=COLOURS[0]).encode(y=span, y2="high:Q")
    line = base.mark_line(interpolate="step", color=COLOURS[0]).encode(y=alt.Y("share:Q"))
    return themed(alt.layer(band, line).properties(width=640, height=300), title=title, subtitle=subtitle)
