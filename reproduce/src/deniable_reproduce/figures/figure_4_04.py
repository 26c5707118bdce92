"""Figure 4.4: percentiles of the average relative error on the four data sets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from scipy.stats import norm

from deniable.studies import PUBLISHED_COUNTS
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run, named
from deniable_reproduce.joint_error import JOINT, PLAIN, errors, mean_relative_error
from deniable_reproduce.pictures import Panel, line_panels, significant

LEVELS = (0.01, 0.1, 1.0)
PERCENTILES = tuple(range(5, 100, 5))
ORDER = [f"{mechanism} {name}" for name in PUBLISHED_COUNTS for mechanism in (JOINT, PLAIN)]
COLOURS_OF_PAIRS = ["#0072B2", "#56B4E9", "#D55E00", "#E69F00", "#009E73", "#66c2a5", "#882255", "#CC79A7"]
READING = 0.05
"""The published curve has a point every 0.1, so a number read from it is known to half of that."""
NORMAL_80 = 1.281552


def compute(run: Run) -> Result:
    """Simulated surveys; the exact normal percentile beside the one the text names."""
    runs = run.repetitions(400, 1000)
    panels, numbers = [], {}
    done = 0
    for epsilon in LEVELS:
        rows = []
        for name, (n, ones) in PUBLISHED_COUNTS.items():
            for mechanism, error in errors(run, epsilon, n, ones, runs, f"figure 4.4 {name}").items():
                assert error.simulation is not None
                for level, value in error.simulation.percentiles(PERCENTILES).items():
                    rows.append({"x": int(level), "y": significant(value, 5), "series": f"{mechanism} {name}"})
                if epsilon == 0.1 and name == "Kosarak":
                    numbers[f"80th percentile, {mechanism}, Kosarak, ε = 0.1"] = error.simulation.percentiles((80,))["80"]
                    exact = mean_relative_error(error.mse, n, ones) * NORMAL_80 / 0.7978846
                    numbers[f"the same, normal approximation, {mechanism}"] = exact
            done += 1
            run.progress(done, len(LEVELS) * len(PUBLISHED_COUNTS))
        panels.append({"title": f"ε = {epsilon:g}", "rows": rows})
    numbers["simulated surveys each"] = runs
    return {"numbers": numbers, "panels": panels}


def draw(result: Result) -> Mapping[str, Any]:
    """A panel for each epsilon."""
    panels = [Panel(panel["rows"], title=panel["title"], x="percentile", y="relative error (ARE)") for panel in result["panels"]]
    return {
        "percentiles": line_panels(
            panels,
            ORDER,
            title="Percentiles of the average relative error",
            subtitle=f"{result['numbers']['simulated surveys each']} simulated surveys for each curve; solid: JRR, dashed: RR",
            columns=3,
            size=(250, 250),
            colours=COLOURS_OF_PAIRS,
            dashes=([1, 0], [6, 3]),
        )
    }


def sampling_error(level: int, runs: int) -> float:
    """The relative standard error of a percentile of |Z| from so many surveys."""
    share = level / 100
    place = float(norm.ppf((1 + share) / 2))
    return math.sqrt(share * (1 - share) / runs) / (2 * float(norm.pdf(place)) * place)


def _lower(result: Result) -> bool:
    """Is JRR's curve below RR's at every percentile, up to four sampling errors of both?"""
    runs = int(result["numbers"]["simulated surveys each"])
    for panel in result["panels"]:
        values = {(row["series"], row["x"]): row["y"] for row in panel["rows"]}
        for name in PUBLISHED_COUNTS:
            for level in PERCENTILES:
                slack = 1 + 4 * math.sqrt(2) * sampling_error(level, runs)
                if values[f"{JOINT} {name}", level] >= values[f"{PLAIN} {name}", level] * slack:
                    return False
    return True


ARTIFACT = Artifact(
    name="figure-4.4",
    title="Percentiles of ARE on four data sets",
    source="Dissertation, Figure 4.4",
    compute=compute,
    draw=draw,
    published=(
        *(
            Published(
                f"80th percentile, {name}, Kosarak, ε = 0.1",
                value,
                READING + allowed,
                "Section 4.6.2",
                evidence=named(f"the same, normal approximation, {name}"),
            )
            for name, value, allowed in ((JOINT, 0.70, 0.07), (PLAIN, 1.45, 0.15))
        ),
    ),
    claims=(
        Claim(
            "JRR has the lower error at every percentile (up to four sampling errors)",
            "Section 4.6.2",
            _lower,
            evidence=lambda result: {
                f"{row['series']}, median, {panel['title']}": row["y"]
                for panel in result["panels"]
                for row in panel["rows"]
                if row["x"] == 50
            },
        ),
    ),
    note="Tolerances: half a step of the published curve (0.05) and two sampling errors of a percentile, of the published 1000 "
    "surveys and of ours. The counts of Table 4.3 are all that matters, so no data file is needed.",
)
