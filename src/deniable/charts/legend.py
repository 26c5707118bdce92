"""Which colour is which: the same three series in every chart of estimates."""

from __future__ import annotations

from typing import Any

import altair as alt

from deniable.charts.theme import COLOURS

TRUTH = "truth"
ESTIMATE_COLOUR, TRUTH_COLOUR = COLOURS[0], COLOURS[1]


def series_name(level: float) -> str:
    """What the estimate is called in a legend."""
    return f"estimate and {100 * level:g} % interval"


def series_colour(level: float, with_truth: bool, colour: str = ESTIMATE_COLOUR, *, line: bool = False, offset: int = 12) -> Any:
    """The colour channel: the estimate, and the truth where it is known; `line` when the estimate is drawn as one."""
    names = [series_name(level), *([TRUTH] if with_truth else [])]
    shape: dict[str, Any] = (
        {"symbolType": "stroke", "symbolStrokeWidth": 4} if line else {"symbolType": "square", "symbolStrokeWidth": 0}
    )
    return alt.Color(
        "series:N",
        title=None,
        scale=alt.Scale(domain=names, range=[colour, TRUTH_COLOUR]),
        legend=alt.Legend(orient="top", symbolOpacity=1, symbolSize=160, offset=offset, **shape),
    )
