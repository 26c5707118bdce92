"""Example 13: the box of the radius and a larger one, in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run, readings
from deniable_reproduce.figures.figure_7_04 import BOX, TEXT, WRONG
from deniable_reproduce.figures.figure_7_04 import compute as boxes


def compute(run: Run) -> Result:
    """The same numbers as Figure 7.4."""
    return boxes(run)


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """Boxes and what they promise at epsilon 2."""
    return [
        {
            "box": name,
            "first": f"{low[0]:.3f} … {high[0]:.3f}",
            "second": f"{low[1]:.3f} … {high[1]:.3f}",
            "Pr under PM, ε = 2": result["probabilities"][name],
        }
        for name, (low, high) in result["boxes"].items()
    ]


ARTIFACT = Artifact(
    name="example-13",
    title="A box instead of a radius",
    source="Dissertation, Example 13",
    compute=compute,
    table=table,
    published=(Published("box of radius 0.2 begins at", 0.4, 0.005, TEXT, WRONG, variants=readings("begins"), given=BOX),),
    claims=(
        Claim(
            "a larger box gives a stronger guarantee",
            TEXT,
            lambda r: r["probabilities"]["around"] > r["probabilities"]["radius"],
        ),
    ),
)
