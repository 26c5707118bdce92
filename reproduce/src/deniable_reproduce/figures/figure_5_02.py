"""Figure 5.2: the best densities of 4 and 5 pieces are the one of 3 pieces."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from deniable.core import make_mechanism
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run, named
from deniable_reproduce.bilinear import PiecesCheck, check_pieces
from deniable_reproduce.densities import step_rows, window
from deniable_reproduce.pictures import Panel, line_panels

EPSILON, X = 1, 0.3
PIECES = (3, 4, 5)


@cache
def solved_within(seconds: float) -> PiecesCheck:
    """The best densities that the solver finds in so many seconds each."""
    return check_pieces(EPSILON, X, PIECES, seconds=seconds)


def compute(run: Run) -> Result:
    """The published framework on a global solver, for 3, 4 and 5 pieces.

    The solver is stopped before it has proved the last percents; its best density is there long before. What it has
    proved by then depends on the machine, and is left out; the theorem does not need it.
    """
    solutions = solved_within(30.0 if run.full else 2.0)
    left, right, high, _ = window(make_mechanism("ogpm", epsilon=EPSILON), X)
    numbers = {
        "same error": float(solutions.same_error),
        "same pieces": float(solutions.same_pieces),
    }
    panels = []
    for count, solved in zip(PIECES, solutions.at_x, strict=True):
        shape = solved.merged()
        name = f"best of {count} pieces"
        panels.append(
            {"title": name, "rows": step_rows([round(at, 3) for at in shape.breaks], [round(at, 3) for at in shape.heights], name)}
        )
        numbers[f"{name}: pieces after merging"] = float(len(shape.heights))
        numbers[f"{name}: error"] = round(solved.error, 5)
        top = max(range(len(shape.heights)), key=lambda place: shape.heights[place])
        numbers[f"{name}: height / Theorem 7"] = round(shape.heights[top] / high, 3)
        numbers[f"{name}: left end minus Theorem 7"] = round(shape.breaks[top] - left, 3)
        numbers[f"{name}: right end minus Theorem 7"] = round(shape.breaks[top + 1] - right, 3)
    return {"numbers": numbers, "panels": panels}


def draw(result: Result) -> Mapping[str, Any]:
    """One panel for each number of pieces."""
    panels = [
        Panel(
            panel["rows"], title=panel["title"], x="answer y", y="probability density", steps=True, x_range=(0, 1), y_range=(0, 2)
        )
        for panel in result["panels"][1:]
    ]
    names = [panel["title"] for panel in result["panels"][1:]]
    return {
        "densities": line_panels(
            panels, names, title="The best densities of 4 and 5 pieces", subtitle="ε = 1, x = 0.3, absolute error", dashed=False
        )
    }


ARTIFACT = Artifact(
    name="figure-5.2",
    title="Optimal 4-GPM and 5-GPM at ε = 1, x = 0.3",
    source="Dissertation, Figure 5.2",
    compute=compute,
    draw=draw,
    published=tuple(
        Published(f"best of {count} pieces: {what}", value, tolerance, where)
        for count in PIECES[1:]
        for what, value, tolerance, where in (
            ("pieces after merging", 3.0, 0.0, "Figure 5.2"),
            ("height / Theorem 7", 1.0, 0.01, "Theorem 7"),
            ("left end minus Theorem 7", 0.0, 0.01, "Theorem 7"),
            ("right end minus Theorem 7", 0.0, 0.01, "Theorem 7"),
        )
    ),
    claims=(
        Claim(
            "the best densities of 3, 4 and 5 pieces are one after merging",
            "Figure 5.2",
            lambda result: result["numbers"]["same pieces"] == 1.0,
            evidence=named(*(f"best of {count} pieces: pieces after merging" for count in PIECES)),
        ),
        Claim(
            "the best densities of 3, 4 and 5 pieces have one error",
            "Figure 5.2",
            lambda result: result["numbers"]["same error"] == 1.0,
            evidence=named(*(f"best of {count} pieces: error" for count in PIECES)),
        ),
    ),
    note="Needs pyscipopt (`deniable-reproduce[scip]`).",
)
