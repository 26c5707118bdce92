"""Figure 5.15: OGPM on the circle beside the Purkayastha mechanism."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from deniable.core import make_mechanism
from deniable.estimators import closed_form, expected_error
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run
from deniable_reproduce.released_data import FIGURE_5_15
from deniable_reproduce.released_table import compared
from deniable_reproduce.worst_case_error import LEVELS, curves, never_above, picture, series

ORDER = ["OGPM", "Purkayastha"]
CHECKED = 2.0


def compute(run: Run) -> Result:
    """Both errors by their formulas (they do not depend on the direction); one level also from the integer weights."""
    rows = curves(
        {"OGPM": _form("circular-ogpm"), "Purkayastha": _form("purkayastha")},
        LEVELS,
        run,
    )
    numbers = {}
    for name, known in (("OGPM", "circular-ogpm"), ("Purkayastha", "purkayastha")):
        measured = expected_error(make_mechanism(known, epsilon=CHECKED), 1.0, "absolute")
        numbers[f"{name}: measured / formula, ε = 2"] = measured / _form(known)(CHECKED)
    ratios = [a / b for a, b in zip(series(rows, "OGPM"), series(rows, "Purkayastha"), strict=True)]
    numbers["OGPM / Purkayastha, largest"] = max(ratios)
    numbers["OGPM / Purkayastha, least"] = min(ratios)
    places = [LEVELS.index(level) for level in FIGURE_5_15.levels]
    released = FIGURE_5_15.beside({name: [series(rows, name)[place] for place in places] for name in ORDER})
    return {"numbers": numbers, "panels": [{"title": "", "rows": rows}], "released": {"errors": released}}


def _form(name: str) -> Callable[[float], float]:
    """The published formula, in radians."""
    return lambda epsilon: closed_form(make_mechanism(name, epsilon=epsilon), "worst_absolute_error")


def draw(result: Result) -> Mapping[str, Any]:
    """The expected distance by ε, one curve per mechanism."""
    return {
        "errors": picture(
            result,
            ORDER,
            title="Expected distance on the circle",
            subtitle="the same at every direction; exact formulas",
            units=("expected distance (rad)",),
        )
    }


ARTIFACT = Artifact(
    name="figure-5.15",
    title="Beside the Purkayastha mechanism",
    source="Dissertation, Figure 5.15",
    compute=compute,
    draw=draw,
    published=(
        Published("OGPM: measured / formula, ε = 2", 1.0, 1e-4, "Theorem 8 (our integer weights / formula)"),
        Published("Purkayastha: measured / formula, ε = 2", 1.0, 1e-3, "Weggenmann, Kerschbaum 2021, Theorem 22"),
        compared("errors", FIGURE_5_15, 0.003),
    ),
    claims=(
        Claim(
            "OGPM has the lower error at every ε",
            "Section 5.6.1",
            lambda result: never_above(result["panels"][0]["rows"], "OGPM", "Purkayastha"),
        ),
    ),
)
