"""Mean, bias and variance of one report's number."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core import Mechanism
from deniable.errors import NotSupported
from deniable.estimators.law.law import Law


def _moments(mechanism: Mechanism, value: Any) -> tuple[Law, float, float, float]:
    law = Law(mechanism)
    if law.circular:
        raise NotSupported("a direction has no mean on a line; expected_error(mechanism, value, loss) measures around the circle")
    index, place = law.place(value)
    mean_, variance_ = law.moments(np.array([index]))
    return law, float(mean_[0]), float(variance_[0]), float(place)


def report_mean(mechanism: Mechanism, value: Any) -> float:
    """The mean of the decoded output at a private value, in the domain's units."""
    law, average, _, _ = _moments(mechanism, value)
    return law.value(average)


def report_bias(mechanism: Mechanism, value: Any) -> float:
    """mean - value: zero, up to the lattice, for unbiased mechanisms."""
    law, average, _, place = _moments(mechanism, value)
    return float(law.width) * (average - place)


def report_variance(mechanism: Mechanism, value: Any) -> float:
    """The variance of the decoded output at a private value, in squared units of the domain.

    >>> from deniable.core import RandomizedResponse
    >>> round(report_variance(RandomizedResponse(epsilon=1), 1), 6)   # p (1 - p) with p = e / (1 + e)
    0.196612
    """
    law, _, spread, _ = _moments(mechanism, value)
    return float(law.width) ** 2 * spread
