"""Figure C.1: the distance on a circle, and what is printed for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run, named
from deniable_reproduce.pictures import Panel, curve, line_panels

ORDER = ["shorter way around", "as printed"]
PLACES = {"y = π/2": math.pi / 2, "y = π": math.pi, "y = 3π/2": 3 * math.pi / 2}
TURN = 2 * math.pi
WHY_FORMULA = (
    "The printed formula min(|y − x|, |y − (2π − x)|) measures to the mirror image 2π − x, not around the circle. The shorter way "
    "is min(|y − x|, 2π − |y − x|)."
)
WHY_LEMMA = (
    "At y = π the distance to x = π is 0, the least there is. The largest distance from y is at its opposite, and it is always π. "
    "What is concluded from the lemma is right all the same: turning the circle changes nothing, so all directions are alike."
)


def around(y: float, x: float) -> float:
    """The shorter way from x to y."""
    return min(abs(y - x), TURN - abs(y - x))


def printed(y: float, x: float) -> float:
    """Section 5.3's formula."""
    return min(abs(y - x), abs(y - (TURN - x)))


def compute(run: Run) -> Result:
    """Both distances as functions of x."""
    places = np.linspace(0, TURN, 201)
    panels = []
    numbers = {}
    for name, y in PLACES.items():
        right = [around(y, float(x)) for x in places]
        rows = curve(places, right, ORDER[0]) + curve(places, [printed(y, float(x)) for x in places], ORDER[1])
        panels.append({"title": name, "rows": rows})
        numbers[f"place of the largest distance (in π), {name}"] = float(places[int(np.argmax(right))]) / math.pi
        numbers[f"distance at x = π, {name}"] = around(y, math.pi)
    numbers["distance of 3π/2 and π/4"] = around(1.5 * math.pi, math.pi / 4)
    numbers["3π/2 and π/4 by the printed formula"] = printed(1.5 * math.pi, math.pi / 4)
    numbers["distance of 3π/2 and 0"] = around(1.5 * math.pi, 0.0)
    numbers["distance of 2π and 0"] = around(TURN, 0.0)
    return {"numbers": numbers, "panels": panels}


def draw(result: Result) -> Mapping[str, Any]:
    """One panel for each y."""
    panels = [
        Panel(panel["rows"], title=panel["title"], x="x (radians)", y="distance (radians)", y_range=(0, 3.3))
        for panel in result["panels"]
    ]
    return {"distances": line_panels(panels, ORDER, title="The distance from y to x on the circle", columns=3, size=(230, 220))}


ARTIFACT = Artifact(
    name="figure-c.1",
    title="Distances on a circle",
    source="Dissertation, Figure C.1 and Section 5.3",
    compute=compute,
    draw=draw,
    published=(
        Published("distance of 2π and 0", 0.0, 1e-12, "Section 5.3"),
        Published("distance of 3π/2 and 0", math.pi / 2, 1e-12, "Section 5.3"),
        Published(
            "distance of 3π/2 and π/4",
            printed(1.5 * math.pi, math.pi / 4),
            1e-9,
            "Section 5.3, the formula",
            WHY_FORMULA,
            variants=named("3π/2 and π/4 by the printed formula"),
        ),
    ),
    claims=(
        Claim(
            "whatever y is, the largest distance over x is at x = π",
            "Lemma 3 and Figure C.1",
            lambda result: all(
                abs(result["numbers"][f"place of the largest distance (in π), {name}"] - 1) < 0.01 for name in PLACES
            ),
            WHY_LEMMA,
            named(
                *(f"{what}, {name}" for name in PLACES for what in ("place of the largest distance (in π)", "distance at x = π"))
            ),
        ),
    ),
)
