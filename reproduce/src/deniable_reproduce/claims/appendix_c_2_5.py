"""Appendix C.2.5: mean squared errors at x = 0, and the three cases of the formula."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from deniable.core import make_mechanism
from deniable.estimators import expected_error
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run, named

EPSILON = 1.0
PLACES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.95, 1.0)
WHY = "The root of p³(e^ε−1)² = (e^ε−p)²(p+2e^ε) has the lower worst squared error; p = e^(ε/2) is best for absolute error only."


def printed(x: float) -> float:
    """The three printed cases."""
    p, e = math.exp(EPSILON / 2), math.exp(EPSILON)
    c = math.expm1(EPSILON / 2) / (2 * math.expm1(EPSILON))
    if x < c:
        return p / 3 * ((2 * c - x) ** 3 + x**3) + p / (3 * e) * ((1 - x) ** 3 - (2 * c - x) ** 3)
    if x < 1 - c:
        return p / (3 * e) * (-2 * c**3 + 3 * x * x - 3 * x + 1) + p / 3 * (2 * c**3)
    return p / (3 * e) * ((1 - 2 * c - x) ** 3 + x**3) + p / 3 * ((1 - x) ** 3 - (1 - 2 * c - x) ** 3)


def compute(run: Run) -> Result:
    """From the integer weights, beside the formula."""
    ogpm = make_mechanism("ogpm", epsilon=EPSILON)
    rows = [{"x": x, "measured": expected_error(ogpm, x, "squared"), "formula": printed(x)} for x in PLACES]
    numbers = {
        "MSE of OGPM at x = 0": rows[0]["measured"],
        "MSE of SW at x = 0": expected_error(make_mechanism("sw", epsilon=EPSILON), 0.0, "squared"),
        "largest measured / formula − 1": max(abs(row["measured"] / row["formula"] - 1) for row in rows),
        "MSE at x = 0 of the squared-error window": expected_error(make_mechanism("window", epsilon=EPSILON), 0.0, "squared"),
    }
    return {"numbers": numbers, "rows": rows}


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """Measured and by the formula."""
    rows: list[Mapping[str, Any]] = result["rows"]
    return rows


ARTIFACT = Artifact(
    name="appendix-c-2-5",
    title="MSE of OGPM and SW at x = 0",
    source="Dissertation, Appendix C.2.5",
    compute=compute,
    table=table,
    published=(
        Published("MSE of OGPM at x = 0", 0.22, 0.005, "Appendix C.2.5"),
        Published("MSE of SW at x = 0", 0.29, 0.005, "Appendix C.2.5"),
        Published("largest measured / formula − 1", 0.0, 1e-4, "Appendix C.2.5, the three cases"),
    ),
    claims=(
        Claim(
            "p = e^(ε/2) is optimal for squared error, too",
            "Theorem 7",
            lambda result: (
                result["numbers"]["MSE of OGPM at x = 0"]
                <= result["numbers"]["MSE at x = 0 of the squared-error window"] * (1 + 1e-6)
            ),
            WHY,
            named("MSE of OGPM at x = 0", "MSE at x = 0 of the squared-error window"),
        ),
    ),
)
