"""Figure 4.1: the variance of every pair table, and which tables are private."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import altair as alt

from deniable.charts import COLOURS, inline, pair_tables, themed
from deniable.core import Pair
from deniable.studies import account, heat_map, optimum, published_pair
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run, named
from deniable_reproduce.pictures import significant

EPSILON, USERS, ONES = 1, 10_000, 100
COLLUDERS = (0, 500)
REGION = ["private", "private only as printed", "not private"]
PRINTED = "epsilon of the published heuristic by the printed formula, m = 500"
BOUND = "The printed bound (Theorem 3) is too small for two or more colluders and negative correlation."
TABLE = (
    f"{BOUND} So the table that is best by the printed constraint has more than ε with a secret pairing; against a partner who "
    "knows the pairing its epsilon is infinite."
)
RATIO = f"{BOUND} Of four users, of whom two collude, all outcomes can be counted: the largest ratio is that of the count."
HEURISTIC = named("epsilon of the published heuristic, m = 500", PRINTED)


def compute(run: Run) -> Result:
    """Exact variances and exact privacy on a grid of tables."""
    cells = 60 if run.full else 36
    panels: list[dict[str, Any]] = []
    for place, m in enumerate(COLLUDERS):
        rows = [
            {
                "p": significant(row["p"], 5),
                "p_to": significant(row["p_to"], 5),
                "rho": significant(row["rho"], 5),
                "rho_to": significant(row["rho_to"], 5),
                "deviation": significant(math.sqrt(row["variance"]), 4),
                "region": REGION[0] if row["private"] else REGION[1] if row["private_as_printed"] else REGION[2],
            }
            for row in heat_map(EPSILON, USERS, m, ONES, cells)
        ]
        panels.append({"title": f"m = {m} colluders", "rows": rows})
        run.progress(place + 1, len(COLLUDERS))
    best = optimum(EPSILON, USERS, 500, ONES)
    heuristic = account(published_pair(EPSILON), USERS, 500)
    small = account(Pair.exactly("4/5", "-1/5"), 4, 2)
    numbers = {
        "epsilon of the best table by the printed constraint, m = 500": best.printed_epsilon,
        "epsilon of the published heuristic, m = 500": heuristic.epsilon_secret_pairing,
        PRINTED: heuristic.epsilon_printed,
        "largest ratio for n = 4, m = 2, p = 0.8, ρ = −0.2": math.exp(small.epsilon_secret_pairing),
        "ε by the printed formula, n = 4, m = 2": small.epsilon_printed,
        "RR: p": 1 / (1 + math.exp(-EPSILON)),
    }
    for m, panel in zip(COLLUDERS, panels, strict=True):
        private = [row["region"] == REGION[0] for row in panel["rows"]]
        numbers[f"share of tables that are private, m = {m}"] = significant(sum(private) / len(private), 4)
    return {"numbers": numbers, "panels": panels}


def draw(result: Result) -> Mapping[str, Any]:
    """A map for each number of colluders."""
    there = [name for name in REGION[1:] if any(row["region"] == name for panel in result["panels"] for row in panel["rows"])]
    drawn = [_map(panel, there) for panel in result["panels"]]
    whole = alt.hconcat(*drawn, spacing=30).resolve_scale(color="shared", fill="shared")
    return {
        "maps": themed(
            whole,
            title="Which pair tables are private at ε = 1, and how noisy they are",
            subtitle="n = 10 000, n₁ = 100; shades of blue: private, darker is noisier; white: no such table; dot: RR",
        )
    }


def _map(panel: Mapping[str, Any], there: list[str]) -> Any:
    base = pair_tables(panel["rows"], ticks=5)
    heat = base.mark_rect().encode(
        color=alt.Color(
            "deviation:Q",
            title="standard deviation",
            scale=alt.Scale(type="log", scheme="blues"),
            legend=alt.Legend(orient="right", gradientLength=130, tickCount=4, format="~s"),
        )
    )
    outside = (
        base.transform_filter(alt.datum.region != REGION[0])
        .mark_rect(opacity=0.8)
        .encode(
            fill=alt.Fill(
                "region:N",
                title=None,
                scale=alt.Scale(domain=there, range=[{REGION[1]: COLOURS[5], REGION[2]: "#bbbbbb"}[name] for name in there]),
                legend=alt.Legend(orient="bottom"),
            )
        )
    )
    alone = (
        alt.Chart(inline([{"p": 1 / (1 + math.exp(-EPSILON)), "rho": 0}]))
        .mark_point(size=130, filled=True, opacity=1, color=COLOURS[3], stroke="white")
        .encode(x="p:Q", y="rho:Q")
    )
    heading = alt.TitleParams(panel["title"], fontSize=14, fontWeight="normal", anchor="middle")
    return (heat + outside + alone).properties(width=310, height=280, title=heading)


ARTIFACT = Artifact(
    name="figure-4.1",
    title="Variance and privacy of every pair table",
    source="Dissertation, Figure 4.1",
    compute=compute,
    draw=draw,
    published=(
        Published(
            "epsilon of the best table by the printed constraint, m = 500",
            1.0,
            1e-6,
            "Section 4.3.4, the constraint",
            TABLE,
            evidence=HEURISTIC,
        ),
        Published(PRINTED, 1.069527, 1e-5, "Theorem 3 at p = 0.731, ρ = 1 − 1/p, m = 500"),
        Published(
            "largest ratio for n = 4, m = 2, p = 0.8, ρ = −0.2",
            9.714286,
            1e-5,
            "Theorem 3",
            RATIO,
            variants=lambda r: {"by the printed formula": math.exp(r["numbers"]["ε by the printed formula, n = 4, m = 2"])},
        ),
    ),
    claims=(
        Claim(
            "more colluders leave fewer private tables",
            "Section 4.3.4",
            lambda result: (
                result["numbers"][f"share of tables that are private, m = {COLLUDERS[1]}"]
                < result["numbers"][f"share of tables that are private, m = {COLLUDERS[0]}"]
            ),
        ),
    ),
    note="Tables that the printed constraint calls private and that are not, even with a secret pairing, lie in a strip along the "
    "edge of the grey region, too narrow for this grid; the numbers say what they have.",
)
