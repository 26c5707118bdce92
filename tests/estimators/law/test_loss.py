"""Sums over equally spaced points equal the sums written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter
from deniable.estimators.law.loss import as_loss, distance, distance_sums, power_sums

EXPONENTS = [0.5, 1.0, 1.5, 2.0, 3.0, 4.5]


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("count", [0, 1, 2, 63, 64, 65, 1000, 300_000])
@pytest.mark.parametrize("first", [0.0, 1e-7, 0.3])
def test_power_sums_equal_the_sum_written_out(exponent: float, count: int, first: float) -> None:
    step = 1e-6
    exact = float(((first + step * np.arange(count)) ** exponent).sum())
    found = power_sums(np.array([first]), np.array([step]), np.array([float(count)]), exponent)
    assert found[0] == pytest.approx(exact, rel=1e-10, abs=1e-300)


@given(
    first=st.floats(-2, 2),
    step=st.floats(1e-4, 0.2),
    count=st.integers(0, 300),
    exponent=st.sampled_from(EXPONENTS),
    circular=st.booleans(),
)
def test_distance_sums_equal_the_sum_written_out(first: float, step: float, count: int, exponent: float, circular: bool) -> None:
    exact = float((distance(first + step * np.arange(count, dtype=np.float64), circular) ** exponent).sum())
    found = distance_sums(np.array([[first]]), np.array([[step]]), np.array([[float(count)]]), exponent, circular)
    # Next to distance 0 a rounding error e of a position is e**0.5 for the exponent 0.5.
    assert found[0, 0] == pytest.approx(exact, rel=1e-9, abs=1e-6 if exponent < 1 else 1e-12)


def test_distance_goes_the_shorter_way_around() -> None:
    assert distance(np.array([0.9, -0.9, 0.5, 1.2]), True) == pytest.approx([0.1, 0.1, 0.5, 0.2])
    assert distance(np.array([0.9, -0.9]), False) == pytest.approx([0.9, 0.9])


@pytest.mark.parametrize("loss", ["cubic", 0, -1, True, float("nan"), None])
def test_unknown_losses_are_refused(loss: object) -> None:
    with pytest.raises(InvalidParameter, match="loss"):
        as_loss(loss)  # type: ignore[arg-type]
