"""Table 4.1: the joint probabilities of Example 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable_reproduce.artifact import Artifact, Published, Result, Run
from deniable_reproduce.examples.example_3 import cells

PRINTED = {"T1 = 1, T2 = 1": 0.60, "T1 = 1, T2 = 0": 0.2, "T1 = 0, T2 = 1": 0.2, "T1 = 0, T2 = 0": 0.0}


def compute(run: Run) -> Result:
    """From the integer table with p = 4/5 and ρ = −1/4."""
    return {"numbers": cells()}


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """As printed: a row for each indicator of the second user."""
    numbers = result["numbers"]
    return [
        {"": f"T2 = {second}", "T1 = 1": numbers[f"T1 = 1, T2 = {second}"], "T1 = 0": numbers[f"T1 = 0, T2 = {second}"]}
        for second in (1, 0)
    ]


ARTIFACT = Artifact(
    name="table-4.1",
    title="Joint reporting probability in Example 3",
    source="Dissertation, Table 4.1",
    compute=compute,
    table=table,
    published=tuple(Published(name, value, 1e-12, "Table 4.1") for name, value in PRINTED.items()),
)
