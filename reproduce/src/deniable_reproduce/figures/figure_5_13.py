"""Figure 5.13: the error at every value for the staircase, clipped and bounded Laplace mechanisms, beside OGPM."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from deniable.core import make_mechanism
from deniable.estimators import closed_form, expected_error
from deniable_reproduce.artifact import Artifact, Claim, Evidence, Published, Result, Run
from deniable_reproduce.pictures import curve
from deniable_reproduce.released_data import FIGURE_5_13
from deniable_reproduce.released_table import compared
from deniable_reproduce.whole_domain_error import POINTS, curves, errors_of, picture

ORDER = ["OGPM", "staircase", "T-Laplace", "B-Laplace", "B-Laplace as printed"]
NAMES = {"OGPM": "ogpm", "T-Laplace": "truncated-laplace", "B-Laplace": "bounded-laplace"}
LEVELS = (2, 4)
TEXT = "Section 5.6.1"
WHY = (
    "The printed B-Laplace is not a density: its normaliser is the same for every x, and the mass at x = 1/2 is 1.46 at ε = 2 and "
    "1.76 at ε = 4, not 1. With the right normaliser the error is largest at the ends at ε = 4 as well. The printed formula does "
    "what the text says: it is the curve “as printed”."
)
MASSES = tuple(f"mass of the printed density at x = 1/2, ε = {epsilon}" for epsilon in LEVELS)


def printed(epsilon: float, x: float) -> float:
    """The closed form of Appendix C.2.8, which is not normalised."""
    left, right = epsilon * x, epsilon * (1 - x)
    return (2 - (1 + left) * math.exp(-left) - (1 + right) * math.exp(-right)) / (epsilon * -math.expm1(-epsilon))


def printed_mass(epsilon: float, x: float) -> float:
    """The total of the printed density at x."""
    return (2 - math.exp(-epsilon * x) - math.exp(-epsilon * (1 - x))) / -math.expm1(-epsilon)


def compute(run: Run) -> Result:
    """Exact errors from the weights; the staircase's by its published formula, since its outputs reach beyond every end."""
    panels = []
    numbers = {}
    released = {}
    places = np.linspace(0, 1, POINTS)
    for epsilon in LEVELS:
        rows = curves({name: make_mechanism(known, epsilon=epsilon) for name, known in NAMES.items()}, "absolute")
        steps = closed_form(make_mechanism("staircase", epsilon=epsilon), "absolute_error", value=0.0)
        rows += curve(places, [steps] * POINTS, "staircase")
        rows += curve(places, [printed(epsilon, float(x)) for x in places], "B-Laplace as printed")
        panels.append({"title": f"ε = {epsilon}", "rows": rows})
        numbers[f"mass of the printed density at x = 1/2, ε = {epsilon}"] = printed_mass(epsilon, 0.5)
        measured = expected_error(make_mechanism("staircase", epsilon=epsilon), 0.5)
        numbers[f"staircase error, ε = {epsilon}"] = measured / (math.exp(epsilon / 2) / math.expm1(epsilon))
        lowest = [row["y"] for row in rows if row["series"] == "OGPM"]
        others = [[row["y"] for row in rows if row["series"] == name] for name in ("staircase", "T-Laplace", "B-Laplace")]
        wins = [mine <= min(errors[place] for errors in others) for place, mine in enumerate(lowest)]
        numbers[f"share of the domain where OGPM is lowest, ε = {epsilon}"] = sum(wins) / len(wins)
        table = FIGURE_5_13[epsilon]
        at = {(row["series"], round(row["x"], 6)): row["y"] for row in rows}
        released[f"ε = {epsilon}"] = table.beside({name: [at[name, x] for x in table.levels] for name in table.columns})
        run.progress(len(panels), len(LEVELS))
    return {"numbers": numbers, "panels": panels, "released": released}


def draw(result: Result) -> Mapping[str, Any]:
    """One panel per epsilon."""
    return {
        "errors": picture(
            result,
            ORDER,
            title="Expected absolute error beside Laplace's relatives on [0, 1]",
            subtitle="exact; “as printed” is a formula that is not a density",
            x="private value x",
            y="expected |y − x|",
        )
    }


def _middle_and_end(result: Result, panel: int, series: str) -> tuple[float, float]:
    errors = errors_of(result, panel, series)
    return errors[len(errors) // 2], errors[0]


def _peaks(result: Result, series: str) -> bool:
    """Least in the middle at ε = 2, largest in the middle at ε = 4."""
    low, high = _middle_and_end(result, 0, series), _middle_and_end(result, 1, series)
    return low[0] < low[1] and high[0] > high[1]


def _ends(*names: str) -> Evidence:
    """Errors in the middle and at an end, beside the masses of the printed density."""

    def shown(result: Result) -> dict[str, float]:
        numbers = {name: float(result["numbers"][name]) for name in MASSES}
        for panel, epsilon in enumerate(LEVELS):
            for series in names:
                middle, end = _middle_and_end(result, panel, series)
                numbers[f"error of {series} in the middle, ε = {epsilon}"] = middle
                numbers[f"error of {series} at an end, ε = {epsilon}"] = end
        return numbers

    return shown


ARTIFACT = Artifact(
    name="figure-5.13",
    title="Whole-domain error beside the staircase, T-Laplace and B-Laplace",
    source="Dissertation, Figure 5.13",
    compute=compute,
    draw=draw,
    published=(
        *(Published(mass, 1.0, 1e-9, "Definition 20", WHY, evidence=_ends("B-Laplace")) for mass in MASSES),
        Published("staircase error, ε = 2", 1.0, 1e-4, TEXT + " (our integer weights / e^(ε/2)/(e^ε − 1))"),
        Published("staircase error, ε = 4", 1.0, 1e-4, TEXT + " (our integer weights / e^(ε/2)/(e^ε − 1))"),
        *(compared(f"ε = {epsilon}", table, 0.003) for epsilon, table in FIGURE_5_13.items()),
    ),
    claims=(
        Claim(
            "OGPM generally has the lowest error (at ε = 2, T-Laplace is lower near the ends)",
            TEXT,
            lambda result: all(
                result["numbers"][f"share of the domain where OGPM is lowest, ε = {level}"] > 0.9 for level in LEVELS
            ),
        ),
        Claim(
            "T-Laplace errs most in the middle and least at the ends",
            TEXT,
            lambda result: all(middle > end for middle, end in (_middle_and_end(result, panel, "T-Laplace") for panel in (0, 1))),
            evidence=lambda result: {
                f"T-Laplace {place}, ε = {epsilon}": error
                for panel, epsilon in enumerate(LEVELS)
                for place, error in zip(("in the middle", "at an end"), _middle_and_end(result, panel, "T-Laplace"), strict=True)
            },
        ),
        Claim(
            "B-Laplace errs least in the middle at ε = 2 and most in the middle at ε = 4",
            TEXT,
            lambda result: _peaks(result, "B-Laplace"),
            WHY,
            _ends("B-Laplace", "B-Laplace as printed"),
        ),
        Claim(
            "the formula of B-Laplace as printed errs least in the middle at ε = 2 and most in the middle at ε = 4",
            TEXT,
            lambda result: _peaks(result, "B-Laplace as printed"),
            evidence=_ends("B-Laplace as printed"),
        ),
    ),
)
