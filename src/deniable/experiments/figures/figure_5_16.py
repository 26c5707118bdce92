"""Figure 5.16: the error of a histogram of reports, on sensor readings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from deniable.experiments.artifact import Artifact, Claim, Published, Result, Run
from deniable.experiments.pictures import Panel, curve, line_panels
from deniable.experiments.sensor_data import (
    BINS,
    CIRCULAR,
    FILES,
    LEVELS,
    LINEAR,
    TURN,
    Floats,
    accelerations,
    directions,
    histogram,
    repeat,
    share,
    share_error,
)

ORDER = ["OGPM", "PM-C", "SW-C"]
TEXT = "Section 5.6.2"
ALLOWED = 0.012
"""Rounding, three sampling errors of our quick run (each below 0.0035, see the numbers), and π = 3.14 in the released one."""
WHY = (
    "The text defines the distance as the sum of absolute differences over 50 bins. The printed percentages are of another one: "
    "the released program takes the Euclidean norm of the differences over 49 bins. The line “…, Euclidean, 49 bins” does that."
)
WHY_SW = (
    "The released table differs from the law at a few levels (SW-C at ε = 2: 734.0 counts, the law gives 704; OGPM at ε = 1.5: "
    "872, the law gives 892) and agrees at the others. The released program does not show why; its sampler is not among its files."
)
EUCLIDEAN = ", Euclidean, 49 bins"


def absolute(differences: Floats) -> Floats:
    """The sum of absolute differences, for each repetition."""
    found: Floats = np.abs(differences).sum(axis=1)
    return found


def euclidean(differences: Floats) -> Floats:
    """The Euclidean norm of the differences, for each repetition."""
    found: Floats = np.sqrt((differences**2).sum(axis=1))
    return found


METRICS: dict[str, tuple[int, Callable[[Floats], Floats]]] = {
    "": (BINS, absolute),
    EUCLIDEAN: (BINS - 1, euclidean),
}
DOMAINS = {"classical": (LINEAR, accelerations, 1.0), "circular": (CIRCULAR, directions, TURN)}


def compute(run: Run) -> Result:
    """Every reading randomized again and again, at every level."""
    runs = run.repetitions(12, 500)
    panels = []
    numbers: dict[str, float] = {}
    for domain, (contestants, load, width) in DOMAINS.items():
        values = load(run)
        errors: dict[str, dict[str, list[float]]] = {metric: {name: [] for name in ORDER} for metric in METRICS}
        spreads: dict[str, dict[str, list[float]]] = {metric: {name: [] for name in ORDER} for metric in METRICS}
        for name, made in contestants.items():
            for epsilon in LEVELS:
                for metric, (bins, distance) in METRICS.items():
                    purpose = f"figure 5.16 {domain} {name} {epsilon} {bins}"
                    found = repeat(run, values, made(epsilon), runs, purpose, histogram(width, bins))
                    distances = distance(found.estimates - found.truth) / len(values)
                    errors[metric][name].append(float(distances.mean()))
                    spreads[metric][name].append(float(distances.std(ddof=1) / np.sqrt(runs)))
            run.progress(len(numbers), 1)
        rows = [row for name in ORDER for row in curve(LEVELS, errors[""][name], name)]
        panels.append({"title": f"{domain} domain", "rows": rows})
        for metric in METRICS:
            for other in ORDER[1:]:
                numbers[f"{domain}, OGPM / {other}{metric}"] = share(errors[metric], "OGPM", other)
                key = f"{domain}, OGPM / {other}{metric}: standard error"
                numbers[key] = share_error(errors[metric], spreads[metric], "OGPM", other)
        numbers[f"readings, {domain}"] = len(values)
        for epsilon in (2.0, 4.0):
            counts = errors[EUCLIDEAN]["SW-C"][LEVELS.index(epsilon)] * len(values)
            numbers[f"{domain}, SW-C{EUCLIDEAN}, ε = {epsilon:g} (counts)"] = counts
    numbers["repetitions"] = runs
    return {"numbers": numbers, "panels": panels}


def draw(result: Result) -> Mapping[str, Any]:
    """Classical and circular domain."""
    panels = [
        Panel(found["rows"], title=found["title"], x="privacy parameter ε", y="Σ |estimated − true share|")
        for found in result["panels"]
    ]
    return {
        "errors": line_panels(
            panels,
            ORDER,
            title="Error of a 50-bin histogram of the raw reports",
            subtitle=f"MotionSense, {result['numbers']['repetitions']} repetitions at each ε",
        )
    }


def _numbers() -> tuple[Published, ...]:
    printed = {
        ("classical", "PM-C"): 0.935,
        ("classical", "SW-C"): 0.867,
        ("circular", "PM-C"): 0.722,
        ("circular", "SW-C"): 0.840,
    }
    found = []
    for (domain, other), value in printed.items():
        found.append(Published(f"{domain}, OGPM / {other}", value, ALLOWED, TEXT, WHY))
        why = WHY_SW if (domain, other) == ("classical", "SW-C") else ""
        found.append(Published(f"{domain}, OGPM / {other}{EUCLIDEAN}", value, ALLOWED, TEXT, why))
    table = "the released table of Figure 5.16"
    found.append(Published(f"classical, SW-C{EUCLIDEAN}, ε = 2 (counts)", 734.0, 10.0, table, WHY_SW))
    found.append(Published(f"classical, SW-C{EUCLIDEAN}, ε = 4 (counts)", 333.5, 10.0, table))
    return tuple(found)


ARTIFACT = Artifact(
    name="figure-5.16",
    title="Distribution estimation error on sensor data",
    source="Dissertation, Figure 5.16",
    compute=compute,
    draw=draw,
    published=(Published("readings, classical", 6159, 0.0, TEXT), *_numbers()),
    claims=(
        Claim(
            "in the classical domain OGPM has the lowest error on average",
            TEXT,
            lambda result: all(result["numbers"][f"classical, OGPM / {other}"] < 1 for other in ORDER[1:]),
            "Not by the distance that the text defines: there PM-C is as good (the ratio above). By the Euclidean norm it is.",
        ),
        Claim(
            "in the circular domain OGPM has the lowest error on average",
            TEXT,
            lambda result: all(result["numbers"][f"circular, OGPM / {other}"] < 1 for other in ORDER[1:]),
        ),
    ),
    data=FILES,
    note="The histogram of the raw reports, as in the source. It is far from the best: `deniable estimate` inverts the law.",
)
