"""Figure 5.16: the error of a histogram of reports, on sensor readings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from deniable.experiments.artifact import Artifact, Claim, Published, Result, Run, named, readings
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
    "The released table differs from the law at two levels (SW-C at ε = 2: 734 counts; OGPM at ε = 1.5: 872) and agrees at the "
    "others. With these two entries in place of ours the printed ratio comes out. No number of bins gives 734 at ε = 2. The "
    "released program does not show why; its sampler is not among its files."
)
EUCLIDEAN = ", Euclidean, 49 bins"
ODD = {("OGPM", 1.5): 872.0, ("SW-C", 2.0): 734.0}
"""Two entries of the released table, in counts, that are off the law by many standard errors."""


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
    variants: dict[str, dict[str, float]] = {}
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
        if domain == "classical":
            variants = other_tables(run, values, errors[EUCLIDEAN], spreads[EUCLIDEAN], runs)
    numbers["repetitions"] = runs
    return {"numbers": numbers, "variants": variants, "panels": panels}


def other_tables(
    run: Run, values: Floats, errors: Mapping[str, list[float]], spreads: Mapping[str, list[float]], runs: int
) -> dict[str, dict[str, float]]:
    """The ratio with the released table's two odd entries, and SW-C's count at ε = 2 with other bins."""
    odd, rest = {name: list(found) for name, found in errors.items()}, {name: list(found) for name, found in errors.items()}
    for (name, epsilon), counts in ODD.items():
        odd[name][LEVELS.index(epsilon)] = counts / len(values)
    for place in sorted((LEVELS.index(epsilon) for _, epsilon in ODD), reverse=True):
        for found in rest.values():
            del found[place]
    bins = {}
    for count in (48, 50, 51):
        purpose = f"figure 5.16 other bins {count}"
        drawn = repeat(run, values, LINEAR["SW-C"](2.0), runs, purpose, histogram(1.0, count))
        bins[f"{count} bins"] = float(euclidean(drawn.estimates - drawn.truth).mean())
    place = LEVELS.index(2.0)
    return {
        "ratio": {
            "with the released OGPM at ε = 1.5 and SW-C at ε = 2": share(odd, "OGPM", "SW-C"),
            "without ε = 1.5 and 2": share(rest, "OGPM", "SW-C"),
        },
        "counts": bins,
        "spread": {
            "our standard error of it": spreads["SW-C"][place] * len(values),
            "OGPM at ε = 1.5, released 872": errors["OGPM"][LEVELS.index(1.5)] * len(values),
        },
    }


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
        key = f"{domain}, OGPM / {other}{EUCLIDEAN}"
        found.append(Published(f"{domain}, OGPM / {other}", value, ALLOWED, TEXT, WHY, variants=named(key)))
        odd = (domain, other) == ("classical", "SW-C")
        found.append(Published(key, value, ALLOWED, TEXT, WHY_SW if odd else "", variants=readings("ratio") if odd else None))
    table = "the released table of Figure 5.16"
    found.append(
        Published(
            f"classical, SW-C{EUCLIDEAN}, ε = 2 (counts)",
            734.0,
            10.0,
            table,
            WHY_SW,
            variants=readings("counts"),
            evidence=readings("spread"),
        )
    )
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
            named(*(f"classical, OGPM / {other}{metric}" for other in ORDER[1:] for metric in METRICS)),
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
