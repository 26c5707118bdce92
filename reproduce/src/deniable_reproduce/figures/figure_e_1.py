"""Figure E.1: the first patient of the file under SW and k-RR."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.studies import Feature, study
from deniable_reproduce.artifact import Artifact, Claim, Result, Run
from deniable_reproduce.case_data import STROKE, STROKE_SENSITIVE
from deniable_reproduce.case_studies import at, boxes_below, rho_panels, rho_rows, robust_box
from deniable_reproduce.pictures import significant
from deniable_reproduce.released_studies import released_model, released_stroke

TITLES = {"LR": "logistic regression", "RF": "random forest"}
TEXT = "Appendix E.2.5"
LARGEST = "largest gap, at ε = {:g}"


def compute(run: Run) -> Result:
    """Both models at “age 67, BMI 36.6”: exact ρ, Pr[M in box], and plain reports."""
    table, labels = released_stroke(run)
    columns = [STROKE.index(name) for name in STROKE_SENSITIVE]
    result: Result = {"rows": {}, "boxes": {}}
    for kind in TITLES:
        model = released_model(kind, table, labels)
        box = robust_box(model, table[0], columns)
        question = study(model, table[:1], {name: Feature(0, 1) for name in STROKE_SENSITIVE}, names=STROKE)
        result["rows"][kind] = rho_rows(question, ["redesigned-sw", "k-rr"], range(1, 9), run, f"figure E.1 {kind}", box=box)
        result["boxes"][kind] = [[significant(a, 5), significant(b, 5)] for a, b in zip(box.low, box.high, strict=True)]
    return result


def draw(result: Result) -> Mapping[str, Any]:
    """A panel per model."""
    return {
        "rho": rho_panels(
            {TITLES[kind]: rows for kind, rows in result["rows"].items()},
            title="Stroke: the first record, age 67, BMI 36.6",
            subtitle="lines: exact; dashed: the published box bound; circles: 2,000 reports",
        )
    }


def _gaps(result: Result) -> dict[str, float]:
    """By how much the utility of the regression exceeds the box bound."""
    rows, widest = result["rows"]["LR"], _widest(result)
    gaps = {
        f"gap of {name}, ε = {e}": significant(at(rows, name, e)["rho"] - at(rows, name, e)["box"], 3)
        for name in ("SW", "k-RR")
        for e in (1, 4, 8)
    }
    return {LARGEST.format(widest): significant(max(row["rho"] - row["box"] for row in rows), 3), **gaps}


def _widest(result: Result) -> float:
    """The ε at which the box bound misses most of the utility."""
    return float(max(result["rows"]["LR"], key=lambda row: row["rho"] - row["box"])["epsilon"])


ARTIFACT = Artifact(
    name="figure-e.1",
    title="SW and k-RR, Stroke Prediction",
    source="Dissertation, Figure E.1",
    compute=compute,
    draw=draw,
    claims=(
        Claim(
            "for logistic regression the box bound almost equals the utility",
            TEXT,
            lambda r: all(row["rho"] - row["box"] < 0.05 for row in r["rows"]["LR"]),
            lambda r: (
                "The boundary leans, and a box that spans all of BMI leaves out the corner between: "
                f"{_gaps(r)[LARGEST.format(_widest(r))]:.3f} of probability at ε = {_widest(r):g}, where it leaves out most."
            ),
            lambda r: _gaps(r),
        ),
        Claim(
            "for the forest the box bound is below the utility",
            TEXT,
            lambda r: boxes_below({"rows": {"RF": r["rows"]["RF"]}}),
        ),
        Claim(
            "beyond ε = 6 k-RR is better than SW for both models",
            TEXT,
            lambda r: all(at(rows, "k-RR", e)["rho"] > at(rows, "SW", e)["rho"] for rows in r["rows"].values() for e in (7, 8)),
            "Where they cross depends on how far the record is from the boundary, hence on the model; ours is trained as released.",
            lambda r: {
                f"{name}, {TITLES[kind]}, ε = {e}": at(rows, name, e)["rho"]
                for kind, rows in r["rows"].items()
                for name in ("SW", "k-RR")
                for e in (6, 8)
            },
        ),
    ),
    data=("stroke.csv",),
)
