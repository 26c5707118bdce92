"""Figure 5.4: the published optimal density at x = 0 and x = 0.5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.core import make_mechanism
from deniable_reproduce.artifact import Artifact, Published, Result, Run
from deniable_reproduce.densities import density_rows, window
from deniable_reproduce.pictures import Panel, line_panels

EPSILON = 1
PLACES = (0.0, 0.5)
TEXT = "Example 6"
CUT = 0.01
"""Two decimals, cut and not rounded: 1.6487 is printed as 1.64."""


def compute(run: Run) -> Result:
    """From the integer weights."""
    mechanism = make_mechanism("ogpm", epsilon=EPSILON)
    panels = []
    numbers: dict[str, float] = {}
    for x in PLACES:
        name = f"x = {x:g}"
        left, right, high, _ = window(mechanism, x)
        numbers |= {f"p at {name}": high, f"left end at {name}": left, f"right end at {name}": right}
        panels.append({"title": name, "rows": density_rows(mechanism, x, name)})
    return {"numbers": numbers, "panels": panels}


def draw(result: Result) -> Mapping[str, Any]:
    """One panel for each value."""
    panels = [
        Panel(
            panel["rows"], title=panel["title"], x="answer y", y="probability density", steps=True, x_range=(0, 1), y_range=(0, 2)
        )
        for panel in result["panels"]
    ]
    names = [panel["title"] for panel in result["panels"]]
    return {"densities": line_panels(panels, names, title="OGPM (Theorem 7) at ε = 1", dashed=False)}


PUBLISHED = (
    Published("p at x = 0", 1.64, CUT, TEXT),
    Published("left end at x = 0", 0.0, 1e-4, TEXT),
    Published("right end at x = 0", 0.38, CUT, TEXT),
    Published("p at x = 0.5", 1.64, CUT, TEXT),
    Published("left end at x = 0.5", 0.31, CUT, TEXT),
    Published("right end at x = 0.5", 0.69, CUT, TEXT),
)

ARTIFACT = Artifact(
    name="figure-5.4",
    title="OGPM at ε = 1, x = 0 and x = 0.5",
    source="Dissertation, Figure 5.4",
    compute=compute,
    draw=draw,
    published=PUBLISHED,
    note="Optimal for absolute error among mechanisms with a constant band; not for squared error, as printed.",
)
