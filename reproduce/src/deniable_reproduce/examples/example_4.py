"""Example 4: more pieces do not help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable_reproduce.artifact import Artifact, Claim, Result
from deniable_reproduce.figures.figure_5_02 import PIECES, compute


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """What the solver found for each number of pieces."""
    numbers = result["numbers"]
    return [
        {
            "pieces allowed": count,
            "pieces needed": int(numbers[f"best of {count} pieces: pieces after merging"]),
            "error at x = 0.3": numbers[f"best of {count} pieces: error"],
        }
        for count in PIECES
    ]


ARTIFACT = Artifact(
    name="example-4",
    title="The best densities of 3, 4 and 5 pieces are one",
    source="Dissertation, Example 4",
    compute=compute,
    table=table,
    claims=(
        Claim(
            "4 and 5 pieces merge into 3",
            "Example 4",
            lambda result: all(result["numbers"][f"best of {count} pieces: pieces after merging"] == 3 for count in PIECES),
        ),
    ),
    note="Three pieces are enough for every ε and every loss that grows with the distance: what the source tests is a theorem.",
)
