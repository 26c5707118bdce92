"""Figure B.1: what the share of ones does to the variance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.studies import no_gain_width, variance_by_ones, variance_joint
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run
from deniable_reproduce.joint_error import pairs
from deniable_reproduce.pictures import Panel, line_panels, significant

EPSILON = 1
SIZES = (20, 100, 1_000, 10_000)


def compute(run: Run) -> Result:
    """Exact variances, as shares of RR's."""
    tables = pairs(EPSILON)
    rows = []
    numbers: dict[str, float] = {}
    for n in SIZES:
        plain = float(variance_joint(tables["RR"], n, 0))
        variances = variance_by_ones({"JRR": tables["JRR"]}, n, 201)
        rows += [{"x": row["share"], "y": significant(row["variance"] / plain), "series": f"n = {n}"} for row in variances]
        numbers[f"JRR / RR with no ones, n = {n}"] = variances[0]["variance"] / plain
        numbers[f"share of n₁ without gain, n = {n}"] = sum(_no_gain(n, ones) for ones in range(n + 1)) / (n + 1)
    numbers["p"] = float(tables["JRR"].truth)
    numbers["width without gain at n = 10⁴"] = no_gain_width(10_000)
    return {"numbers": numbers, "panels": [{"rows": rows}]}


def _no_gain(n: int, ones: int) -> bool:
    """Is (2 n₁ − n)² at most n?"""
    return (2 * ones - n) ** 2 <= n


def draw(result: Result) -> Mapping[str, Any]:
    """One curve for each number of users."""
    order = [f"n = {n}" for n in SIZES]
    panel = Panel(result["panels"][0]["rows"], x="share of ones n₁/n", y="variance of JRR / variance of RR", zero=False)
    return {
        "variances": line_panels(
            [panel],
            order,
            title="JRR's variance as a share of RR's",
            subtitle="ε = 1, p = 0.731, ρ = 1 − 1/p; exact (above 1 JRR is worse)",
            size=(520, 300),
        )
    }


ARTIFACT = Artifact(
    name="figure-b.1",
    title="The share of ones and the variance",
    source="Dissertation, Figure B.1",
    compute=compute,
    draw=draw,
    published=(
        Published("p", 0.73, 0.005, "Figure B.1, the caption"),
        Published("width without gain at n = 10⁴", 0.01, 1e-12, "Section 4.3.3"),
    ),
    claims=(
        Claim(
            "the more users, the larger the part of the domain where JRR is better",
            "Appendix B.2.1",
            lambda result: all(
                result["numbers"][f"share of n₁ without gain, n = {a}"] > result["numbers"][f"share of n₁ without gain, n = {b}"]
                for a, b in ((20, 100), (100, 1_000), (1_000, 10_000))
            ),
        ),
    ),
)
