"""Example 12: which mechanism is best for which radius."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable_reproduce.artifact import Artifact, Claim, Result, Run
from deniable_reproduce.figures.figure_7_03 import at_points, best, compute, value

NAMES = {"laplace": "Laplace", "ogpm": "PM", "redesigned-sw": "SW", "exponential": "Exponential", "k-rr": "k-RR"}


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """Who is best at every epsilon and radius."""
    return [
        {
            "ε": epsilon,
            "θ": theta,
            "best": NAMES[best(result, epsilon, theta)],
            "probability": value(result, best(result, epsilon, theta), epsilon, theta),
        }
        for epsilon in (2, 4, 6)
        for theta in (0.1, 0.2, 0.3, 0.4, 0.5)
    ]


def _compute(run: Run) -> Result:
    return compute(run)


ARTIFACT = Artifact(
    name="example-12",
    title="Which mechanism is best for which radius",
    source="Dissertation, Example 12",
    compute=_compute,
    table=table,
    claims=(
        Claim(
            "at ε = 2 and θ = 0.1 SW is best",
            "Example 12",
            lambda r: best(r, 2, 0.1) == "redesigned-sw",
            evidence=lambda r: at_points(r, (2, 0.1)),
        ),
        Claim(
            "from ε = 2 and θ = 0.2 on PM is best",
            "Section 7.3.3",
            lambda r: all(
                value(r, "ogpm", epsilon, theta) >= value(r, other, epsilon, theta) - 1e-4
                for epsilon in (2, 4, 6)
                for theta in (0.2, 0.3, 0.4)
                for other in NAMES
            ),
            evidence=lambda r: at_points(r, (2, 0.2), (6, 0.4)),
        ),
    ),
)
