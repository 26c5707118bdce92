"""Figure 5.12: the squared error of PM, SW and their clipped versions on their own domains, beside OGPM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.core import Interval, make_mechanism
from deniable.estimators import average_error, closed_form
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run
from deniable_reproduce.whole_domain_error import curves, errors_of, picture

ORDER = ["OGPM", "PM", "T-PM", "SW", "T-SW"]
TEXT = "Section 5.6.1"
EPSILON = 2


def compute(run: Run) -> Result:
    """Exact errors; PM's also from its published variance formula, as a check."""
    wide = Interval(-1, 1)
    left = {name: make_mechanism(name.lower(), domain=wide, epsilon=EPSILON) for name in ("OGPM", "PM", "T-PM")}
    right = {name: make_mechanism(name.lower(), epsilon=EPSILON) for name in ("OGPM", "SW", "T-SW")}
    panels: list[dict[str, Any]] = [
        {"title": "PM and T-PM on [−1, 1]", "rows": curves(left, "squared")},
        {"title": "SW and T-SW on [0, 1]", "rows": curves(right, "squared")},
    ]
    numbers = {}
    for names, mechanisms in (("PM", left), ("SW", right)):
        averages = {name: average_error(mechanism, "squared") for name, mechanism in mechanisms.items()}
        numbers[f"average error, T-{names} / {names}"] = averages[f"T-{names}"] / averages[names]
        numbers[f"average error, OGPM / T-{names}"] = averages["OGPM"] / averages[f"T-{names}"]
    worst = max(row["y"] for row in panels[0]["rows"] if row["series"] == "PM")
    unit = make_mechanism("pm", epsilon=EPSILON)
    numbers["PM's worst error / its published variance"] = worst / (4 * closed_form(unit, "worst_variance"))
    return {"numbers": numbers, "panels": panels}


def draw(result: Result) -> Mapping[str, Any]:
    """PM's domain on the left, SW's on the right."""
    return {
        "errors": picture(
            result,
            ORDER,
            title="Expected squared error beside PM and SW, ε = 2",
            subtitle="each on its own domain; exact",
            x="private value x",
            y="expected |y − x|²",
        )
    }


def _ogpm_is_lowest(result: Result) -> bool:
    return all(
        a <= b * (1 + 1e-6)
        for panel, names in enumerate((("PM", "T-PM"), ("SW", "T-SW")))
        for name in names
        for a, b in zip(errors_of(result, panel, "OGPM"), errors_of(result, panel, name), strict=True)
    )


ARTIFACT = Artifact(
    name="figure-5.12",
    title="Whole-domain error beside PM, SW and their clipped versions",
    source="Dissertation, Figure 5.12",
    compute=compute,
    draw=draw,
    published=(Published("PM's worst error / its published variance", 1.0, 1e-4, "Wang et al. 2019, the variance of PM"),),
    claims=(
        Claim("OGPM has the lowest error at every value", TEXT, _ogpm_is_lowest),
        Claim(
            "clipping helps PM more than SW",
            TEXT,
            lambda result: result["numbers"]["average error, T-PM / PM"] < result["numbers"]["average error, T-SW / SW"],
        ),
    ),
)
