"""A sample of the table of benchmarks/coverage.py: few surveys on fixed streams, where normal intervals held too seldom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

RUNS, HELD = 24, 15
"""24 surveys at 95 %: an answer holds in fewer than 15 of them less than once in 10**6 times."""


@pytest.mark.parametrize(
    ("family", "mechanism", "shape", "n", "epsilon"),
    [
        pytest.param("trees", "oue", "zero-inflated", 200, 4.0, marks=pytest.mark.slow),
        ("attributes", "sample-one", "exponential", 50, 4.0),
        pytest.param("tables", "marginals", "zero-inflated", 50, 4.0, marks=pytest.mark.slow),
        ("rounds", "rappor", "all at one end", 50, 4.0),
        ("changes", "tree-of-changes", "three spikes", 50, 4.0),
        ("windows", "kept", "uniform", 50, 1.0),
        pytest.param("prefixes", "hierarchy", "all at one end", 50, 4.0, marks=pytest.mark.slow),
        pytest.param("keys", "pair-set", "three spikes", 50, 1.0, marks=pytest.mark.slow),
        pytest.param("wavelets", "randomized-response", "all at one end", 50, 4.0, marks=pytest.mark.slow),
        ("lengths", "counted", "exponential", 50, 4.0),
        pytest.param("models", "k-rr", "exponential", 50, 1.0, marks=pytest.mark.slow),
        ("joint", "bounded-pair", "three spikes", 50, 4.0),
        ("joint", "k-ary pair", "all at one end", 50, 1.0),
        pytest.param("categories", "extremal", "three spikes", 50, 4.0, marks=pytest.mark.slow),
        pytest.param("circle", "circular-window", "beta(2,5)", 50, 4.0, marks=pytest.mark.slow),
        pytest.param("means", "pm-c", "all at one end", 50, 4.0, marks=pytest.mark.slow),
        pytest.param("maps", "nearest-cells", "one point", 50, 4.0, marks=pytest.mark.slow),
        pytest.param("fine maps", "nearest-cells", "a corner", 50, 4.0, marks=pytest.mark.slow),
        pytest.param("line", "window", "three spikes", 50, 4.0, marks=pytest.mark.slow),
        pytest.param("assumed", "sw, multiples", "three spikes", 50, 4.0, marks=pytest.mark.slow),
        pytest.param("assumed", "sw, narrowest peak", "three spikes", 50, 4.0, marks=pytest.mark.slow),
    ],
)
def test_intervals_hold_the_truth(family: str, mechanism: str, shape: str, n: int, epsilon: float) -> None:
    if family == "windows":
        pytest.importorskip("msgspec", reason="the collector's packages are not installed")
    from intervals.answers import Cell  # type: ignore[import-not-found]
    from intervals.measuring import simulate  # type: ignore[import-not-found]

    from deniable.privacy import FixedKeystream

    counts: dict[str, Any] = {}
    simulate(Cell(family, mechanism, shape, n, epsilon, "these users"), range(RUNS), counts, FixedKeystream(7))
    assert counts
    for name, kept in counts.items():
        assert kept["asked"] == RUNS, name
        assert (np.asarray(kept["held"]) >= HELD).all(), name
