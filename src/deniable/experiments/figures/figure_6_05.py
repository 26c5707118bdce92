"""Figure 6.5: a path along the short side of a long rectangle, where TraCS-D errs less than TraCS-C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from deniable.experiments.artifact import Artifact, Claim, Published, Result, Run, readings
from deniable.experiments.path_variants import short_side_variants
from deniable.experiments.walk_pictures import error_panels
from deniable.experiments.walks import EPSILONS, always_below, error_rows, ratio, ratio_error, rectangle, tracs_c, tracs_d
from deniable.trajectories import Paths

LENGTHS = (10, 30, 100)
TEXT = "Section 6.3.1"


def compute(run: Run) -> Result:
    """The path goes along y = 0 from x = 0 to x = 2; the text does not say in how many locations, so three numbers are tried."""
    region = rectangle(2, 10)
    result: Result = {"rows": {}, "numbers": {}, "standard_errors": {}, "repetitions": run.repetitions(200, 1000)}
    builds = {"TraCS-D": tracs_d(region), "TraCS-C": tracs_c(region)}
    for length in LENGTHS:
        along = Paths.of([np.stack([2 * (np.arange(length) + 0.5) / length, np.full(length, 1e-6)], axis=1)])
        rows = error_rows(builds, along, EPSILONS, run, f"figure 6.5 {length}", times=result["repetitions"])
        result["rows"][str(length)] = rows
        result["numbers"][f"TraCS-D / TraCS-C, {length} locations"] = ratio(rows, "TraCS-D", "TraCS-C")
        result["standard_errors"][f"TraCS-D / TraCS-C, {length} locations"] = ratio_error(rows, "TraCS-D", "TraCS-C")
    result["variants"] = {"ratio": short_side_variants(run)}
    return result


def draw(result: Result) -> Mapping[str, Any]:
    """One panel per number of locations."""
    return {
        "errors": error_panels(
            result["rows"],
            {key: f"{key} locations" for key in result["rows"]},
            ["TraCS-D", "TraCS-C"],
            title="A path along the short side of [0, 2] × [0, 10]",
            subtitle=f"perturbed {result['repetitions']} times; bands are two standard errors",
            size=(250, 230),
            columns=3,
        )
    }


ARTIFACT = Artifact(
    name="figure-6.5",
    title="When TraCS-D outperforms TraCS-C",
    source="dissertation, Figure 6.5",
    compute=compute,
    draw=draw,
    published=(
        Published(
            "TraCS-D / TraCS-C, 10 locations",
            0.498,
            0.02,
            TEXT,
            "The text does not say how many locations the path has, where it runs, nor where TraCS-D begins. The ratio falls with "
            "the number of locations, because only the first one is far from its reference.",
            variants=readings("ratio"),
        ),
    ),
    claims=(
        Claim(
            "TraCS-D errs less than TraCS-C at every ε",
            TEXT,
            lambda r: all(always_below(rows, "TraCS-D", "TraCS-C") for rows in r["rows"].values()),
        ),
    ),
)
