"""Figure 4.5: mean squared errors on synthetic data over epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run
from deniable_reproduce.joint_error import GRID, JOINT, PLAIN, errors
from deniable_reproduce.pictures import Panel, line_panels, significant

SIZES = (10_000, 40_000, 80_000)
SHARES = (0.01, 0.1, 1.0)
ORDER = [PLAIN, *(f"{JOINT}, n₁/n = {share:g}" for share in SHARES)]


def compute(run: Run) -> Result:
    """Exact by Theorem 4; a few simulated surveys for each point as a check."""
    runs = run.repetitions(40, 1000)
    panels, numbers, largest = [], {}, 0.0
    for place, n in enumerate(SIZES):
        rows = []
        for share in SHARES:
            ones = round(n * share)
            for epsilon in GRID:
                of_mechanism = errors(run, epsilon, n, ones, runs, "figure 4.5")
                rows.append({"x": epsilon, "y": significant(of_mechanism[JOINT].mse), "series": f"{JOINT}, n₁/n = {share:g}"})
                if share == SHARES[0]:
                    rows.append({"x": epsilon, "y": significant(of_mechanism[PLAIN].mse), "series": PLAIN})
                numbers[f"JRR / RR, n = {n}, n₁/n = {share:g}, ε = {epsilon:g}"] = of_mechanism[JOINT].mse / of_mechanism[PLAIN].mse
                largest = max(largest, *(abs(error.deviation) for error in of_mechanism.values()))
        panels.append({"title": f"n = {n}", "rows": rows})
        run.progress(place + 1, len(SIZES))
    numbers["largest deviation of a simulated MSE (standard errors)"] = largest
    numbers["simulated surveys each"] = runs
    return {"numbers": numbers, "panels": panels}


def draw(result: Result) -> Mapping[str, Any]:
    """A panel for each number of users."""
    panels = [
        Panel(panel["rows"], title=panel["title"], x="ε", y="MSE (users²)", log_x=True, log_y=True, points=True, ticks=GRID)
        for panel in result["panels"]
    ]
    return {
        "errors": line_panels(
            panels, ORDER, title="Mean squared error over ε", subtitle="exact (Theorem 4)", columns=3, size=(250, 250)
        )
    }


ARTIFACT = Artifact(
    name="figure-4.5",
    title="MSE of RR and JRR on synthetic data",
    source="Dissertation, Figure 4.5",
    compute=compute,
    draw=draw,
    published=(
        Published("JRR / RR, n = 10000, n₁/n = 1, ε = 0.01", 0.01, 0.001, "Section 4.6.3 (“approximately 1 %”)"),
        Published("JRR / RR, n = 10000, n₁/n = 1, ε = 0.1", 0.10, 0.01, "Section 4.6.3 (“about 10 %”)"),
    ),
    claims=(
        Claim(
            "JRR has the lower MSE everywhere",
            "Section 4.6.3",
            lambda result: all(result["numbers"][name] < 1 for name in result["numbers"] if name.startswith("JRR / RR")),
        ),
        Claim(
            "Theorem 4 gives the variance (no simulated MSE is off by more than 5.5 standard errors)",
            "Theorem 4",
            lambda result: result["numbers"]["largest deviation of a simulated MSE (standard errors)"] < 5.5,
        ),
    ),
    note="At n₁ = n and ε → 0 the ratio is 1 − e^(−ε). Nearer to n₁/n = 1/2 there is less to gain (figure-b.1).",
)
