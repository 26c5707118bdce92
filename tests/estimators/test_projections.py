"""Projections: possible values, the way back, and the published rules by hand."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deniable.batch import randomize_many
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import Estimate, counts, shares, simplex
from deniable.estimators.projections import PROJECTIONS, project
from deniable.privacy import FixedKeystream

from .simulated import mechanism_of

VALUES = np.array([0.62, 0.31, 0.2, 0.05, -0.02, -0.16])
ERRORS = np.full(6, 0.1)


def norm_sub(values: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    """As the definition says: the one shift after which the non-negative part has the right sum, by bisection."""
    low, high = values.min() - total, values.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(values - middle, 0).sum() > total else (low, middle)
    return np.asarray(np.maximum(values - low, 0))


def test_every_rule_by_hand() -> None:
    assert project("non-negative", VALUES, 1, ERRORS).tolist() == [0.62, 0.31, 0.2, 0.05, 0, 0]
    # 0.62 + 0.31 = 0.93 fits, 0.2 more does not; what follows goes too.
    assert project("norm-cut", VALUES, 1, ERRORS).tolist() == [0.62, 0.31, 0, 0, 0, 0]
    # 2 of 6 may pass by chance: above 0.43 standard errors.
    threshold = NormalDist().inv_cdf(1 - 2 / 6) * 0.1
    assert 0.04 < threshold < 0.05
    assert project("base-cut", VALUES, 1, ERRORS).tolist() == [0.62, 0.31, 0.2, 0.05, 0, 0]
    assert project("base-cut", VALUES, 1, 2 * ERRORS).tolist() == [0.62, 0.31, 0.2, 0, 0, 0]
    # 1.18 - 1 shared by the four positive ones.
    assert project("norm-sub", VALUES, 1, ERRORS) == pytest.approx([0.575, 0.265, 0.155, 0.005, 0, 0])
    assert project("simplex", VALUES, 1, ERRORS) == pytest.approx([0.575, 0.265, 0.155, 0.005, 0, 0])
    assert project("norm-cut", np.array([1.3, 0.2]), 1, ERRORS[:2]).tolist() == [1.0, 0.0]


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=30), st.sampled_from([1.0, 0.25, 40.0]))
def test_the_simplex_projection_is_the_nearest_point(values: list[float], total: float) -> None:
    at = np.array(values)
    found = simplex(at, total)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total)
    # Nearest: the way on from it makes no acute angle with the way to any corner.
    corners = total * np.eye(len(at)) - found
    assert (corners @ (at - found)).max() <= 1e-9 * max(1, total) ** 2
    assert found == pytest.approx(norm_sub(at, total), abs=1e-9)


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=30), st.sampled_from(sorted(PROJECTIONS)))
def test_projected_values_are_possible_and_stay_so(values: list[float], name: str) -> None:
    at, errors = np.array(values), np.full(len(values), 0.3)
    found = project(name, at, 1.0, errors)
    assert found.min() >= 0
    assert project(name, found, 1.0, errors) == pytest.approx(found)
    if name not in ("non-negative", "base-cut"):
        assert found.sum() <= 1 + 1e-9


@pytest.mark.parametrize("name", PROJECTIONS)
def test_a_projected_estimate_keeps_its_parent_and_its_intervals(name: str) -> None:
    mechanism = mechanism_of("oue", 20, 1)
    reports = randomize_many(mechanism, np.arange(400) % 7, FixedKeystream(name))
    for unbiased, top in ((shares(reports), 1), (counts(reports), 400)):
        assert unbiased.value.min() < 0
        projected = unbiased.projected(name)
        assert projected.parent is unbiased
        assert projected.unbiased is unbiased
        assert projected.value.min() >= 0
        assert name in projected.method
        assert "intervals" in projected.method
        for ours, theirs in zip(projected.interval(), unbiased.interval(), strict=True):
            assert ours.tolist() == np.clip(theirs, 0, top).tolist()
        # Projecting again starts from the unbiased values, so nothing is biased twice.
        assert projected.projected("simplex").value.tolist() == unbiased.projected("simplex").value.tolist()
        assert projected.projected("simplex").parent is unbiased


def test_projection_lowers_the_error_of_many_rare_values() -> None:
    mechanism = mechanism_of("oue", 200, 1)
    people = np.minimum(np.arange(20_000) % 400, 3)
    true = np.bincount(people, minlength=200) / 20_000
    estimate = shares(randomize_many(mechanism, people, FixedKeystream("rare")))
    error = ((estimate.value - true) ** 2).sum()
    for name in ("norm-sub", "simplex", "norm-cut", "base-cut"):
        assert ((estimate.projected(name).value - true) ** 2).sum() < error / 3


def test_unknown_projections_and_values_without_a_sum_are_refused() -> None:
    estimate = counts(randomize_many(mechanism_of("k-rr", 3, 1), [1, 2], FixedKeystream(1)))
    with pytest.raises(InvalidParameter, match="norm-sub"):
        estimate.projected("softmax")
    number = Estimate(value=np.array(0.5), variance=np.array(0.1), n=4, target="population", method="mean")
    with pytest.raises(NotSupported, match="counts and shares"):
        number.projected("simplex")
