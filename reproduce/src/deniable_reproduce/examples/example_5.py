"""Example 5: the height of the best window, by regression on solved examples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import curve_fit

from deniable.planning import fit_height
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run, named, readings

WHY = (
    "Solved to 6 digits, the heights are e^(ε/2) themselves, and the fit's constant is 0. The printed −0.07 needs "
    "heights that are all 0.07 too low, as a solver may leave them. It would be a mistake of 7 % in p as ε goes to 0."
)


def compute(run: Run) -> Result:
    """The published regression on heights that a global solver finds."""
    count = run.repetitions(12, 50)
    levels = [round(0.25 + 4.5 * place / (count - 1), 6) for place in range(count)]
    slope, constant, worst = fit_height(levels, seconds=20.0)
    numbers = {"b₁": round(slope, 3), "b₂": round(constant, 2), "largest error of the fit": round(worst, 2)}
    variants = {f"heights {share:+.1%} off": fitted(levels, share) for share in (-0.01, -0.005, 0.005, 0.01)}
    variants |= {f"heights {off:+g} off": fitted(levels, 0.0, off) for off in (-0.07, 0.07)}
    return {"numbers": numbers, "variants": {"b₂": variants}, "levels": levels, "theorem at ε = 1": math.exp(0.5)}


def fitted(levels: Sequence[float], share: float, off: float = 0.0) -> float:
    """The constant of the same fit to heights that are all off by a share, or by a constant."""
    heights = np.exp(np.array(levels) / 2) * (1 + share) + off

    def height(level: np.ndarray[Any, np.dtype[np.float64]], slope: float, constant: float) -> Any:
        return np.exp(slope * level) + constant

    (_, constant), _ = curve_fit(height, np.array(levels), heights, p0=(0.5, 0.0))
    return round(float(constant), 4)


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
        Published("b₂", -0.07, 0.005, "Example 5", WHY, variants=readings("b₂"), evidence=named("largest error of the fit")),
    ),
    claims=(
        Claim(
            "the largest error is at most 0.01", "Example 5", lambda result: result["numbers"]["largest error of the fit"] <= 0.01
        ),
    ),
    note="Needs pyscipopt (the extra `scip`). Quick: 12 levels of ε from 0.25 to 4.75; full: 50, as in the source.",
)
