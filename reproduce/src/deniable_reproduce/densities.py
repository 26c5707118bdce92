"""The density of a report at given private values, as rows for a picture."""

from __future__ import annotations

import math
from typing import Any

from deniable.core import Mechanism
from deniable.estimators import density
from deniable_reproduce.pictures import Row, significant

BINS = 2048
"""Fine, so that a bin cut by a window's edge is not seen as a step of its own."""


def density_rows(mechanism: Mechanism, value: Any, series: str, bins: int = BINS) -> list[Row]:
    """Left edges where the density changes, and the right end; for a picture drawn in steps."""
    curve = density(mechanism, value, bins)
    places, heights = curve.values.tolist(), curve.heights.tolist()
    half = (places[1] - places[0]) / 2
    rows: list[Row] = []
    for place, height in zip(places, heights, strict=True):
        if not rows or not math.isclose(height, rows[-1]["y"], rel_tol=1e-6):
            rows.append({"x": significant(place - half), "y": significant(height), "series": series})
    rows.append({"x": significant(places[-1] + half), "y": rows[-1]["y"], "series": series})
    return rows


def step_rows(breaks: list[float], heights: list[float], series: str) -> list[Row]:
    """A density given by its pieces."""
    rows = [{"x": significant(at), "y": significant(height), "series": series} for at, height in zip(breaks, heights, strict=False)]
    return [*rows, {"x": significant(breaks[-1]), "y": significant(heights[-1]), "series": series}]


def window(mechanism: Mechanism, value: Any, bins: int = BINS) -> tuple[float, float, float, float]:
    """(left end, right end, density inside, density outside) of a two-level law on an interval, to a bin's width."""
    curve = density(mechanism, value, bins)
    high, low = float(curve.heights.max()), float(curve.heights.min())
    half = float(curve.values[1] - curve.values[0]) / 2
    inside = curve.values[curve.heights > (high + low) / 2]
    return float(inside[0]) - half, float(inside[-1]) + half, high, low
