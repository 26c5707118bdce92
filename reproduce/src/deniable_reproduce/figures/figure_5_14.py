"""Figure 5.14: worst-case error over epsilon beside the staircase, clipped and bounded Laplace mechanisms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from deniable.core import make_mechanism
from deniable.estimators import closed_form
from deniable_reproduce.artifact import Artifact, Claim, Result, Run
from deniable_reproduce.figures.figure_5_13 import printed
from deniable_reproduce.worst_case_error import LEVELS, curves, never_above, picture, series

ORDER = ["OGPM", "staircase", "T-Laplace", "B-Laplace", "B-Laplace as printed"]
TEXT = "Section 5.6.1"


def compute(run: Run) -> Result:
    """Closed forms, which the tests of the law of a report compare with the integer weights."""
    rows = curves(
        {
            "OGPM": _form("ogpm", "worst_absolute_error"),
            "staircase": _form("staircase", "absolute_error", value=0.0),
            "T-Laplace": _form("truncated-laplace", "absolute_error", value=0.5),
            "B-Laplace": lambda epsilon: max(_form("bounded-laplace", "absolute_error", value=x)(epsilon) for x in (0.0, 0.5)),
            "B-Laplace as printed": lambda epsilon: max(printed(epsilon, x) for x in (0.0, 0.5)),
        },
        LEVELS,
        run,
    )
    ogpm = series(rows, "OGPM")
    ratios = {name: [b / a for a, b in zip(ogpm, series(rows, name), strict=True)] for name in ORDER[1:]}
    numbers = {f"{name} / OGPM at ε = {LEVELS[place]:g}": curve[place] for name, curve in ratios.items() for place in (0, -1)}
    return {"numbers": numbers, "panels": [{"title": "absolute error", "rows": rows}]}


def _form(name: str, quantity: str, **given: Any) -> Callable[[float], float]:
    return lambda epsilon: closed_form(make_mechanism(name, epsilon=epsilon), quantity, **given)


def draw(result: Result) -> Mapping[str, Any]:
    """The worst-case error by ε, one curve per mechanism."""
    return {
        "errors": picture(
            result,
            ORDER,
            title="Worst-case absolute error beside Laplace's relatives",
            subtitle="on [0, 1]; exact formulas",
            units=("worst expected |y − x|",),
        )
    }


def _rows(result: Result) -> Any:
    return result["panels"][0]["rows"]


ARTIFACT = Artifact(
    name="figure-5.14",
    title="Worst-case error beside the staircase, T-Laplace and B-Laplace",
    source="Dissertation, Figure 5.14",
    compute=compute,
    draw=draw,
    claims=(
        Claim(
            "OGPM has the lowest worst-case error at every ε",
            TEXT,
            lambda result: all(never_above(_rows(result), "OGPM", other) for other in ORDER[1:4]),
        ),
        Claim(
            "for small ε T-Laplace and B-Laplace beat the staircase, for large ε they do not",
            TEXT,
            lambda result: all(
                result["numbers"][f"{name} / OGPM at ε = 1"] < result["numbers"]["staircase / OGPM at ε = 1"]
                and result["numbers"][f"{name} / OGPM at ε = 8"] > result["numbers"]["staircase / OGPM at ε = 8"]
                for name in ("T-Laplace", "B-Laplace")
            ),
        ),
        Claim(
            "at large ε the staircase approaches OGPM (within 2 % at ε = 8)",
            TEXT,
            lambda result: result["numbers"]["staircase / OGPM at ε = 8"] < 1.02,
        ),
    ),
    note="B-Laplace has the normaliser that makes it a density; the printed one is drawn beside it (see figure-5.13).",
)
