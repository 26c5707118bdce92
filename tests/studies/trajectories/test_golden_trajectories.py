"""Golden values of trajectories, recomputed: border distances by our integers, errors by our own walks."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.core import Epsilon, Interval, Rectangle, RectangleView, best_share_of_direction, make_mechanism
from deniable.privacy import FixedKeystream
from deniable.studies import Paths, perturb

PREFIXES = ("D25.", "TraCS")
"""The rows this file computes; tests/golden/untested.py names this file for them."""
ROWS = [
    row for row in json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text()) if row["id"].startswith(PREFIXES)
]
Row = dict[str, Any]
CELLS = 50
SCALE = 1 << 50


def border_distance(a: float, b: float, angle: float) -> float:
    """How far the border of the unit square is from (a, b), by the slab rule on a lattice of half cells."""
    view = RectangleView(CELLS, CELLS, (round(2 * CELLS * a), round(2 * CELLS * b)))
    across, up = round(SCALE * math.cos(angle)), round(SCALE * math.sin(angle))
    length, along = view.border(across, up)
    return length / along * math.hypot(across, up) / (2 * CELLS)


def printed_distance(a: float, b: float, angle: float) -> float:
    """The four cases of D.2.5, word for word, on the unit square; no distance where they divide by zero."""
    to_corners = [math.atan2(1 - b, 1 - a), math.atan2(1 - b, 0 - a), math.atan2(0 - b, 0 - a), math.atan2(0 - b, 1 - a)]
    ends = [to_corners[0], to_corners[1], to_corners[2] + 2 * math.pi, to_corners[3] + 2 * math.pi]
    cosine, sine = math.cos(angle), math.sin(angle)
    if angle < ends[0] or angle >= ends[3]:
        length, part = 1 - a, cosine
    elif angle < ends[1]:
        length, part = 1 - b, sine
    else:
        length, part = (a, -cosine) if angle < ends[2] else (b, -sine)
    return length / part if part else math.nan


def mismatches(row: Row) -> int:
    """The rows do not list their 34 directions: the eight of a compass and 26 equally spaced ones give all their counts."""
    angles = [k * math.pi / 4 for k in range(8)] + [(k + 0.5) * math.pi / 13 for k in range(26)]
    pairs = [(printed_distance(row["a"], row["b"], t), border_distance(row["a"], row["b"], t)) for t in angles]
    return sum(not abs(printed - ours) <= 1e-9 for printed, ours in pairs)


def average_error(name: str, epsilon: int, **options: Any) -> float:
    """On 4 * 10**5 random places in paths of 100; the noise of the mean is below 0.0004."""
    count = 400_000
    places = np.random.default_rng(epsilon).random((count, 2))
    mechanism = make_mechanism(name, epsilon=epsilon, **options)
    private = perturb(Paths(places, np.arange(0, count + 1, 100)), mechanism, keystream=FixedKeystream(epsilon))
    return float(np.hypot(*(private.places - places).T).mean())


def errors(row: Row) -> dict[str, float]:
    sizes = [Rectangle(Interval(cells=n), Interval(cells=n)) for n in (2, 128)]
    return {
        "tracs_d": average_error("tracs-d", row["eps"], split="published"),
        "tracs_c": average_error("tracs-c", row["eps"], loss_exponent=1),
        "tracs_c_L2p": average_error("tracs-c", row["eps"], loss_exponent=2),
        "disc": average_error("nearest-cells", row["eps"], domain=sizes[1]),
        # One favoured cell of four: randomized response on a grid of two by two.
        "krr": average_error("nearest-cells", row["eps"], domain=sizes[0], area="1/4"),
        "krr_k": 2,
    }


def split(row: Row) -> dict[str, float]:
    return {
        "ratio": float(best_share_of_direction(Epsilon(row["eps"]))),
        "AE": average_error("tracs-d", row["eps"]),
        "AE_heuristic": average_error("tracs-d", row["eps"], split="published"),
    }


COMPUTE: dict[str, Callable[[Row], Any]] = {
    "D25.R.": lambda row: border_distance(row["a"], row["b"], row["t_over_pi"] * math.pi),
    "D25.edge.": mismatches,
    "TraCS.AE.": errors,
    "TraCSD.split.": split,
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_golden_value(row: Row) -> None:
    found = [compute for prefix, compute in COMPUTE.items() if row["id"].startswith(prefix)]
    assert len(found) == 1
    value, wanted = found[0](row["inputs"]), row["value"]
    # Simulated on both sides: the row's own tolerance, as a distance.
    close = {"abs": row["tol"], "rel": 0} if "tol" in row else {"rel": 1e-9}
    assert value == pytest.approx(wanted, **close)


@pytest.mark.parametrize("epsilon", [4, 8, 10])
def test_no_other_share_is_much_better_than_the_automatic_one(epsilon: int) -> None:
    best = float(best_share_of_direction(Epsilon(epsilon)))
    ours = average_error("tracs-d", epsilon)
    for other in (best - 0.08, best - 0.04, best + 0.04, best + 0.06):
        assert average_error("tracs-d", epsilon, split=other) > 0.995 * ours
