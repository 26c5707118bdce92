"""Example 6: the numbers of Figure 5.4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable_reproduce.artifact import Artifact, Result
from deniable_reproduce.figures.figure_5_04 import PUBLISHED, compute


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """Density and window at each value."""
    numbers = result["numbers"]
    return [
        {"x": x, "p": numbers[f"p at x = {x}"], "from": numbers[f"left end at x = {x}"], "to": numbers[f"right end at x = {x}"]}
        for x in ("0", "0.5")
    ]


ARTIFACT = Artifact(
    name="example-6",
    title="OGPM's density and window at ε = 1",
    source="Dissertation, Example 6",
    compute=compute,
    table=table,
    published=PUBLISHED,
)
