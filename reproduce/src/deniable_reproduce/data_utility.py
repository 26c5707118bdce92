"""Average and worst utility over many records: Figures E.3 to E.6."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

from deniable.studies import Feature, study
from deniable_reproduce.artifact import Claim, Result, Run
from deniable_reproduce.case_data import BANK, BANK_SENSITIVE, STROKE, STROKE_SENSITIVE, bank, stroke, trained
from deniable_reproduce.case_studies import (
    FALLS,
    SLACK,
    Row,
    at,
    best_at,
    not_best_before,
    ordered,
    rho_panels,
    rho_rows,
    rising,
    utilities,
)
from deniable_reproduce.pictures import significant

DELTA = 0.1
PART = 25
"""Records computed at once: a run that is stopped goes on after them."""
NAMES = ["ogpm", "exponential", "laplace"]
SHOWN = (1, 2, 4, 8)
"""The levels of epsilon that the evidence has."""
WORST = range(2, 9)
PUBLISHED_SCALE = 0.5
"""The share of ε that the published Exponential spends."""


def out_of_order(rows: Sequence[Row], others: Sequence[str]) -> str:
    """Where the printed order of the mechanisms after PM does not hold, and why."""
    ahead = []
    for first, later in combinations(others, 2):
        levels = [level for level in SHOWN if at(rows, later, level)["rho"] > at(rows, first, level)["rho"]]
        if levels:
            ahead.append(f"{later} is above {first} at ε = {', '.join(map(str, levels))}")
    return (
        f"By exact utilities {'; '.join(ahead)}. Reports beyond [0, 1] still get an answer, which the published box bound counts "
        "as lost, and the published Exponential spends half of the scale ε allows."
    )


def worst_behind(rows: Sequence[Row], others: Sequence[str]) -> str:
    """Whose worst record fares better than PM's, and where."""
    ahead = []
    for name in others:
        shown = sorted({int(row["epsilon"]) for row in rows if row["epsilon"] in WORST})
        levels = [level for level in shown if at(rows, name, level)["worst"] > at(rows, "PM", level)["worst"] + SLACK]
        if levels:
            ahead.append(f"{name} is above PM at ε = {', '.join(map(str, levels))}")
    return (
        f"At the worst record, by more than {SLACK:g}, {'; '.join(ahead)}: near the boundary noise that leaves [0, 1] can keep an "
        "answer that a narrow window loses."
    )


def over_records(run: Run, data: str, kind: str, quick: int, full: int) -> Result:
    """Exact ρ of every mechanism, averaged over the first records and at the worst of them."""
    table, labels = stroke(run) if data == "stroke" else bank(run)
    names, sensitive = (STROKE, STROKE_SENSITIVE) if data == "stroke" else (BANK, BANK_SENSITIVE)
    model = trained(kind, table, labels)
    records = run.repetitions(quick, full)
    levels = range(1, 9) if run.full else (1, 2, 4, 6, 8)
    draws = run.repetitions(200, 2000)
    indicator = DELTA if data == "bank" else 0.0
    noise = {"gaussian": {"delta": "0.1", "sigma": "published"}}
    features = {name: Feature(0, 1) for name in sensitive}

    def some(start: int, purpose: str) -> list[Row]:
        question = study(model, table[start : min(start + PART, records)], features, names=names)
        rows = rho_rows(question, NAMES, levels, run, purpose, empirical=draws, indicator=indicator)
        if data == "bank":
            rows += rho_rows(question, ["gaussian"], levels, run, purpose, empirical=draws, parameters=noise)
        return rows

    parts: list[tuple[int, list[Row]]] = []
    for start in range(0, records, PART):
        purpose = f"{data} {kind} records" + (f" from {start}" if start else "")
        parts.append((min(PART, records - start), run.once(purpose, partial(some, start, purpose))))
        run.progress(min(start + PART, records), records)
    return {"rows": joined(parts), "records": records}


def joined(parts: Sequence[tuple[int, Sequence[Row]]]) -> list[Row]:
    """Rows about some records each, as rows about all of them: means by the number of records, and the worst of the worst."""
    whole = sum(count for count, _ in parts)
    averaged = []
    for rows in zip(*(rows for _, rows in parts), strict=True):
        weighted = list(zip((count for count, _ in parts), rows, strict=True))
        row = {**rows[0], "worst": min(one["worst"] for one in rows)}
        if len(rows) > 1:
            for key in ("rho", "low", "high", "empirical"):
                row[key] = significant(math.fsum(count * one[key] for count, one in weighted) / whole, 6)
        averaged.append(row)
    return averaged


def picture(result: Result, title: str) -> Mapping[str, Any]:
    """The average on the left, the worst record on the right."""
    average = [{key: value for key, value in row.items() if key != "worst"} for row in result["rows"]]
    worst = [
        {"mechanism": row["mechanism"], "epsilon": row["epsilon"], "rho": row["worst"], "low": row["worst"], "high": row["worst"]}
        for row in result["rows"]
    ]
    return {
        "rho": rho_panels(
            {"average": average, "worst record": worst},
            title=title,
            subtitle=f"exact, over the first {result['records']} records; circles: plain reports",
        )
    }


def claims(text: str, others: Sequence[str] = ("Exponential", "Laplace")) -> tuple[Claim, ...]:
    """What the appendix says about all four figures."""
    return (
        Claim(
            "PM has the highest average utility at every ε",
            text,
            lambda r: all(ordered(r["rows"], "PM", other) for other in others),
            lambda r: not_best_before(best_at([r["rows"]], "PM", others)),
            utilities(("PM", *others), levels=(1, 2, 4)),
            levels=lambda r: best_at([r["rows"]], "PM", others),
            given=(SLACK,),
        ),
        Claim(
            "PM has the highest average utility from ε = 4 on",
            f"{text}, for the larger ε only",
            lambda r: all(ordered(r["rows"], "PM", other, least=4) for other in others),
            evidence=utilities(("PM", *others), levels=(4, 8)),
        ),
        Claim(
            "PM has the highest worst-case utility from ε = 2 on",
            text,
            lambda r: all(ordered(r["rows"], "PM", other, key="worst", least=2) for other in others),
            lambda r: worst_behind(r["rows"], others),
            utilities(("PM", *others), "worst", levels=WORST),
            given=(SLACK,),
        ),
        Claim(
            f"after PM come {', then '.join(others)}",
            text,
            lambda r: ordered(r["rows"], *others),
            lambda r: out_of_order(r["rows"], others),
            utilities(others, levels=SHOWN),
            given=(PUBLISHED_SCALE,),
        ),
        Claim(
            "the average rises with ε",
            text,
            lambda r: rising(r["rows"]),
            FALLS,
            utilities(("PM", *others), levels=SHOWN),
        ),
        Claim(
            "the worst record fares worse than the average",
            text,
            lambda r: all(row["worst"] <= row["rho"] + 1e-9 for row in r["rows"]),
        ),
    )
