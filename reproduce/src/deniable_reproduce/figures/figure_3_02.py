"""Figure 3.2: a density of three pieces, and one of many."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from deniable.core import make_mechanism
from deniable.estimators import expected_error, worst_case
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run, named
from deniable_reproduce.densities import density_rows
from deniable_reproduce.pictures import Panel, line_panels

EPSILON = 1
X = 0.5
THREE, SEVEN = "3 pieces", "7 pieces"


def compute(run: Run) -> Result:
    """The published window, and windows within windows of the same privacy."""
    three = make_mechanism("ogpm", epsilon=EPSILON)
    steps = (math.e, 2.2, 1.5, 1.0)
    seven = make_mechanism("pieces", epsilon=EPSILON, widths=["0.2", "0.45", "0.7"], weights=[str(step) for step in steps])
    numbers = {}
    for name, mechanism in ((THREE, three), (SEVEN, seven)):
        numbers[f"{name}: ln of the largest ratio"] = mechanism.certificate().epsilon_exact
        numbers[f"{name}: error at x = 0.5"] = expected_error(mechanism, X)
        numbers[f"{name}: worst error"] = worst_case(mechanism).error
    panels = [{"title": name, "rows": density_rows(built, X, name)} for name, built in ((THREE, three), (SEVEN, seven))]
    return {"numbers": numbers, "panels": panels}


def draw(result: Result) -> Mapping[str, Any]:
    """Three pieces on the left, seven on the right."""
    panels = [
        Panel(
            panel["rows"], title=panel["title"], x="answer y", y="probability density", steps=True, x_range=(0, 1), y_range=(0, 2)
        )
        for panel in result["panels"]
    ]
    return {
        "densities": line_panels(
            panels, [THREE, SEVEN], title="Piecewise densities of an answer at x = 0.5", subtitle="both are ε = 1", dashed=False
        )
    }


ARTIFACT = Artifact(
    name="figure-3.2",
    title="Piecewise distributions",
    source="Dissertation, Figure 3.2 (an illustration; the seven pieces are ours)",
    compute=compute,
    draw=draw,
    published=(
        Published(f"{THREE}: ln of the largest ratio", 1.0, 1e-6, "Figure 3.2, ε-LDP"),
        Published(f"{SEVEN}: ln of the largest ratio", 1.0, 1e-6, "Figure 3.2, ε-LDP"),
    ),
    claims=(
        Claim(
            "a general density of more pieces could have the lower worst error",
            "Figure 3.2 (“has potential”)",
            lambda result: result["numbers"][f"{SEVEN}: worst error"] < result["numbers"][f"{THREE}: worst error"],
            "It could not: three pieces are enough for every loss that grows with the distance (proofs/window-optimality.md). What "
            "can be lower is a mechanism without a constant band: beyond-optimal-window.",
            named(f"{THREE}: worst error", f"{SEVEN}: worst error"),
        ),
    ),
)
