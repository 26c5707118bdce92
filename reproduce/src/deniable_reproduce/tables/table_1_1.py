"""Table 1.1: privacy-enhancing techniques, as text, and where this project stands in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable.core import built_in_names, make_mechanism
from deniable_reproduce.artifact import Artifact, Claim, Result, Run, named

ROWS = (
    ("trusted", "k-anonymity", "syntactic", "medium", "high"),
    ("trusted", "central DP", "semantic (ε-DP)", "simple", "depends on ε"),
    ("untrusted", "homomorphic encryption", "semantic (IND-CPA)", "complex", "high"),
    ("untrusted", "secure multi-party computation", "semantic (real/ideal)", "complex", "high"),
    ("untrusted", "local DP", "semantic (ε-LDP)", "simple", "depends on ε"),
)
COLUMNS = ("collector", "technique", "guarantee", "complexity", "utility")


def compute(run: Run) -> Result:
    """The table's words; and for local DP, what one report costs in this package."""
    simple = make_mechanism("randomized-response", epsilon=1)
    return {
        "numbers": {
            "mechanisms of this package": len(built_in_names()),
            "ε of randomized response": 1.0,
            "the same from its integer weights": simple.certificate().epsilon_exact,
        },
        "rows": [dict(zip(COLUMNS, row, strict=True)) for row in ROWS],
        "certified": simple.certificate().holds,
    }


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """The printed comparison."""
    rows: list[Mapping[str, Any]] = result["rows"]
    return rows


ARTIFACT = Artifact(
    name="table-1.1",
    title="Privacy-enhancing techniques compared",
    source="Dissertation, Table 1.1 (text, nothing to compute)",
    compute=compute,
    table=table,
    claims=(
        Claim(
            "local DP gives a semantic guarantee that can be checked without trusting the collector (here: of randomized response)",
            "Table 1.1",
            lambda result: bool(result["certified"]),
            evidence=named("ε of randomized response", "the same from its integer weights"),
        ),
    ),
)
