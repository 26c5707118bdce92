"""Figure D.4: size and probability of the dominant sector over epsilon, TraCS-D beside the strawman."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from deniable_reproduce.artifact import Artifact, Claim, Evidence, Result, Run
from deniable_reproduce.pictures import Panel, curve, line_panels, significant
from deniable_reproduce.sectors import dominant, response, window

EPSILONS = [0.5 * i for i in range(1, 21)]
ORDER = ["TraCS-D", "3-RR", "6-RR", "12-RR"]


def compute(run: Run) -> Result:
    """Widths in degrees and probabilities, from integer weights."""
    widths: dict[str, list[float]] = {name: [] for name in ORDER}
    chances: dict[str, list[float]] = {name: [] for name in ORDER}
    for epsilon in EPSILONS:
        for name in ORDER:
            one = dominant(window(epsilon) if name == "TraCS-D" else response(epsilon, int(name.split("-")[0])))
            widths[name].append(significant(math.degrees(one.width), 6))
            chances[name].append(significant(one.probability, 6))
    return {"epsilons": EPSILONS, "widths": widths, "probabilities": chances}


def draw(result: Result) -> Mapping[str, Any]:
    """Size on the left, probability on the right."""

    def panel(key: str, title: str, unit: str) -> Panel:
        rows = [row for name in ORDER for row in curve(result["epsilons"], result[key][name], name)]
        return Panel(rows, title=title, x="ε of the direction", y=unit)

    panels = [panel("widths", "size of the dominant sector", "degrees"), panel("probabilities", "its probability", "probability")]
    return {"sectors": line_panels(panels, ORDER, title="The dominant sector of a direction")}


def _at(result: Result, key: str, name: str, epsilon: float) -> float:
    return float(result[key][name][result["epsilons"].index(epsilon)])


def _sectors(epsilon: float) -> Evidence:
    """Width and probability of every dominant sector at one ε."""
    kinds = (("degrees", "widths"), ("probability", "probabilities"))
    return lambda r: {f"{name} at ε = {epsilon:g}, {what}": _at(r, key, name, epsilon) for name in ORDER for what, key in kinds}


ARTIFACT = Artifact(
    name="figure-d.4",
    title="Size and probability of the dominant sector",
    source="Dissertation, Figure D.4",
    compute=compute,
    draw=draw,
    claims=(
        Claim(
            "at small ε TraCS-D's sector is larger and more probable",
            "Appendix D.2.4",
            lambda r: all(
                _at(r, "widths", "TraCS-D", 1) > _at(r, "widths", name, 1)
                and _at(r, "probabilities", "TraCS-D", 1) > _at(r, "probabilities", name, 1)
                for name in ORDER[1:]
            ),
            evidence=_sectors(1),
        ),
        Claim(
            "at large ε TraCS-D's sector is much smaller at almost the same probability",
            "Appendix D.2.4",
            lambda r: all(
                _at(r, "widths", "TraCS-D", 10) < _at(r, "widths", name, 10) / 5
                and _at(r, "probabilities", "TraCS-D", 10) > _at(r, "probabilities", name, 10) - 0.01
                for name in ORDER[1:]
            ),
            evidence=_sectors(10),
        ),
    ),
)
