"""Figure 5.6: the favoured arc of the circular OGPM."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from deniable.core import make_mechanism
from deniable.estimators import density
from deniable_reproduce.artifact import Artifact, Published, Result, Run
from deniable_reproduce.circles import arc, ring
from deniable_reproduce.densities import BINS

EPSILON = 1
PLACES = {"x = 0": 0.0, "x = π/2": math.pi / 2}
CUT = 0.01
TEXT = "Example 7"


def compute(run: Run) -> Result:
    """The arc and the densities, from the integer weights."""
    mechanism = make_mechanism("circular-ogpm", epsilon=EPSILON)
    circles = []
    numbers: dict[str, float] = {}
    for name, x in PLACES.items():
        curve = density(mechanism, x, BINS)
        high, low = float(curve.heights.max()), float(curve.heights.min())
        width = float((curve.heights > (high + low) / 2).mean())
        begin, end = (x - math.pi * width) % (2 * math.pi), (x + math.pi * width) % (2 * math.pi)
        numbers |= {f"arc begins at (π), {name}": begin / math.pi, f"arc ends at (π), {name}": end / math.pi}
        numbers |= {f"density inside, {name}": high, f"density outside, {name}": low}
        circles.append({"title": name, "x": x, "half": math.pi * width})
    return {"numbers": numbers, "circles": circles}


def draw(result: Result) -> Mapping[str, Any]:
    """A circle for each direction."""
    parts = [
        {
            "title": circle["title"],
            "arcs": {"favoured": arc(circle["x"], circle["half"]), "others": arc(circle["x"] + math.pi, math.pi - circle["half"])},
            "point": circle["x"],
        }
        for circle in result["circles"]
    ]
    return {
        "arcs": ring(
            parts,
            title="Circular OGPM (Theorem 8) at ε = 1",
            subtitle="answers in the thick arc are e times as likely as the others; the dot is the private direction",
        )
    }


PUBLISHED = (
    Published("arc begins at (π), x = 0", 1.62, CUT, TEXT),
    Published("arc ends at (π), x = 0", 0.38, CUT, TEXT),
    Published("density inside, x = 0", 0.26, CUT, TEXT),
    Published("density outside, x = 0", 0.09, CUT, TEXT + " (0.0965, cut after two decimals)"),
)

ARTIFACT = Artifact(
    name="figure-5.6",
    title="Circular OGPM at ε = 1",
    source="Dissertation, Figure 5.6",
    compute=compute,
    draw=draw,
    published=PUBLISHED,
)
