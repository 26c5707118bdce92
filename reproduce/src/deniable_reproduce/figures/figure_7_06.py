"""Figure 7.6: will a customer leave? Age and salary perturbed, with a chance delta = 0.1 of failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from deniable.studies import Feature, OutputLaw, study
from deniable_reproduce.artifact import Artifact, AsReleased, Claim, Published, Result, Run, named
from deniable_reproduce.case_data import BANK, BANK_SENSITIVE
from deniable_reproduce.case_studies import (
    FALLS,
    SLACK,
    at,
    best_at,
    boxes_below,
    not_best_before,
    rho_panels,
    rho_rows,
    rising,
    robust_box,
    utilities,
)
from deniable_reproduce.pac_privacy import gaussian_noises
from deniable_reproduce.pictures import significant
from deniable_reproduce.released_data import FIGURE_7_6_LR, FIGURE_7_6_RF, QCU_LDP
from deniable_reproduce.released_studies import (
    box_ends,
    released_accuracy,
    released_bank,
    released_model,
    same_answer,
    searched_ends,
)
from deniable_reproduce.released_table import compared

DELTA = 0.1
TEXT = "Section 7.6.2"
TITLES = {"LR": "logistic regression", "RF": "random forest"}
TABLES = {"LR": FIGURE_7_6_LR, "RF": FIGURE_7_6_RF}
ENDS = {"age to": (0, 1), "salary to": (1, 1)}
TOLERANCE = 0.05
AGE = 0.22
OTHERS = ("Exponential", "Laplace")
SEARCHED = (
    "Ours is the largest box of the trained model in which the answer provably stays. The released search accepts a box in which "
    "up to 5 % of tested points have another answer."
)
SETTING = "the median of our runs of the released search"


def compute(run: Run) -> Result:
    """Both models at the record of the text: the indicator around three mechanisms, and Gaussian noise by Theorem 18; and as "
    "released."""
    table, labels = released_bank(run)
    columns = [BANK.index(name) for name in BANK_SENSITIVE]
    record = table[0].copy()
    record[BANK.index("Age")] = AGE
    result: Result = {"rows": {}, "boxes": {}, "numbers": {}, "released": {}}
    numbers = result["numbers"]
    levels = range(1, 9) if run.full else (1, 2, 4, 6, 8)
    for kind in TITLES:
        model = released_model(kind, table, labels)
        box = robust_box(model, record, columns)
        question = study(model, record[None], {name: Feature(0, 1) for name in BANK_SENSITIVE}, names=BANK)
        purpose = f"figure 7.6 {kind}"
        rows = rho_rows(question, ["ogpm", "exponential", "laplace"], levels, run, purpose, box=box, indicator=DELTA)
        noise = {"gaussian": {"delta": "0.1", "sigma": "published"}}
        rows += rho_rows(question, ["gaussian"], levels, run, purpose, box=box, parameters=noise)
        result["rows"][kind] = rows
        result["boxes"][kind] = [[significant(a, 5), significant(b, 5)] for a, b in zip(box.low, box.high, strict=True)]
        same, purpose = same_answer(model, record, columns), f"figure 7.6 released {kind}"
        searched = box_ends(same, record[columns], TOLERANCE, ENDS, run, purpose, run.repetitions(9, 25))
        for name, (axis, side) in ENDS.items():
            key = f"{kind} box, {name}"
            numbers[key] = result["boxes"][kind][axis][side]
            numbers |= searched_ends(key, searched[name])
        draws = run.repetitions(20_000, 100_000)
        counted = {
            name: released_accuracy(same, record[columns], name, run, purpose, draws, scale=1) for name in TABLES[kind].columns
        }
        result["released"][kind] = TABLES[kind].beside(counted, absolute=True)
        for name in ("Laplace", "Gaussian"):
            numbers[f"{name} as released, {TITLES[kind]}, ε = 4"] = significant(counted[name][3], 4)
    result["sigmas"] = {str(e): {n.rule: significant(n.sigma, 7) for n in gaussian_noises(e, DELTA)} for e in (1, 2, 4, 8)}
    same_salary = np.flatnonzero((np.abs(table[:, 0] - 0.619) < 1e-9) & (np.abs(table[:, 6] - 101348.88 / 200_000) < 1e-7))
    law = OutputLaw(Feature(0, 1).perturbed_by("ogpm", 1), AGE)
    numbers |= {
        "PM's probability of an age up to 0.72 at ε = 1": significant(float(law.up_to([0.72])[0]), 4),
        "PM's probability of an age up to 0.77 at ε = 1": significant(float(law.up_to([0.77])[0]), 4),
        "the same in the released results at ε = 1": 0.8595,
        "age of the customer with this salary and score": 100 * float(table[same_salary[0], 1]),
        "customers with this salary and score": len(same_salary),
        "customers with this salary": int(np.sum(np.abs(table[:, 6] - 101348.88 / 200_000) < 1e-7)),
        "σ at ε = 4, published": result["sigmas"]["4"]["published"],
        "σ at ε = 4, exact": result["sigmas"]["4"]["exact"],
    }
    return result


