"""Figure 5.7: distance and direction, each with its share of epsilon; the sum of errors over the share (Appendix C.2.6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from deniable.core import make_mechanism
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run, named, readings
from deniable_reproduce.circles import plates, sector
from deniable_reproduce.densities import window
from deniable_reproduce.pictures import Panel, curve, line_panels

TOTAL = 1 + 2 * math.pi
PLACES = ((0.5, 0.25 * math.pi), (0.9, 1.1 * math.pi))
TEXT = "Appendix C.2.6"
WHY = (
    "The printed epsilons add up to 7.01, but ε = 1 + 2π is 7.283: the pair cannot be a split of it. The sum of errors is flat "
    "around its least value, so any number near 1.3 looks optimal: see “excess at the printed ε₁”."
)


def squared_interval(epsilon: float) -> float:
    """MSE of OGPM at x = 0, its worst value (Appendix C.2.5)."""
    h = math.exp(epsilon / 2)
    s = 1 / (h + 1)
    return (h * s**3 + (1 - s**3) / h) / 3


def squared_circle(epsilon: float) -> float:
    """Theorem 9: the same in half turns, so π² times as much."""
    return math.pi**2 * squared_interval(epsilon)


def total_error(first: float) -> float:
    """The sum of the two worst squared errors when the distance gets `first`."""
    return squared_interval(first) + squared_circle(TOTAL - first)


def absolute_interval(epsilon: float) -> float:
    """The worst absolute error of OGPM, at an end."""
    h = math.exp(epsilon / 2)
    s = 1 / (h + 1)
    return (h * s**2 + (1 - s**2) / h) / 2


READINGS: Mapping[str, tuple[Callable[[float], float], float, float]] = {
    "7 in place of 1 + 2π": (squared_interval, math.pi**2, 7.0),
    "absolute errors": (absolute_interval, math.pi, TOTAL),
    "absolute errors, 7 in place of 1 + 2π": (absolute_interval, math.pi, 7.0),
    "absolute errors, a turn of length 2π": (absolute_interval, 2 * math.pi, TOTAL),
    "π in place of π²": (squared_interval, math.pi, TOTAL),
    "2π in place of π²": (squared_interval, 2 * math.pi, TOTAL),
    "both errors alike": (squared_interval, 1.0, TOTAL),
}
"""Which error, how much more the direction's counts, and what is divided."""


def other_split(error: Callable[[float], float], factor: float, total: float) -> tuple[float, float]:
    """The split that is best by another reading."""
    minimum = minimize_scalar(
        lambda first: error(first) + factor * error(total - first), bounds=(0, total), method="bounded", options={"xatol": 1e-9}
    )
    return round(float(minimum.x), 6), round(total - float(minimum.x), 6)


def compute(run: Run) -> Result:
    """The exact split by the mechanism's own search, and the favoured regions of two places."""
    polar = make_mechanism("polar", epsilon=TOTAL, published=True)
    first, second = (float(part) for part in polar.split)
    best = total_error(first)
    direction = polar.parts["direction"]
    distance = polar.parts["distance"]
    half = math.pi / (math.exp(float(direction.privacy) / 2) + 1)
    regions = []
    for radius, angle in PLACES:
        inner, outer, _, _ = window(distance, radius)
        regions.append(
            {
                "title": f"r = {radius:g}, φ = {angle / math.pi:g}π",
                "inner": inner,
                "outer": outer,
                "angle": angle,
                "half": half,
                "r": radius,
            }
        )
    shares = np.linspace(0, TOTAL, 121)
    numbers = {
        "ε₁ (distance)": first,
        "ε₂ (direction)": second,
        "least sum of errors": best,
        "excess at the printed ε₁": total_error(1.32) / best - 1,
        "sum of the printed epsilons": 1.32 + 5.69,
        "ε to divide, 1 + 2π": TOTAL,
        "sum of errors with ε₁ = 0": total_error(0.0),
        "sum of errors with ε₂ = 0": total_error(TOTAL),
    }
    tried = {label: other_split(*how) for label, how in READINGS.items()}
    return {
        "numbers": numbers,
        "variants": {
            "ε₁": {label: first for label, (first, _) in tried.items()},
            "ε₂": {**{label: second for label, (_, second) in tried.items()}, "what 1.32 leaves of 1 + 2π": TOTAL - 1.32},
        },
        "regions": regions,
        "curve": curve(shares, [total_error(float(x)) for x in shares], "sum of errors"),
    }


def draw(result: Result) -> Mapping[str, Any]:
    """The favoured regions, and the sum of errors over the split."""
    parts = [
        {
            "title": area["title"],
            "region": sector(area["angle"], area["half"], area["inner"], area["outer"]),
            "point": (area["r"] * math.cos(area["angle"]), area["r"] * math.sin(area["angle"])),
        }
        for area in result["regions"]
    ]
    return {
        "regions": plates(
            parts,
            title="OGPM for distance and direction, ε = 1 + 2π",
            subtitle="the shaded region is favoured in both coordinates; the dot is private",
        ),
        "split": line_panels(
            [Panel(result["curve"], x="ε₁, the distance's share (the direction gets the rest)", y="sum of worst squared errors")],
            ["sum of errors"],
            title="How to divide ε = 1 + 2π",
            subtitle=f"least at ε₁ = {result['numbers']['ε₁ (distance)']:.4f}",
            size=(520, 280),
        ),
    }


FLAT = named("excess at the printed ε₁", "sum of the printed epsilons", "ε to divide, 1 + 2π")
PUBLISHED = (
    Published("ε₁ (distance)", 1.32, 0.005, TEXT, WHY, variants=readings("ε₁"), evidence=FLAT, given=(1.3,)),
    Published("ε₂ (direction)", 5.69, 0.005, TEXT, WHY, variants=readings("ε₂"), evidence=FLAT, given=(1.3,)),
    Published("excess at the printed ε₁", 0.0, 0.001, TEXT + " (printed as optimal)"),
)
CLAIMS = (
    Claim(
        "without ε₁ the sum of errors is much smaller than without ε₂",
        TEXT,
        lambda result: result["numbers"]["sum of errors with ε₁ = 0"] < result["numbers"]["sum of errors with ε₂ = 0"] / 5,
    ),
)

ARTIFACT = Artifact(
    name="figure-5.7",
    title="OGPM for 2-D polar coordinates, ε = 1 + 2π",
    source="Dissertation, Figure 5.7 and Appendix C.2.6",
    compute=compute,
    draw=draw,
    published=PUBLISHED,
    claims=CLAIMS,
)
