"""Example 5: the height of the best window, by regression on solved examples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from deniable.design.bilinear import fit_height
from deniable.experiments.artifact import Artifact, Claim, Published, Result, Run

WHY = (
    "Solved to 6 digits, the heights are e^(ε/2) themselves, and the fit's constant is 0. The printed −0.07 can only come from "
    "heights that a solver left inexact. It would be a mistake of 7 % in p at ε = 0."
)


def compute(run: Run) -> Result:
    """The published regression on heights that a global solver finds."""
    count = run.repetitions(12, 50)
    levels = [round(0.25 + 4.5 * place / (count - 1), 6) for place in range(count)]
    slope, constant, worst = fit_height(levels, seconds=20.0)
    numbers = {"b₁": round(slope, 3), "b₂": round(constant, 2), "largest error of the fit": round(worst, 2)}
    return {"numbers": numbers, "levels": levels, "theorem at ε = 1": math.exp(0.5)}


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """p ≈ e^(b₁ ε) + b₂."""
    return [{"what": name, "ours": value} for name, value in result["numbers"].items()]


ARTIFACT = Artifact(
    name="example-5",
    title="The height of the best window, by regression",
    source="Dissertation, Example 5",
    compute=compute,
    table=table,
    published=(
        Published("b₁", 0.5, 0.005, "Example 5"),
        Published("b₂", -0.07, 0.005, "Example 5", WHY),
    ),
    claims=(
        Claim(
            "the largest error is at most 0.01", "Example 5", lambda result: result["numbers"]["largest error of the fit"] <= 0.01
        ),
    ),
    note="Needs pyscipopt (the extra `scip`). Quick: 12 levels of ε from 0.25 to 4.75; full: 50, as in the source.",
)
