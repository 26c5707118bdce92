"""The figure of D.2.9: the error of TraCS-D over the direction's share of epsilon."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import altair as alt

from deniable.charts import COLOURS, inline, themed
from deniable.core import Epsilon, best_share_of_direction, make_mechanism
from deniable.studies import average_error
from deniable_reproduce.artifact import Artifact, Claim, Evidence, Published, Result, Run
from deniable_reproduce.pictures import significant
from deniable_reproduce.walks import moved, random_walks, rectangle, tracs_d

HEURISTIC = math.pi / (math.pi + 1)
LEVELS = (2, 4, 6, 8, 10)
SHARES = ("0.3", "0.4", "0.5", "0.55", "0.6", "0.64", "0.68", "0.72", "0.76", "0.8", "0.84", "0.88", "0.92", "0.96", "0.99")
TEXT = "Appendix D.2.9"


def compute(run: Run) -> Result:
    """Average errors on random paths, every share on the same paths."""
    walks = random_walks(run.repetitions(150, 2000), 100, run.keystream("D.2.9 paths"))
    region = rectangle(1, 1)
    rows, best = [], {}
    for epsilon in LEVELS:
        errors = {}
        for share in SHARES:
            private = moved(tracs_d(region, split=share)(epsilon), walks, run.keystream(f"D.2.9 {epsilon} {share}"))
            error = average_error(walks, private)
            errors[share] = error.value
            rows.append(
                {
                    "epsilon": epsilon,
                    "share": float(share),
                    "error": significant(error.value, 6),
                    "standard_error": significant(error.standard_error, 3),
                }
            )
        least = min(errors, key=lambda share: errors[share])
        best[str(epsilon)] = {
            "share": float(least),
            "error": significant(errors[least], 6),
            "at the heuristic share": significant(errors["0.76"], 6),
            "excess of the heuristic": significant(errors["0.76"] / errors[least] - 1, 3),
            "shipped share": float(best_share_of_direction(Epsilon(epsilon))),
        }
    direction, _ = make_mechanism("tracs-d", epsilon=1, split="published").epsilons
    numbers = {"published share of the direction": significant(float(direction), 6)}
    return {"rows": rows, "best": best, "locations": len(walks.places), "numbers": numbers}


def draw(result: Result) -> Mapping[str, Any]:
    """A curve per epsilon; dots mark the least errors, the dashed line the published share."""
    data = [{**row, "level": f"ε = {row['epsilon']}"} for row in result["rows"]]
    dots = [{"share": one["share"], "error": one["error"], "level": f"ε = {epsilon}"} for epsilon, one in result["best"].items()]
    order = [f"ε = {epsilon}" for epsilon in LEVELS]
    axes = {
        "x": alt.X(
            "share:Q", title="direction's share of ε", scale=alt.Scale(domain=[0.28, 1], nice=False), axis=alt.Axis(tickCount=8)
        ),
        "y": alt.Y("error:Q", title="average error", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=6)),
        "color": alt.Color(
            "level:N",
            title=None,
            sort=order,
            scale=alt.Scale(domain=order, range=COLOURS[: len(order)]),
            legend=alt.Legend(symbolType="stroke", symbolSize=300),
        ),
    }
    lines = alt.Chart(inline(data)).mark_line(strokeWidth=2.4).encode(**axes)
    marks = alt.Chart(inline(dots)).mark_point(filled=True, size=110, opacity=1).encode(**axes)
    rule = alt.Chart(inline([{"share": HEURISTIC}])).mark_rule(strokeDash=[5, 4], strokeWidth=1.6).encode(x=axes["x"])
    whole = alt.layer(rule, lines, marks).properties(width=560, height=320)
    return {
        "split": themed(
            whole,
            title="TraCS-D over the direction's share of ε, unit square",
            subtitle="dots: least error of the tried shares; dashed: the published share π/(π + 1)",
        )
    }


def _errors(*epsilons: int) -> Evidence:
    """What the least error and that at the published share are."""
    return lambda result: {
        f"{what}, ε = {epsilon}": result["best"][str(epsilon)][key]
        for epsilon in epsilons
        for what, key in (
            ("error at the best share", "error"),
            ("error at 0.76", "at the heuristic share"),
            ("excess", "excess of the heuristic"),
        )
    }


def _best_share(epsilon: int) -> Published:
    return Published(
        f"best share at ε = {epsilon}",
        HEURISTIC,
        0.04,
        TEXT,
        _falls,
        of=lambda r: float(r["best"][str(epsilon)]["share"]),
        evidence=lambda r: _shares(r) | dict(_errors(epsilon)(r)),
    )


def _shares(result: Result) -> dict[str, float]:
    return {f"best share at ε = {epsilon}": float(result["best"][str(epsilon)]["share"]) for epsilon in LEVELS}


def _falls(result: Result) -> str:
    first, last = LEVELS[0], LEVELS[-1]
    shares = _shares(result)
    return (
        f"The best share falls from {shares[f'best share at ε = {first}']:.2f} at ε = {first} to "
        f"{shares[f'best share at ε = {last}']:.2f} "
        f"at ε = {last} (tests/studies/trajectories/test_golden_trajectories.py::"
        "test_no_other_share_is_much_better_than_the_automatic_one)."
    )


def _excess(result: Result) -> str:
    most = max(one["excess of the heuristic"] for one in result["best"].values())
    return f'It is up to {100 * most:.0f} % above the least; `split="auto"` takes the best share.'


ARTIFACT = Artifact(
    name="figure-d-split",
    title="Privacy parameter assignment in TraCS-D",
    source="Dissertation, unnumbered figure of Appendix D.2.9",
    compute=compute,
    draw=draw,
    published=(
        Published("published share of the direction", 0.7585, 0.0001, "Section 6.3.1"),
        *(_best_share(epsilon) for epsilon in LEVELS),
    ),
    claims=(
        Claim(
            "the error at the heuristic share is within 5 % of the least at every ε",
            TEXT,
            lambda r: all(one["excess of the heuristic"] < 0.05 for one in r["best"].values()),
            _excess,
            _errors(*LEVELS),
        ),
        Claim(
            "at middle ε the error first falls and then rises with the direction's share",
            TEXT,
            lambda r: all(0.3 < r["best"][str(epsilon)]["share"] < 0.99 for epsilon in (6, 8, 10)),
            evidence=lambda r: {
                f"error at ε = {row['epsilon']}, share {row['share']:g}": row["error"]
                for row in r["rows"]
                if row["epsilon"] in (6, 10) and row["share"] in (0.3, r["best"][str(row["epsilon"])]["share"], 0.99)
            },
        ),
    ),
)
