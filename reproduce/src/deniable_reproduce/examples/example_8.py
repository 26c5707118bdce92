"""Example 8: the window with the least error at one value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from deniable.core import make_mechanism
from deniable.estimators import expected_error
from deniable.planning import best_window_at, window_error_at
from deniable_reproduce.artifact import Artifact, Published, Result, Run

EPSILON, X = 1.0, 0.2
CUT = 0.01


def compute(run: Run) -> Result:
    """The best window by a search over its length; the published one from its integer weights."""
    e = math.exp(EPSILON)
    length, height = best_window_at(X, 1, e)
    published = make_mechanism("ogpm", epsilon=EPSILON)
    numbers = {
        "p for x₀ = 0.2": height,
        "error at x₀": window_error_at(X, length, 1, e),
        "p for the worst case": math.exp(EPSILON / 2),
        "error at x₀ with that": expected_error(published, X),
    }
    return {"numbers": numbers}


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """The four numbers."""
    return [{"what": name, "ours": value} for name, value in result["numbers"].items()]


ARTIFACT = Artifact(
    name="example-8",
    title="The window with the least error at x = 0.2",
    source="Dissertation, Example 8",
    compute=compute,
    table=table,
    published=(
        Published("p for x₀ = 0.2", 1.54, CUT, "Example 8 (cut after two decimals)"),
        Published("error at x₀", 0.241, 0.001, "Example 8"),
        Published("p for the worst case", 1.64, CUT, "Example 8 (cut after two decimals)"),
        Published("error at x₀ with that", 0.243, 0.001, "Example 8"),
    ),
    note="Among windows. Over all mechanisms the question has no good answer: always reporting 0.2 has no error there.",
)
