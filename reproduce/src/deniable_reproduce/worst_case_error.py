"""The largest expected error over epsilon, for several mechanisms side by side (Figures 1.2, 5.9, 5.11, 5.14, 5.15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deniable_reproduce.artifact import Result, Run
from deniable_reproduce.pictures import Panel, Row, curve, line_panels

LEVELS = [1 + place / 4 for place in range(29)]
"""ε = 1, 1.25, …, 8: the grid of the released experiments, over which the text's averages are taken."""

ErrorOf = Callable[[float], float]


def curves(errors: Mapping[str, ErrorOf], levels: Sequence[float], run: Run | None = None) -> list[Row]:
    """Every mechanism's worst error at every epsilon."""
    rows: list[Row] = []
    for place, (name, error) in enumerate(errors.items()):
        rows += curve(levels, [error(level) for level in levels], name)
        if run is not None:
            run.progress(place + 1, len(errors))
    return rows


def series(rows: Sequence[Row], name: str) -> list[float]:
    """One curve's errors."""
    return [row["y"] for row in rows if row["series"] == name]


def share(rows: Sequence[Row], mine: str, other: str) -> float:
    """The ratio of two curves' averages over epsilon: what the text calls the average error of one in percent of another."""
    return sum(series(rows, mine)) / sum(series(rows, other))


def never_above(rows: Sequence[Row], mine: str, other: str, slack: float = 1e-6) -> bool:
    """Is one curve nowhere above another?"""
    return all(a <= b * (1 + slack) for a, b in zip(series(rows, mine), series(rows, other), strict=True))


def picture(result: Result, order: Sequence[str], *, title: str, subtitle: str, units: Sequence[str], log_y: bool = False) -> Any:
    """A panel for each kind of error."""
    panels = [
        Panel(panel["rows"], title=panel["title"], x="privacy parameter ε", y=unit, log_y=log_y)
        for panel, unit in zip(result["panels"], units, strict=True)
    ]
    return line_panels(panels, order, title=title, subtitle=subtitle)
