"""Figure 6.10: what else survives on the Chicago check-ins: range queries and visits to hotspots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from deniable.studies import Hotspots, Paths, Places, hotspot_count_difference, range_query_preservation
from deniable_reproduce.artifact import Artifact, AsReleased, Claim, Evidence, Published, Result, Run
from deniable_reproduce.pictures import Panel, line_panels, significant
from deniable_reproduce.place_walks import ORDER, contestants, place_rows
from deniable_reproduce.released_data import FIGURE_6_10_LOST, FIGURE_6_10_RANGE, TRACS
from deniable_reproduce.released_runs import NEAR, chicago_metrics, most_frequent
from deniable_reproduce.released_table import compared
from deniable_reproduce.walk_pictures import banded
from deniable_reproduce.walks import CHICAGO_AREA, EPSILONS, FEW, area, check_ins, clipped

TEXT = "Section 6.3.2"
RANGE, LOST = "mean RQP of {}, %", "mean CD of {}"
STATED_RANGE = {"L-SRR": 47.1, "ATP": 46.8, "NGram": 56.5, "TraCS-D": 58.6, "TraCS-C": 68.4}
STATED_LOST = {"L-SRR": 5.4, "ATP": 4.9, "NGram": 5.2, "TraCS-D": 4.1, "TraCS-C": 4.1}
PATHS = (100, 200)
SETTING = (
    "paths 100 to 200 as sorted lists of different places, the box of the whole file, TraCS-D from its corner, ε = 2, 4, …, 10"
)
CHANGE = (
    "their own hotspots, and the change in the number of locations in hotspots, where one that moves in makes up for "
    "one that leaves"
)
RANGE_WHY = (
    "Ours takes the same people's paths in time, in the printed area{}. With the released paths the printed number comes out."
)
LOST_WHY = (
    "The text counts locations in hotspots whose report is in none. The released program counts by how much the number of "
    "locations "
    "in hotspots changes, over the hotspots of these 100 paths. With its paths and the text's count the loss is {:.1f}."
)


def compute(run: Run) -> Result:
    """Means over epsilon of both metrics for paths 100 to 200: in time and by the text's count; and as released."""
    region = area(CHICAGO_AREA)
    everybody = clipped(check_ins(run, "chicago", most=10_000), region)
    places = Places.of(everybody)
    paths = Paths.of([everybody[i] for _ in range(run.repetitions(1, 5)) for i in range(*PATHS)])
    hot = Hotspots(places.coordinates, most_frequent(places.nearest(everybody.places), len(places)))
    measures = {
        "range_query": lambda true, private: range_query_preservation(true, private, NEAR),
        "hotspot": lambda true, private: hotspot_count_difference(true, private, hot),
    }
    levels = EPSILONS if run.full else FEW
    rows = place_rows(contestants(region, places), paths, places, levels, run, "figure 6.10", measures=measures)
    released = chicago_metrics(run, run.repetitions(10, 50))
    numbers = {"mean length of the paths in time": significant(float(np.mean(paths.lengths)), 4)}
    for name in ORDER:
        own = [row for row in rows if row["mechanism"] == name]
        numbers[RANGE.format(name)] = significant(float(np.mean([row["range_query"] for row in own])), 5)
        numbers[LOST.format(name)] = significant(float(np.mean([row["hotspot"] for row in own])), 5)
        again = {RANGE: 100 * np.mean(released["range"][name]), LOST: np.mean(released["difference"][name])}
        for label, value in again.items():
            numbers[f"{label.format(name)}, released setting"] = significant(float(value), 4)
        numbers[f"{LOST.format(name)}, released paths and the text's count"] = significant(
            float(np.mean(released["lost"][name])), 4
        )
    tables = {
        "range queries": FIGURE_6_10_RANGE.beside(released["range"], absolute=True),
        "hotspots": FIGURE_6_10_LOST.beside(released["difference"]),
    }
    return {"rows": rows, "numbers": numbers, "released": tables}


def draw(result: Result) -> Mapping[str, Any]:
    """One panel per metric."""
    levels = sorted({row["epsilon"] for row in result["rows"]})
    common: dict[str, Any] = {
        "x": "ε per location",
        "ticks": levels,
        "points": True,
        "x_range": (levels[0] - 0.3, levels[-1] + 0.3),
    }
    # Paths of very different lengths lose very different numbers: a band between paths would hide the curves.
    lost = [{"x": row["epsilon"], "y": row["hotspot"], "series": row["mechanism"]} for row in result["rows"]]
    panels = [
        Panel(banded(result["rows"], "range_query"), title="locations that stay within 0.1 degrees", y="share (%)", **common),
        Panel(lost, title="visits to hotspots that are lost", y="visits per path", **common),
    ]
    return {
        "metrics": line_panels(
            panels,
            ORDER,
            title="Range queries and hotspots, Chicago",
            subtitle="paths 100 to 200 in time; bands on the left are two standard errors between paths",
        )
    }


def _published() -> tuple[Published, ...]:
    """Tolerances are three standard errors of one run over 100 short paths."""
    numbers = []
    source = f"{TRACS}, experiments/discrete_space"
    for name in ORDER:
        ours = name.startswith("TraCS")
        key, again = RANGE.format(name), f"{RANGE.format(name)}, released setting"
        setting = AsReleased(again, SETTING, f"{source}/appendix_range_query_chi.py", fair=ours)
        baseline = "" if ours else ", and a baseline that is ε-LDP, which the released one is not"
        numbers.append(Published(key, STATED_RANGE[name], 6.0, TEXT, RANGE_WHY.format(baseline), released=setting))
    for name in ORDER:
        key, again = LOST.format(name), f"{LOST.format(name)}, released setting"
        counted = f"{LOST.format(name)}, released paths and the text's count"
        setting = AsReleased(again, f"{SETTING}, {CHANGE}", f"{source}/appendix_hotpot_chi.py")

        def why(result: Result, counted: str = counted) -> str:
            return LOST_WHY.format(result["numbers"][counted])

        def evidence(result: Result, counted: str = counted) -> dict[str, float]:
            return {counted: result["numbers"][counted]}

        numbers.append(Published(key, STATED_LOST[name], 0.6, TEXT, why, evidence=evidence, released=setting, given=PATHS))
    numbers.append(compared("range queries", FIGURE_6_10_RANGE, 0.09, absolute=True))
    numbers.append(compared("hotspots", FIGURE_6_10_LOST, 0.08))
    return tuple(numbers)


def _best(result: Result, label: str, largest: bool) -> bool:
    values = {name: result["numbers"][label.format(name)] for name in ORDER}
    return (max if largest else min)(values, key=lambda name: values[name]).startswith("TraCS")


def _means(label: str) -> Evidence:
    return lambda r: {label.format(name): r["numbers"][label.format(name)] for name in ORDER}


ARTIFACT = Artifact(
    name="figure-6.10",
    title="Range query preservation and hotspot preservation on CHI",
    source="Dissertation, Figure 6.10",
    compute=compute,
    draw=draw,
    published=_published(),
    claims=(
        Claim(
            "on average over ε, TraCS preserves the most range queries",
            TEXT,
            lambda r: _best(r, RANGE, True),
            evidence=_means(RANGE),
        ),
        Claim(
            "on average over ε, TraCS loses the fewest visits to hotspots",
            TEXT,
            lambda r: _best(r, LOST, False),
            evidence=_means(LOST),
        ),
    ),
    data=("chicago_checkins.csv",),
    note="The released scripts take paths 100 to 200, whose different places number 12.6 on average: the printed mean length of "
    "13.",
)
