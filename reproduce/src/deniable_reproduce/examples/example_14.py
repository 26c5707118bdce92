"""Example 14: the circle between the classes of a quadratic discriminant."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import NotSupported
from deniable.studies import Quadratic, QuadraticRegion
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run
from deniable_reproduce.pictures import significant

TEXT = "Appendix E.2.1, Example 14"
LEAD = Quadratic(-0.25 * np.eye(2), np.array([-0.5, -0.5]), 0.5 + math.log(2))
"""The first class's discriminant less the second's, as printed."""


def boundary_circle(face: Quadratic) -> tuple[NDArray[np.float64], float]:
    """Centre and radius of a boundary whose quadratic part is a multiple of the identity.

    >>> face = Quadratic(np.eye(2) * -0.25, np.array([-0.5, -0.5]), 0.5 + np.log(2))
    >>> round(boundary_circle(face)[1], 9)
    2.602419782
    """
    a = float(face.matrix[0, 0])
    if a == 0 or not np.allclose(face.matrix, a * np.eye(face.linear.size), rtol=1e-12, atol=0):
        raise NotSupported("the boundary is not a circle: the quadratic part is not a multiple of the identity")
    centre = -face.linear / (2 * a)
    square = float(centre @ centre) - face.constant / a
    if square < 0:
        raise NotSupported("there is no boundary: the lead never changes its sign")
    return centre, math.sqrt(square)


def compute(run: Run) -> Result:
    """Centre and radius of the boundary, and how far (0.5, 0.5) is from it in two norms."""
    centre, radius = boundary_circle(LEAD)
    flat = abs(radius - math.hypot(1.5, 1.5))
    numbers = {
        "centre, first": float(centre[0]),
        "centre, second": float(centre[1]),
        "radius of the boundary": radius,
        "l2 radius at (0.5, 0.5)": flat,
        "l∞ radius at (0.5, 0.5)": QuadraticRegion((LEAD,)).radius([0.5, 0.5]),
        "printed lower bound of the l∞ radius": flat / math.sqrt(2),
    }
    return {"numbers": {name: significant(value, 9) for name, value in numbers.items()}}


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """What the example computes."""
    return [{"what": name, "value": value} for name, value in result["numbers"].items()]


ARTIFACT = Artifact(
    name="example-14",
    title="The robustness radius of a quadratic discriminant",
    source="Dissertation, Example 14",
    compute=compute,
    table=table,
    published=(
        Published("centre, first", -1, 1e-9, TEXT),
        Published("centre, second", -1, 1e-9, TEXT),
        Published("radius of the boundary", 2 * math.sqrt(math.log(2) + 1), 1e-8, TEXT),
        Published("l2 radius at (0.5, 0.5)", abs(2 * math.sqrt(math.log(2) + 1) - math.hypot(1.5, 1.5)), 1e-8, TEXT),
    ),
    claims=(
        Claim(
            "θ/√2 is a lower bound of the l∞ radius",
            TEXT,
            lambda r: r["numbers"]["printed lower bound of the l∞ radius"] <= r["numbers"]["l∞ radius at (0.5, 0.5)"] + 1e-9,
        ),
    ),
    note="At (0.5, 0.5) the nearest boundary point lies on the diagonal, so the lower bound is the radius itself.",
)
