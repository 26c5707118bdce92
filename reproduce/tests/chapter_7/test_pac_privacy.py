"""The two relaxations of chapter 7: what they promise, and what they do to rho."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.errors import InvalidParameter, NotSupported
from deniable.studies import Quadratic
from deniable_reproduce.examples.example_14 import LEAD, boundary_circle
from deniable_reproduce.pac_privacy import combined_delta, gaussian_noises, indicator_disclosure, indicator_utility


def test_the_indicator_adds_its_share_of_raw_records() -> None:
    assert indicator_utility(0.7, 0.1) == pytest.approx(0.1 + 0.9 * 0.7)
    assert indicator_disclosure(0.1, 2) == pytest.approx(0.19) == combined_delta(0.1, 2)


def test_two_gaussians_keep_one_promise_and_the_third_another() -> None:
    noises = {noise.rule: noise for noise in gaussian_noises(1, 0.1)}
    assert noises["analytic"].sigma < noises["exact"].sigma < noises["published"].sigma
    assert noises["published"].promise == noises["exact"].promise != noises["analytic"].promise
    with pytest.raises(InvalidParameter, match="delta"):
        gaussian_noises(1, 0)


def test_the_boundary_of_example_14_is_a_circle() -> None:
    centre, radius = boundary_circle(LEAD)
    assert centre == pytest.approx([-1, -1])
    assert radius == pytest.approx(2 * np.sqrt(np.log(2) + 1), abs=1e-12)
    with pytest.raises(NotSupported, match="not a circle"):
        boundary_circle(Quadratic(np.diag([1.0, 2.0]), np.zeros(2), -1.0))
