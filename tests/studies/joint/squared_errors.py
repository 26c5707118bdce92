"""Simulated estimates beside the variance that is stated for them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def within_three_errors(estimates: np.ndarray[Any, Any], truth: float, variance: float) -> bool:
    """Is the measured squared error the stated variance, within three standard errors of its own?"""
    squares = (estimates - truth) ** 2
    return bool(abs(squares.mean() - variance) < 3 * squares.std(ddof=1) / math.sqrt(len(squares)))
