"""Figure 7.4: two boxes around the same point, both larger than the radius."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.studies import Feature, perturbations, product_law
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run, readings
from deniable_reproduce.pictures import significant
from deniable_reproduce.two_features import POINT, boundary_chart, exact_radius, proved, side_by_side

TEXT = "Section 7.4.1, Example 13"


def compute(run: Run) -> Result:
    """Two boxes inside the circle with their probability under PM, and the box of the radius."""
    around = proved().box
    assert around is not None
    reach = exact_radius()
    boxes = {
        "partly": [[0.0, 0.05], [0.78, 0.62]],
        "around": [list(around.low), list(around.high)],
        "radius": [[x - reach for x in POINT], [x + reach for x in POINT]],
        "radius 0.2": [[0.3, 0.3], [0.7, 0.7]],
    }
    law = product_law(perturbations("ogpm", [Feature(), Feature()], 2), list(POINT))
    chances = {name: significant(law.probability(low, high), 6) for name, (low, high) in boxes.items()}
    return {
        "boxes": {name: [[significant(v, 5) for v in side] for side in box] for name, box in boxes.items()},
        "probabilities": chances,
        "numbers": {"box of radius 0.2 begins at": 0.5 - 0.2, "box of radius 0.2 ends at": 0.5 + 0.2},
        "variants": {
            "begins": {
                "a box of radius 0.1": 0.5 - 0.1,
                "a box of width 0.2": 0.5 - 0.2 / 2,
                "a box of the exact radius": 0.5 - reach,
            },
            "ends": {
                "a box of radius 0.1": 0.5 + 0.1,
                "a box of width 0.2": 0.5 + 0.2 / 2,
                "a box of the exact radius": 0.5 + reach,
            },
        },
    }


def draw(result: Result) -> Mapping[str, Any]:
    """Both boxes beside the radius's."""
    charts = []
    for letter, name in (("a", "partly"), ("b", "around")):
        low, high = result["boxes"][name]
        inner = result["boxes"]["radius"]
        rows = [
            (f"box: probability {result['probabilities'][name]:.2f} under PM, ε = 2", low, high),
            (f"radius: {result['probabilities']['radius']:.2f}", inner[0], inner[1]),
        ]
        heading = "(a) holds part of the radius's box" if letter == "a" else "(b) holds all of it"
        charts.append(boundary_chart(rows, heading))
    return {"boxes": side_by_side(charts, "Two robustness boxes", "boundary x² + y² = 1; the point is (0.5, 0.5)")}


BOX = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
WRONG = (
    "A radius of 0.2 around 0.5 is [0.3, 0.7]; [0.4, 0.6] has radius 0.1 "
    "(reproduce/tests/chapter_7/test_golden_classifiers.py::test_golden_value, row ex13.box)."
)

ARTIFACT = Artifact(
    name="figure-7.4",
    title="Two robustness hyperrectangles",
    source="Dissertation, Figure 7.4",
    compute=compute,
    draw=draw,
    published=(
        Published("box of radius 0.2 begins at", 0.4, 0.005, TEXT, WRONG, variants=readings("begins"), given=BOX),
        Published("box of radius 0.2 ends at", 0.6, 0.005, TEXT, WRONG, variants=readings("ends"), given=BOX),
    ),
    claims=(
        Claim(
            "both boxes promise more than the radius",
            TEXT,
            lambda r: min(r["probabilities"]["partly"], r["probabilities"]["around"]) > r["probabilities"]["radius"],
        ),
    ),
)
