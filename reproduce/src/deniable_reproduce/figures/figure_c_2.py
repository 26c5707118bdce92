"""Figure C.2: pieces moved nearer to x make a staircase, with less error and the same privacy."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from deniable_reproduce.artifact import Artifact, Claim, Result, Run
from deniable_reproduce.densities import step_rows
from deniable_reproduce.pictures import Panel, line_panels

X = 0.5
BEFORE = "before: no staircase"
AFTER = "after: a staircase"
SHAPES = {
    BEFORE: ([0.0, 0.15, 0.35, 0.6, 0.8, 1.0], [1.0, 0.6, 1.4, 0.7, 1.2]),
    AFTER: ([0.0, 0.2, 0.35, 0.6, 0.8, 1.0], [0.6, 1.0, 1.4, 1.2, 0.7]),
}


def error(breaks: list[float], heights: list[float]) -> float:
    """The mean of |y - x| under a piecewise density at x = 0.5, exactly."""

    def primitive(y: float) -> float:
        return (y - X) * abs(y - X) / 2

    return sum(height * (primitive(b) - primitive(a)) for (a, b), height in zip(pairwise(breaks), heights, strict=True))


def compute(run: Run) -> Result:
    """Two densities with the same pieces in another order."""
    numbers, panels = {}, []
    for name, (breaks, heights) in SHAPES.items():
        widths = [b - a for a, b in pairwise(breaks)]
        numbers[f"{name}: mass"] = sum(width * height for width, height in zip(widths, heights, strict=True))
        numbers[f"{name}: largest ratio"] = max(heights) / min(heights)
        numbers[f"{name}: expected |y − x|"] = error(breaks, heights)
        panels.append({"title": name, "rows": step_rows(breaks, heights, name)})
    return {"numbers": numbers, "panels": panels}


def draw(result: Result) -> Mapping[str, Any]:
    """Before and after."""
    panels = [
        Panel(
            panel["rows"], title=panel["title"], x="answer y", y="probability density", steps=True, x_range=(0, 1), y_range=(0, 1.6)
        )
        for panel in result["panels"]
    ]
    return {"densities": line_panels(panels, [BEFORE, AFTER], title="Moving high pieces nearer to x = 0.5", dashed=False)}


def _same(result: Result, what: str) -> bool:
    return bool(abs(result["numbers"][f"{BEFORE}: {what}"] - result["numbers"][f"{AFTER}: {what}"]) < 1e-12)


ARTIFACT = Artifact(
    name="figure-c.2",
    title="A density made into a staircase",
    source="Dissertation, Figure C.2 (an illustration; the heights are ours)",
    compute=compute,
    draw=draw,
    claims=(
        Claim("moving pieces keeps the total", "Fact 1", lambda result: _same(result, "mass")),
        Claim("moving pieces keeps the privacy", "Fact 1", lambda result: _same(result, "largest ratio")),
        Claim(
            "moving high pieces nearer to x lowers the error",
            "Fact 1",
            lambda result: result["numbers"][f"{AFTER}: expected |y − x|"] < result["numbers"][f"{BEFORE}: expected |y − x|"],
        ),
    ),
)
