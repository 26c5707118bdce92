"""Example 7: the numbers of Figure 5.6."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable_reproduce.artifact import Artifact, Result
from deniable_reproduce.figures.figure_5_06 import PLACES, PUBLISHED, compute


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """The arc and the densities for each direction."""
    numbers = result["numbers"]
    return [
        {
            "direction": name,
            "from (π)": numbers[f"arc begins at (π), {name}"],
            "to (π)": numbers[f"arc ends at (π), {name}"],
            "inside": numbers[f"density inside, {name}"],
            "outside": numbers[f"density outside, {name}"],
        }
        for name in PLACES
    ]


ARTIFACT = Artifact(
    name="example-7",
    title="The favoured arc at ε = 1",
    source="Dissertation, Example 7",
    compute=compute,
    table=table,
    published=PUBLISHED,
)
