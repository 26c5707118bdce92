"""Everything is fitted finely and reported coarsely: what is asked for in parts and added up is what is asked for at once."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from deniable.batch import accumulator_for, randomize_many
from deniable.core import Circle, Interval, make_mechanism
from deniable.estimators import distribution, shape
from deniable.privacy import FixedKeystream
from deniable.studies import density_map

METHODS: tuple[Any, ...] = ("penalized", "ems", "em")


def sums_of(name: str, epsilon: float, values: Any, domain: Any = None) -> Any:
    extra = {} if domain is None else {"domain": domain}
    mechanism = make_mechanism(name, epsilon=epsilon, **extra)
    return accumulator_for(mechanism).add(randomize_many(mechanism, values, FixedKeystream(f"fine {name}")))


def two_peaks(n: int) -> Any:
    draws = np.random.default_rng(5)
    return np.clip(np.where(draws.random(n) < 0.5, draws.normal(0.25, 0.05, n), draws.normal(0.7, 0.08, n)), 0, 1)


CASES = {
    "square wave": sums_of("sw", 1, two_peaks(3000)),
    "sliding window": sums_of("window", 2, two_peaks(3000)),
    "few cells": sums_of("sw", 2, two_peaks(3000), Interval(0, 1, cells=96)),
    "circle": sums_of("circular-window", 2, two_peaks(3000) * 0.999, Circle(1)),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", CASES)
def test_bins_refined_then_summed_equal_bins_asked_for(case: str, method: Any) -> None:
    fine = distribution(CASES[case], bins=48, method=method).value
    one = shape(CASES[case], method=method)  # fitted anew
    for bins in (24, 16, 12, 6, 3, 1):
        asked = one.bins(bins).value
        assert np.allclose(fine.reshape(bins, -1).sum(axis=1), asked, atol=1e-12)


@pytest.mark.parametrize("case", ["square wave", "circle"])
def test_ranges_refined_then_summed_equal_the_range_asked_for(case: str) -> None:
    cuts = [0.1, 0.17, 0.8]
    one = shape(CASES[case])
    parts = sum(float(one.range_share(a, b).value) for a, b in pairwise(cuts))
    assert parts == pytest.approx(float(one.range_share(cuts[0], cuts[-1]).value), abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_up_to_a_quantile_lies_its_share_of_the_fine_bins(method: Any) -> None:
    one = shape(CASES["square wave"], method=method)
    if method == "penalized":
        assert float(one.quantiles([0.5]).value[0]) == float(one.reaching(np.array([0.5]))[0])
    fine, edges = one.bins(1024).value, one.bins(1024).edges
    for level in (0.1, 0.37, 0.9):
        place = float(one.reaching(np.array([level]))[0])
        part = np.clip((place - edges[:-1]) / np.diff(edges), 0, 1)
        assert float(part @ fine) == pytest.approx(level, abs=1e-6)


def test_maps_refined_then_summed_equal_the_map_asked_for() -> None:
    places = np.column_stack([two_peaks(2000), np.random.default_rng(6).beta(2, 5, 2000)])
    mechanism = make_mechanism("nearest-cells", epsilon=3)
    reports = randomize_many(mechanism, places, FixedKeystream("fine map"))
    fine = density_map(reports, cells=16, most_iterations=40).value.reshape(16, 16)
    for cells in (8, 4, 2):
        asked = density_map(reports, cells=cells, most_iterations=40).value
        summed = fine.reshape(cells, 16 // cells, cells, 16 // cells).sum(axis=(1, 3)).reshape(-1)
        assert np.allclose(summed, asked, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_asking_for_fewer_bins_never_makes_a_share_worse(method: Any) -> None:
    """The error of a wide bin's share is the sum of the errors of the narrow ones within: no more than they have together."""
    values = two_peaks(3000)
    fine, coarse = (distribution(CASES["square wave"], bins=bins, method=method).value for bins in (64, 8))
    truth = np.histogram(values, 64, (0, 1))[0] / len(values)
    worse = np.abs(fine - truth).reshape(8, -1).sum(axis=1) + 1e-12
    assert bool(np.all(np.abs(coarse - truth.reshape(8, -1).sum(axis=1)) <= worse))
