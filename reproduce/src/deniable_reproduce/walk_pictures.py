"""Errors over epsilon as curves with bands: the picture most figures of chapter 6 are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable_reproduce.pictures import Panel, line_panels
from deniable_reproduce.walks import Row


def banded(rows: Sequence[Row], metric: str = "average_error") -> list[Row]:
    """Rows of a comparison as rows of a picture: two standard errors up and down."""
    return [
        {
            "x": row["epsilon"],
            "y": row[metric],
            "low": max(row[metric] - 2 * row.get(f"{metric}_standard_error", 0.0), 0.0),
            "high": row[metric] + 2 * row.get(f"{metric}_standard_error", 0.0),
            "series": row["mechanism"],
        }
        for row in rows
    ]


def error_panels(
    rows: Mapping[str, Sequence[Row]],
    titles: Mapping[str, str],
    order: Sequence[str],
    *,
    title: str,
    subtitle: str = "",
    y: str = "average error",
    x: str = "ε per location",
    size: tuple[int, int] = (340, 260),
    columns: int = 2,
) -> Any:
    """One panel per set of rows, one legend."""
    levels = sorted({row["epsilon"] for part in rows.values() for row in part})
    ends = levels[0] - 0.3, levels[-1] + 0.3
    panels = [
        Panel(
            banded(part),
            title=titles.get(key, ""),
            x=x,
            y=y,
            ticks=levels if len(levels) <= 10 else (),
            points=True,
            x_range=ends,
        )
        for key, part in rows.items()
    ]
    return line_panels(panels, order, title=title, subtitle=subtitle, size=size, columns=columns)
