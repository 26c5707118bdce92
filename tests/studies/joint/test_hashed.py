"""Joint answers inside optimized local hashing: law, variance, speed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from deniable.core import Hashing, Pair
from deniable.errors import InvalidParameter
from deniable.privacy import FixedKeystream
from deniable.studies import HashedPair, KaryPair
from deniable.studies.joint.sampling import shuffle

RUNS = 1500


def within_three_errors(estimates: np.ndarray[Any, Any], truth: float, variance: float) -> bool:
    """Is the measured squared error the stated variance, within three standard errors of its own?"""
    squares = (estimates - truth) ** 2
    return bool(abs(squares.mean() - variance) < 3 * squares.std(ddof=1) / math.sqrt(len(squares)))


def test_hashed_reports_gain_on_frequent_values_only() -> None:
    joint, stream = HashedPair(6, KaryPair.at(3, 1, "-1")), FixedKeystream(24)
    held = [90, 6, 1, 1, 1, 1]
    values = np.repeat(np.arange(6), held)
    plain = HashedPair(6, KaryPair.at(3, 1, 0))
    assert joint.variance(100, 90) < plain.variance(100, 90) * 0.9
    assert joint.variance(100, 1) == pytest.approx(plain.variance(100, 1))
    found = []
    for _ in range(RUNS):
        shuffle(values, stream)
        reports = joint.answer(values, stream)
        found.append([joint.estimate(reports, 0), joint.estimate(reports, 1)])
    for value, estimates in enumerate(np.array(found).T):
        assert within_three_errors(estimates, held[value], joint.variance(100, held[value]))


def test_hashed_answers_use_the_channels_hash() -> None:
    joint, values = HashedPair(50, KaryPair(3, Pair(1 << 40, 1, 1))), np.arange(50)
    reports = joint.answer(values, FixedKeystream(27))
    hashing = Hashing(50, 3)
    right = [hashing.bucket(int(seed), value) == bucket for value, (seed, bucket) in enumerate(reports)]
    assert all(right)  # lies have chance 2**-39
    for value in (0, 17, 49):
        support = sum(hashing.bucket(int(seed), value) == bucket for seed, bucket in reports)
        wanted = (support - 50 / 3) / (float(joint.buckets.truth) - 1 / 3)
        assert joint.estimate(reports, value) == pytest.approx(wanted)


@pytest.mark.parametrize("rows", [[[1, 3]], [[1, -1]], [[1 << 32, 0]], [[-1, 0]], [1, 2], []])
def test_hashed_reports_that_are_none_are_refused(rows: Any) -> None:
    joint = HashedPair.bounded(100, 1, 2)
    with pytest.raises(InvalidParameter, match="reports must be rows"):
        joint.estimate(np.array(rows), 3)
    with pytest.raises(InvalidParameter, match="value must be"):
        joint.estimate(np.array([[1, 2]]), 100)
