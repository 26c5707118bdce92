"""Figure 4.2: the best variance over the number of colluders, and the variance over the number of ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.core import Epsilon
from deniable.studies import best_likelihood, variance_by_colluders, variance_by_ones
from deniable_reproduce.artifact import Artifact, AsReleased, Claim, Published, Result, Run, named
from deniable_reproduce.joint_error import pairs
from deniable_reproduce.pictures import Panel, Row, line_panels, significant
from deniable_reproduce.released_data import JRR

EPSILON, USERS = 1, 10_000
ORDER = [
    "best with a secret pairing",
    "best by the printed constraint",
    "published heuristic (not private for m > 0)",
    "plain randomized response",
]
TEXT = "Section 4.3.4"
KEY = "heuristic is best up to m/n, n₁/n = {}"
SHARES = (0.1, 0.9, 0.01)
READ = 0.015
"""“Approximately”: the released program steps m by one percent of the users, and the text rounds to whole percents."""
AGAIN = AsReleased(KEY.format(0.01), "n₁/n = 0.01, which the released program draws beside 0.1", f"{JRR}, effect_m/figure_2.m")


def why(result: Result) -> str:
    """One threshold for both shares, and the pair that the released program draws."""
    both, fewer = (100 * result["numbers"][KEY.format(share)] for share in (0.1, 0.01))
    return (
        "Theorem 4 is the same for n₁ and n − n₁, so the two thresholds must be the same, and the text gives two. Both are "
        f"{both:.1f} %. The released program draws n₁/n = 0.01 and 0.1 instead of 0.1 and 0.9; its thresholds are {fewer:.1f} % "
        f"and {both:.1f} %."
    )


def threshold(share: float) -> float:
    """The largest share of colluders for which the printed constraint keeps the strongest correlation."""
    ones = round(USERS * share)
    low, high = 0, USERS - 1
    while high - low > 1:
        middle = (low + high) // 2
        strongest = best_likelihood(Epsilon(EPSILON), USERS, middle, ones, printed=True) == 0
        low, high = (middle, high) if strongest else (low, middle)
    return low / USERS


def compute(run: Run) -> Result:
    """Variances of the count by the exact formula, for growing shares of colluders."""
    count = 61 if run.full else 25
    colluders = [round(0.3 * USERS * place / (count - 1)) for place in range(count)]
    panels = []
    for place, share in enumerate((0.1, 0.9)):
        rows = [
            {"x": row["colluders"] / USERS, "y": significant(row["variance"]), "series": row["table"]}
            for row in variance_by_colluders(EPSILON, USERS, round(share * USERS), colluders)
        ]
        panels.append({"title": f"n₁/n = {share}", "x": "share of colluders m/n", "rows": rows})
        run.progress(place + 1, 3)
    tables = pairs(EPSILON)
    by_ones: list[Row] = [
        {"x": row["share"], "y": significant(row["variance"]), "series": row["table"]}
        for row in variance_by_ones({ORDER[2]: tables["JRR"], ORDER[3]: tables["RR"]}, USERS, 101)
    ]
    panels.append({"title": "no colluders", "x": "share of ones n₁/n", "rows": by_ones})
    numbers = {KEY.format(share): threshold(share) for share in SHARES}
    gain = sum(row["y"] < by_ones[-1]["y"] for row in by_ones if row["series"] == ORDER[2])
    numbers["share of n₁ with a lower variance than RR"] = gain / sum(row["series"] == ORDER[2] for row in by_ones)
    return {"numbers": numbers, "panels": panels}


def draw(result: Result) -> Mapping[str, Any]:
    """Over colluders for two shares of ones, and over the share of ones."""
    panels = [Panel(panel["rows"], title=panel["title"], x=panel["x"], y="variance of the count") for panel in result["panels"]]
    return {
        "variances": line_panels(
            panels, ORDER, title="The variance of JRR and RR, ε = 1, n = 10 000", columns=3, size=(250, 240), subtitle="exact"
        )
    }


ARTIFACT = Artifact(
    name="figure-4.2",
    title="Variance of JRR (optimal and heuristic) and RR",
    source="Dissertation, Figure 4.2",
    compute=compute,
    draw=draw,
    published=(
        Published(KEY.format(0.1), 0.17, READ, TEXT, why, evidence=named(KEY.format(0.9)), released=AGAIN, given=(0.01, 0.1, 0.9)),
        Published(KEY.format(0.9), 0.10, READ, TEXT),
    ),
    claims=(
        Claim(
            "JRR has the lower variance for 99 % of all n₁ at n = 10⁴",
            TEXT,
            lambda result: result["numbers"]["share of n₁ with a lower variance than RR"] >= 0.98,
        ),
    ),
    note="“Best by the printed constraint” is not private: figure-4.1 says by how much.",
)
