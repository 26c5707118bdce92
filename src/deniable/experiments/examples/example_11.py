"""Example 11: how many samples, and which radius."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable.classifiers.search import hoeffding_size
from deniable.experiments.artifact import Artifact, Claim, Published, Result, Run
from deniable.experiments.pictures import significant
from deniable.experiments.two_features import OMEGA, TAU, exact_radius, searched

TEXT = "Section 7.3.2, Example 11"


def compute(run: Run) -> Result:
    """Hoeffding's number for one test, the accepted radius, the exact radius."""
    found = searched(run)
    numbers = {
        "samples of one test": hoeffding_size(OMEGA, TAU / 2),
        "exact radius": exact_radius(),
        "accepted radius": found.radius,
    }
    return {"numbers": {name: significant(value, 8) for name, value in numbers.items()}, "tests": found.tests}


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """What the example computes."""
    return [{"what": name, "value": value} for name, value in result["numbers"].items()]


ARTIFACT = Artifact(
    name="example-11",
    title="Finding a robustness radius by testing",
    source="dissertation, Example 11",
    compute=compute,
    table=table,
    published=(
        Published("samples of one test", 18000, 500, TEXT),
        Published(
            "exact radius",
            0.20,
            0.005,
            TEXT,
            "The boundary the network was trained on is the unit circle, 1/√2 − 1/2 = 0.2071 away; the network's own is not "
            "printed (the one printed in Example 15 has 0.3848).",
        ),
        Published(
            "accepted radius",
            0.20,
            0.005,
            TEXT,
            "A test with τ = 0.02 accepts boxes of which up to one percent lies beyond the boundary: up to about 0.24 here. The "
            "text's radius is the exact one, cut to two digits.",
        ),
    ),
    claims=(
        Claim(
            "one confidence of 95 % serves the whole search",
            TEXT,
            lambda r: r["tests"] <= 1,
            "Every test of a search may err; the confidence has to be shared among all planned ones "
            "(tests/classifiers/test_regions.py::test_the_search_finds_the_box_and_pays_for_every_test).",
        ),
    ),
)
