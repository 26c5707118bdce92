"""Tables of several fields in pictures: a panel for each value of the first field, a bar with its interval for each other cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from deniable.charts.theme import COLOURS, INK, inline, themed
from deniable.errors import InvalidParameter
from deniable.estimators import Estimate

MOST_BARS = 200
PANEL = 520
NAMED = alt.Header(labelOrient="top", labelAnchor="start", labelAngle=0, labelFontSize=13, labelPadding=4)
"""Above a panel: names beside panels of two or three bars would run into one another."""


def marginal_chart(names: Sequence[str], table: Estimate, *, title: str, subtitle: str = "", level: float = 0.95) -> Any:
    """Bars of a table that `marginal_sums(reports).marginal(names)` estimates, up to 200 cells."""
    if not names or table.labels is None:
        raise InvalidParameter(
            "names must be the fields of the table, and the table must have labels; pass them as marginal() got them"
        )
    cells = [cell if isinstance(cell, tuple) else (cell,) for cell in table.labels]
    if any(len(cell) != len(names) for cell in cells):
        raise InvalidParameter("names must be the fields of the table, as many as its labels have values")
    if len(cells) > MOST_BARS:
        raise InvalidParameter(f"a table of more than {MOST_BARS} cells is not drawn; ask for fewer fields")
    low, high = (np.asarray(end) for end in table.interval(level))
    # A table of one field is one panel, with a bar for each of its values.
    own = names[1:] or names
    rows = [
        {
            "panel": f"{names[0]} {cell[0]}" if len(cell) > 1 else names[0],
            "cell": ", ".join(f"{name} {value}" for name, value in zip(own, cell[1:] or cell, strict=True)),
            "share": float(share),
            "low": float(least),
            "high": float(most),
        }
        for cell, share, least, most in zip(cells, table.value, low, high, strict=True)
    ]
    across = alt.Y("cell:N", title=None, sort=list(dict.fromkeys(str(row["cell"]) for row in rows)))
    base = alt.Chart().encode(y=across)
    bars = base.mark_bar(height={"band": 0.7}, color=COLOURS[0]).encode(
        x=alt.X("share:Q", title="share", axis=alt.Axis(tickCount=8, format=".0%"))
    )
    whiskers = base.mark_rule(strokeWidth=2, color=INK).encode(x=alt.X("low:Q"), x2="high:Q")
    chart = (
        alt.layer(bars, whiskers, data=inline(rows))
        .properties(width=PANEL, height={"step": 20})
        .facet(row=alt.Row("panel:N", title=None, header=NAMED, sort=list(dict.fromkeys(str(row["panel"]) for row in rows))))
    )
    return themed(chart, title=title, subtitle=subtitle)
