"""Charts of distributions: what is drawn is what was estimated."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.batch import randomize_many
from deniable.charts import COMPASS, cumulative_band, distribution_chart, quantile_chart, rose_chart, save
from deniable.core import make_mechanism
from deniable.errors import InvalidParameter
from deniable.estimators import distribution
from deniable.privacy import FixedKeystream

EDGES = [0.0, 1.0, 3.0, 4.0]
SHARES, TRUTH = [0.2, 0.5, 0.3], [0.25, 0.5, 0.25]
ENDS = [(0.1, 0.3), (0.4, 0.6), (0.2, 0.4)]


def data(chart: Any, field: str) -> list[list[dict[str, Any]]]:
    """The inline tables of a chart that have this field."""
    tables = chart.to_dict()["datasets"].values()
    return [rows for rows in tables if field in rows[0]]


def test_densities_have_the_shares_as_areas() -> None:
    tables = data(distribution_chart(EDGES, SHARES, ENDS, TRUTH, title="x"), "density")
    assert len(tables) == 2
    for rows, shares in zip(tables, (SHARES, TRUTH), strict=True):
        areas = [a["density"] * (b["value"] - a["value"]) for a, b in pairwise(rows)]
        assert areas == pytest.approx(shares)
        assert (rows[0]["value"], rows[-1]["value"]) == (0.0, 4.0)
    band = tables[0]
    assert [row["low"] * (b - a) for row, (a, b) in zip(band, pairwise(EDGES), strict=False)] == pytest.approx([0.1, 0.4, 0.2])


def test_quantiles_stand_on_the_curve_with_their_intervals() -> None:
    below = [0.0, 0.2, 0.7, 1.0]
    chart = quantile_chart(EDGES, below, [(y, y) for y in below], [(0.5, 2.2), (0.9, -1234.4)], [(2, 3), (-1300, -1200)], title="x")
    (marks,) = data(chart, "text")
    assert [(mark["value"], mark["low"], mark["high"]) for mark in marks] == [(2.2, 2, 3), (-1234.4, -1300, -1200)]
    assert [mark["text"] for mark in marks] == ["50 %: 2.2", "90 %: −1234"]


def test_a_rose_has_the_shares_as_radii_and_its_whiskers_in_the_middle_of_their_bins() -> None:
    ends = [(0.15, 0.25), (0.25, 0.35), (0.45, 0.5), (-0.1, 0.02)]
    chart = rose_chart([0.2, 0.3, 0.5, -0.02], ends, [0.25] * 4, marks=COMPASS, title="x")
    (wedges,) = data(chart, "far")
    unit = wedges[2]["far"] / 0.5
    assert [wedge["far"] / unit for wedge in wedges] == pytest.approx([0.2, 0.3, 0.5, 0.0])
    assert [(wedge["begin"], wedge["end"]) for wedge in wedges] == [(i * math.pi / 2, (i + 1) * math.pi / 2) for i in range(4)]
    (whiskers,) = data(chart, "x2")
    assert math.hypot(whiskers[1]["x2"], whiskers[1]["y2"]) / unit == pytest.approx(0.35)
    # The second bin reaches from a quarter to half around, clockwise from the top: its middle is at the lower right.
    assert whiskers[1]["x2"] == pytest.approx(-whiskers[1]["y2"])
    assert whiskers[1]["x2"] > 0
    assert math.hypot(whiskers[3]["x"], whiskers[3]["y"]) == 0
    assert max(math.hypot(row["x2"], row["y2"]) for row in whiskers) < 1


def test_a_band_is_the_cumulative_distribution_with_its_errors() -> None:
    mechanism = make_mechanism("sw", epsilon=3)
    estimate = distribution(randomize_many(mechanism, np.linspace(0, 1, 4000), FixedKeystream(5)), bins=16)
    points, below, band = cumulative_band(estimate)
    assert points == estimate.edges.tolist()
    assert below == pytest.approx(np.concatenate([[0.0], np.cumsum(estimate.value)]).tolist())
    low, high = estimate.shape.range_share(0, 5 / 16).interval()
    assert band[5] == pytest.approx((float(low), float(high)), abs=0.02)
    assert band[0] == (0.0, 0.0)
    assert band[-1] == (1.0, 1.0)
    wider = cumulative_band(estimate, 0.99)[2]
    assert all(a[0] <= b[0] and b[1] <= a[1] for a, b in zip(wider, band, strict=True))


@pytest.mark.parametrize("level", [0.95, 0.9])
def test_legends_name_the_level(tmp_path: Path, level: float) -> None:
    svg = save(distribution_chart(EDGES, SHARES, ENDS, TRUTH, title="x", level=level), tmp_path / "x.svg").read_text(
        encoding="utf-8"
    )
    assert f"estimate and {100 * level:g} % interval" in svg
    assert "truth" in svg
    assert "truth" not in save(distribution_chart(EDGES, SHARES, ENDS, title="x"), tmp_path / "y.svg").read_text(encoding="utf-8")


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(InvalidParameter):
        distribution_chart(EDGES[1:], SHARES, ENDS, title="x")
    with pytest.raises(InvalidParameter):
        rose_chart(SHARES, ENDS[1:], marks=COMPASS, title="x")
    with pytest.raises(InvalidParameter):
        quantile_chart(EDGES, SHARES, ENDS, [], [], title="x")
    with pytest.raises(InvalidParameter):
        quantile_chart([0, 1], [0, 1], [(0, 0), (1, 1)], [(0.5, 0.5)], [], title="x")
