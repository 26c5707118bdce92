"""Example 11: how many samples, and which radius."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run, named
from deniable_reproduce.pictures import significant
from deniable_reproduce.tested_boxes import hoeffding_size
from deniable_reproduce.two_features import OMEGA, TAU, beyond, exact_radius, searched

TEXT = "Section 7.3.2, Example 11"


def compute(run: Run) -> Result:
    """Hoeffding's number for one test, the accepted radius, the exact radius."""
    search = searched(run)
    numbers = {
        "samples of one test": hoeffding_size(OMEGA, TAU / 2),
        "exact radius": exact_radius(),
        "accepted radius": search.radius,
        "share beyond the boundary, accepted box": beyond(search.radius),
    }
    return {"numbers": {name: significant(value, 8) for name, value in numbers.items()}, "tests": search.tests}


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """What the example computes."""
    return [{"what": name, "value": value} for name, value in result["numbers"].items()]


ARTIFACT = Artifact(
    name="example-11",
    title="Finding a robustness radius by testing",
    source="Dissertation, Example 11",
    compute=compute,
    table=table,
    published=(
        Published("samples of one test", 18000, 500, TEXT),
        Published("exact radius", 0.20, 0.01, f"{TEXT} (0.207, cut after two decimals)"),
        Published(
            "accepted radius",
            0.20,
            0.005,
            TEXT,
            "A test with τ = 0.02 accepts a box that reaches a little beyond the boundary: here one of radius 0.24, of which 0.9 % "
            "lies beyond. The text's radius is the exact one, cut to two digits.",
            evidence=named("share beyond the boundary, accepted box", "exact radius"),
            given=(0.02,),
        ),
    ),
    claims=(
        Claim(
            "one confidence of 95 % serves the whole search",
            TEXT,
            lambda r: r["tests"] <= 1,
            "Every test of a search may err; the confidence has to be shared among all planned ones "
            "(reproduce/tests/chapter_7/test_tested_boxes.py::test_the_search_finds_the_box_and_pays_for_every_test).",
            lambda r: {"tests of the search": r["tests"], "chance that one errs, by the union bound": min(0.05 * r["tests"], 1.0)},
        ),
    ),
    note="The radius is that of the unit circle, on which the released network was trained; the network itself is in a released "
    "file that is not opened here.",
)
