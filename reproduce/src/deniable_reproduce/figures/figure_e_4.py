"""Figure E.4: average and worst utility, Random Forest, Stroke Prediction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable_reproduce.artifact import Artifact, Result, Run
from deniable_reproduce.data_utility import claims, over_records, picture


def compute(run: Run) -> Result:
    """Exact, over the first records of the file; the source takes all of them."""
    return over_records(run, "stroke", "RF", 20, 1000)


def draw(result: Result) -> Mapping[str, Any]:
    """Average and worst."""
    return picture(result, "Stroke, random forest")


ARTIFACT = Artifact(
    name="figure-e.4",
    title="Average-case and worst-case utility, Random Forest, Stroke Prediction",
    source="Dissertation, Figure E.4",
    compute=compute,
    draw=draw,
    claims=claims("Appendix E.2.5"),
    data=("stroke.csv",),
    note="Quick mode takes 20 records, full mode 1000: worst cases are about these records.",
)
