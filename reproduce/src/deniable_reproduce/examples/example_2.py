"""Example 2: two users, each with randomized response."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from deniable.core import Pair
from deniable.studies import account, variance_joint
from deniable_reproduce.artifact import Artifact, Published, Result, Run

P, USERS, ONES = "4/5", 2, 2


def compute(run: Run) -> Result:
    """Privacy of one answer, and the variance of two answers counted, by the exact formulas."""
    alone = Pair.exactly(P, 0)
    numbers = {
        "ln(p/q)": account(alone, USERS, 0).epsilon_marginal,
        "variance of the count": float(variance_joint(alone, USERS, ONES)),
    }
    return {"numbers": numbers}


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """The two numbers."""
    return [{"what": name, "ours": value} for name, value in result["numbers"].items()]


ARTIFACT = Artifact(
    name="example-2",
    title="Two users with independent randomized response",
    source="Dissertation, Example 2",
    compute=compute,
    table=table,
    published=(
        Published("ln(p/q)", math.log(4), 1e-9, "Example 2, ln 4"),
        Published("variance of the count", 0.89, 0.005, "Example 2"),
    ),
)
