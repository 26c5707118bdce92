"""Figure E.1: the first patient of the file under SW and k-RR."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.classifiers import Feature, study
from deniable.experiments.artifact import Artifact, Claim, Result, Run
from deniable.experiments.case_data import STROKE, STROKE_SENSITIVE, stroke, trained
from deniable.experiments.case_studies import at, boxes_below, rho_panels, rho_rows, robust_box
from deniable.experiments.pictures import significant

TITLES = {"LR": "logistic regression", "RF": "random forest"}
TEXT = "Appendix E.2.5"


def compute(run: Run) -> Result:
    """Both models at “age 67, BMI 36.6”: exact ρ, Pr[M in box], and plain reports."""
    table, labels = stroke(run)
    columns = [STROKE.index(name) for name in STROKE_SENSITIVE]
    result: Result = {"rows": {}, "boxes": {}}
    for kind in TITLES:
        model = trained(kind, table, labels)
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


ARTIFACT = Artifact(
    name="figure-e.1",
    title="SW and k-RR, Stroke Prediction",
    source="dissertation, Figure E.1",
    compute=compute,
    draw=draw,
    claims=(
        Claim(
            "for logistic regression the box bound almost equals the utility",
            TEXT,
            lambda r: all(row["rho"] - row["box"] < 0.05 for row in r["rows"]["LR"]),
            "The boundary leans a little; a box that spans all of BMI gives away up to a few percent.",
            lambda r: {
                f"{what} of {name}, ε = {e}": at(r["rows"]["LR"], name, e)[key]
                for name in ("SW", "k-RR")
                for e in (4, 8)
                for what, key in (("utility", "rho"), ("box bound", "box"))
            },
        ),
        Claim("for the forest the box bound is below the utility", TEXT, boxes_below),
        Claim(
            "beyond ε = 6 k-RR is better than SW for both models",
            TEXT,
            lambda r: all(at(rows, "k-RR", e)["rho"] > at(rows, "SW", e)["rho"] for rows in r["rows"].values() for e in (7, 8)),
            "Where they cross depends on how far the record is from the boundary, hence on the model, which is not published.",
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
