"""Table 5.2: which theorem serves which estimate, and whether it is the best there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable.core import Circle, Interval, make_mechanism
from deniable.estimators import closed_form, report_mean
from deniable.planning import design
from deniable_reproduce.artifact import Artifact, Claim, Result, Run, named

EPSILON = 1
ROWS = (
    ("classical (X → X)", "Theorem 7", "Theorem 7 (biased)"),
    ("circular domain", "Theorem 8", "Theorem 8 (unbiased)"),
    ("classical (X → Y)", "–", "Theorem 10 (unbiased)"),
)
COLUMNS = ("domain", "distribution", "mean")
PLACES = (0.0, 0.25, 0.5, 1.0)
WHY = (
    "Theorem 10's mechanism has several times the worst variance of PM, which is also unbiased, and of the best unbiased "
    "mechanism: the numbers are the ratios to a bound that no unbiased mechanism passes."
)


def compute(run: Run) -> Result:
    """Bias and worst variance of what the table names, beside a bound."""
    numbers = {}
    for name, known in (("Theorem 7", "ogpm"), ("Theorem 10", "ogpm-u")):
        mechanism = make_mechanism(known, epsilon=EPSILON)
        numbers[f"largest bias, {name}"] = max(abs(report_mean(mechanism, x) - x) for x in PLACES)
    designed = design(Interval(0, 1), "squared", EPSILON, unbiased=True)
    for name, known in (("Theorem 10", "ogpm-u"), ("PM", "pm"), ("HM", "hm")):
        worst = closed_form(make_mechanism(known, epsilon=EPSILON), "worst_variance")
        numbers[f"worst variance / bound, {name}"] = worst / designed.lower_bound
    circle = design(Circle(), "absolute", EPSILON)
    numbers["worst distance / bound, Theorem 8"] = circle.published["worst_case"] / circle.lower_bound
    return {"numbers": numbers, "rows": [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]}


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """The printed table."""
    rows: list[Mapping[str, Any]] = result["rows"]
    return rows


ARTIFACT = Artifact(
    name="table-5.2",
    title="Distribution and mean estimation in three domains",
    source="Dissertation, Table 5.2",
    compute=compute,
    table=table,
    claims=(
        Claim("Theorem 7 is biased", "Table 5.2", lambda result: result["numbers"]["largest bias, Theorem 7"] > 0.01),
        Claim("Theorem 10 is unbiased", "Table 5.2", lambda result: result["numbers"]["largest bias, Theorem 10"] < 1e-6),
        Claim(
            "Theorem 8 is optimal on the circle (absolute error)",
            "Table 5.2",
            lambda result: result["numbers"]["worst distance / bound, Theorem 8"] < 1.0001,
        ),
        Claim(
            "Theorem 10 is optimal among unbiased mechanisms",
            "Table 5.2 and Theorem 10",
            lambda result: result["numbers"]["worst variance / bound, Theorem 10"] < 1.01,
            WHY,
            named(*(f"worst variance / bound, {name}" for name in ("Theorem 10", "PM", "HM"))),
        ),
    ),
)
