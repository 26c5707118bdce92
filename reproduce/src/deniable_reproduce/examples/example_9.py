"""Example 9: the split of epsilon between distance and direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable_reproduce.artifact import Artifact, Result
from deniable_reproduce.figures.figure_5_07 import CLAIMS, PUBLISHED, compute


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """Every number of it."""
    return [{"what": name, "ours": value} for name, value in result["numbers"].items()]


ARTIFACT = Artifact(
    name="example-9",
    title="Distance and direction with ε = 1 + 2π",
    source="Dissertation, Example 9 and Appendix C.2.6",
    compute=compute,
    table=table,
    published=PUBLISHED,
    claims=CLAIMS,
)
