"""One look for every chart: light background, readable type, colours that survive colour blindness."""

from __future__ import annotations

from typing import Any

import altair as alt

# Okabe and Ito's palette, without its yellow, which is hard to see on white.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
INK, FAINT = "#222222", "#dddddd"
FONT = "DejaVu Sans, Liberation Sans, Helvetica, Arial, sans-serif"


def themed(chart: Any, *, title: str, subtitle: str = "") -> Any:
    """The chart with its title and the common look."""
    heading = alt.TitleParams(title, subtitle=subtitle.splitlines(), anchor="start", offset=14)
    return (
        chart.properties(title=heading, padding={"left": 12, "right": 24, "top": 12, "bottom": 12})
        .configure(font=FONT, background="white")
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=13,
            titleFontSize=14,
            titleFontWeight="normal",
            titlePadding=10,
            labelColor=INK,
            titleColor=INK,
            gridColor=FAINT,
            domainColor="#888888",
            tickColor="#888888",
            labelLimit=320,
        )
        .configure_legend(labelFontSize=13, titleFontSize=13, titleFontWeight="normal", labelLimit=320, symbolStrokeWidth=3)
        .configure_title(fontSize=17, subtitleFontSize=13, subtitleColor="#555555", color=INK, subtitlePadding=6)
        .configure_range(category=COLOURS)
    )


def unthemed(chart: Any, title: str) -> Any:
    """The chart without its title and look, to stand inside another one."""
    bare = chart.copy()
    bare.config = alt.Undefined
    bare.padding = alt.Undefined
    bare.title = alt.TitleParams(title, anchor="start", fontSize=14) if title else alt.Undefined
    return bare


def inline(rows: list[dict[str, Any]]) -> alt.InlineData:
    """Rows as the data of a chart, inside its specification."""
    return alt.InlineData(values=rows)