def draw(result: Result) -> Mapping[str, Any]:
    """A panel per model."""
    return {
        "rho": rho_panels(
            {TITLES[kind]: rows for kind, rows in result["rows"].items()},
            title="Bank: does the answer about a customer survive? δ = 0.1",
            subtitle="lines: exact; dashed: the published box bound; circles: 2,000 reports",
        )
    }


def gaussian(result: Result) -> str:
    """Where Gaussian noise is not the last, as computed."""
    forest = result["rows"]["RF"]
    return (
        "Counted as released it does: a draw outside of [0, 1] counts as a failure. The model answers there too. With every report "
        f"answered the forest keeps its answer with probability {at(forest, 'Gaussian', 4)['rho']:.3f} at ε = 4 under Gaussian "
        f"noise and {at(forest, 'Exponential', 4)['rho']:.3f} at ε = 4 under Exponential."
    )


ARTIFACT = Artifact(
    name="figure-7.6",
    title="Empirical and theoretical utility, Bank Customer Attrition",
    source="Dissertation, Figure 7.6",
    compute=compute,
    draw=draw,
    published=(
        Published(
            "LR box, age to",
            0.72,
            0.005,
            TEXT,
            f"{SEARCHED} The released results were computed with an age up to 0.77, as our runs of the search find it; where 0.72 "
            "comes from is not in the released files.",
            evidence=named(
                "LR box, age to, least of our searches",
                "LR box, age to, largest of our searches",
                "PM's probability of an age up to 0.72 at ε = 1",
                "PM's probability of an age up to 0.77 at ε = 1",
                "the same in the released results at ε = 1",
            ),
            released=AsReleased("LR box, age to, released setting", SETTING, f"{QCU_LDP}, src/robust_radius_sklearn.py"),
            given=(TOLERANCE,),
            cause_unknown=True,
        ),
        Published("LR box, salary to", 1, 0.005, TEXT),
        *(compared(kind, table, 0.03, absolute=True) for kind, table in TABLES.items()),
        Published(
            "age of the customer with this salary and score",
            22,
            0.5,
            TEXT,
            "The one customer with this salary and credit score, the first of the file, is 42 years old. The released script has "
            "the printed age, 22, in an otherwise equal record, which is not in the file; we take that record too.",
            evidence=named("customers with this salary and score", "customers with this salary"),
        ),
    ),
    claims=(
        Claim(
            "utility rises with ε for every mechanism",
            TEXT,
            lambda r: all(rising(rows) for rows in r["rows"].values()),
            FALLS,
            utilities(("Gaussian", "Laplace", "Exponential", "PM"), levels=(1, 2, 4, 8)),
        ),
        Claim(
            "PM is at least as good as Exponential and Laplace at every ε",
            TEXT,
            lambda r: all(best_at(r["rows"].values(), "PM", OTHERS).values()),
            lambda r: not_best_before(best_at(r["rows"].values(), "PM", OTHERS)),
            utilities(("PM", *OTHERS), levels=(1, 2, 4, 8)),
            given=(SLACK,),
            levels=lambda r: best_at(r["rows"].values(), "PM", OTHERS),
        ),
        Claim(
            "the Gaussian mechanism lags behind the others",
            TEXT,
            lambda r: all(
                at(rows, "Gaussian", 4)["rho"] <= min(at(rows, name, 4)["rho"] for name in ("PM", "Exponential", "Laplace"))
                for rows in r["rows"].values()
            ),
            gaussian,
            lambda r: (
                {
                    f"{what} of {name}, {TITLES[kind]}, ε = 4": at(rows, name, 4)[key]
                    for kind, rows in r["rows"].items()
                    for name in ("Gaussian", "Exponential", "Laplace", "PM")
                    for what, key in (("utility", "rho"), ("box bound", "box"))
                }
                | {name: value for name, value in r["numbers"].items() if " as released, " in name}
            ),
        ),
        Claim(
            "the noise scale of Theorem 18 is what the promise needs",
            "Theorem 18",
            lambda r: r["numbers"]["σ at ε = 4, published"] <= r["numbers"]["σ at ε = 4, exact"] * 1.01,
            "It is enough, not needed: at ε = 4, δ = 0.1 it takes σ = 0.774 where 0.548 keeps the same promise "
            "(tests/studies/classifiers/test_exact.py::test_the_three_gaussians_are_told_apart).",
            named("σ at ε = 4, published", "σ at ε = 4, exact"),
            given=(DELTA,),
        ),
        Claim("Pr[M in the box] never exceeds the actual utility", TEXT, boxes_below),
    ),
    data=("bank_attrition.csv",),
    note="The indicator publishes the whole raw record with probability 0.1. Here to check published numbers only. The released "
    "results are compared without it, as they are, and with the full scale of ε for Exponential, which they have here and not in "
    "Figure 7.5.",
)
