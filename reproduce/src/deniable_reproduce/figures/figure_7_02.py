"""Figure 7.2: the robustness radius of a two-dimensional classifier, found by testing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable_reproduce.artifact import Artifact, Claim, Result, Run
from deniable_reproduce.pictures import significant
from deniable_reproduce.two_features import POINT, TAU, beyond, boundary_chart, exact_radius, searched, side_by_side


def compute(run: Run) -> Result:
    """The accepted radius, the exact one, and what the search cost."""
    search = searched(run)
    return {
        "numbers": {"accepted radius": significant(search.radius, 6), "exact radius": significant(exact_radius(), 8)}
        | {"share of the accepted box beyond the boundary": significant(beyond(search.radius), 4)},
        "tests": search.tests,
        "samples": search.samples,
    }


def draw(result: Result) -> Mapping[str, Any]:
    """The boundary and both boxes."""
    boxes = []
    for name, key in (("accepted by testing", "accepted radius"), ("exact", "exact radius")):
        reach = result["numbers"][key]
        boxes.append((f"{name}: θ = {reach:.3f}", [x - reach for x in POINT], [x + reach for x in POINT]))
    chart = boundary_chart(boxes, "boundary x² + y² = 1, at (0.5, 0.5)")
    return {"radius": side_by_side([chart], "Robustness radius of a two-dimensional classifier", f"τ = {TAU:g}, ω = 0.05")}


ARTIFACT = Artifact(
    name="figure-7.2",
    title="Robustness radius and decision boundary",
    source="Dissertation, Figure 7.2",
    compute=compute,
    draw=draw,
    claims=(
        Claim(
            "a radius that testing accepts may reach over the boundary, but by little: τ of the box at most",
            "Section 7.3.2",
            lambda r: r["numbers"]["share of the accepted box beyond the boundary"] <= TAU,
            evidence=lambda r: {**r["numbers"], "τ": TAU},
        ),
    ),
    note="The released network was trained on the unit circle; its weights are in a released file that is not opened here, so the "
    "circle is used. See example-11.",
)
