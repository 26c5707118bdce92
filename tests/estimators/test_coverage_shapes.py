"""A sample of benchmarks/interval_coverage.py: intervals hold on shapes that smoothing bends, and for few reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable.core import make_mechanism
from deniable.estimators import mean, shape

from .numeric_runs import surveys

RUNS, HELD = 20, 12
"""20 surveys at 95 %: an answer holds in fewer than 12 of them once in 10**6 times."""


def beta(draws: Any, n: int) -> Any:
    return draws.beta(2, 5, n)


def one_end(draws: Any, n: int) -> Any:
    return np.zeros(n)


def three_spikes(draws: Any, n: int) -> Any:
    return draws.choice([0.2, 0.21, 0.8], n, p=[0.3, 0.3, 0.4])


@pytest.mark.parametrize(
    ("name", "epsilon", "n", "draw"),
    [
        ("sw", 4, 50, one_end),
        ("sw", 2, 5000, beta),
        pytest.param("window", 1, 200, three_spikes, marks=pytest.mark.slow),
        pytest.param("pm", 4, 50, three_spikes, marks=pytest.mark.slow),
    ],
)
def test_bins_and_means_hold_the_truth(name: str, epsilon: float, n: int, draw: Any) -> None:
    draws, mechanism, held = np.random.default_rng(1), make_mechanism(name, epsilon=epsilon), np.zeros(5)
    people = np.stack([draw(draws, n) for _ in range(RUNS)])
    for values, sums in zip(people, surveys(mechanism, people, f"{name} {epsilon} {n}"), strict=True):
        bins, average = shape(sums).bins(4), mean(sums)
        (low, high), (least, most) = bins.interval(), average.interval()
        truth = np.histogram(values, bins.edges)[0] / n
        held[:4] += (low <= truth + 1e-9) & (truth - 1e-9 <= high)
        held[4] += least - 1e-9 <= values.mean() <= most + 1e-9
    assert (held >= HELD).all()
