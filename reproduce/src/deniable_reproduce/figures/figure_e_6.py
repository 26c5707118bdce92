"""Figure E.6: average and worst utility, Random Forest, Bank Customer Attrition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable_reproduce.artifact import Artifact, Result, Run
from deniable_reproduce.data_utility import claims, over_records, picture


def compute(run: Run) -> Result:
    """Exact, over the first records of the file; the source takes all of them."""
    return over_records(run, "bank", "RF", 8, 500)


def draw(result: Result) -> Mapping[str, Any]:
    """Average and worst."""
    return picture(result, "Bank, random forest, δ = 0.1")


ARTIFACT = Artifact(
    name="figure-e.6",
    title="Average-case and worst-case utility, Random Forest, Bank Customer Attrition",
    source="Dissertation, Figure E.6",
    compute=compute,
    draw=draw,
    claims=claims("Appendix E.2.6", ("Exponential", "Laplace", "Gaussian")),
    data=("bank_attrition.csv",),
    note="Quick mode takes 8 records, full mode 500: worst cases are about these records.",
)
