"""Losses, and their sums over equally spaced points."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Union

import numpy as np

from deniable.batch import Floats
from deniable.core import as_fraction
from deniable.errors import InvalidParameter

LossFunction = Callable[[Floats, float], Any]
Loss = Union[str, int, float, LossFunction]
"""'absolute', 'squared', a number k for |y - x|**k, or a function loss(y_array, x)."""

EXPONENTS = {"absolute": 1.0, "squared": 2.0}
HEAD = 64
"""Points summed one by one before the Euler–Maclaurin formula takes over."""


def as_loss(loss: Loss) -> float | LossFunction:
    """The exponent of a power loss, or the function itself.

    >>> as_loss("squared"), as_loss(1.5)
    (2.0, 1.5)
    """
    if callable(loss):
        return loss
    if isinstance(loss, str):
        if loss not in EXPONENTS:
            raise InvalidParameter(f"loss must be 'absolute', 'squared', a positive number or a function, got {loss[:40]!r}")
        return EXPONENTS[loss]
    exponent = as_fraction(loss)
    if exponent is None or not 0 < exponent <= 100:
        raise InvalidParameter("a loss exponent must be a positive number up to 100")
    return float(exponent)


def distance(offset: Floats, circular: bool) -> Floats:
    """|y - x|, or the shorter way around a circle of period 1."""
    apart = np.abs(offset)
    if not circular:
        return apart
    apart = apart % 1.0
    return np.minimum(apart, 1 - apart)


def distance_sums(first: Floats, step: Floats, count: Floats, exponent: float, circular: bool) -> Floats:
    """The sum of distance(first + step * j)**exponent over j = 0 … count - 1, element by element (step >= 0)."""
    last = first + step * (count - 1)
    half = 0.5
    if circular:
        used = count > 0
        lowest = np.floor(np.min(first, where=used, initial=0.0) / half)
        highest = np.floor(np.max(last, where=used, initial=0.0) / half)
        edges = half * np.arange(lowest, highest + 2)
    else:
        edges = np.array([-np.inf, 0.0, np.inf])
    sums = np.zeros(np.broadcast_shapes(first.shape, step.shape, count.shape))
    below = np.zeros_like(sums)
    for left, right in pairwise(edges.tolist()):
        # How many of the points lie below `right`: the others belong to the pieces that follow.
        upto = count if right == np.inf else _count_below(first, step, count, right)
        inside = np.maximum(upto - below, 0)
        low, high = first + step * below, first + step * (upto - 1)
        rising = right == np.inf or (circular and round(left / half) % 2 == 0)
        nearest = low - (left if circular else 0.0) if rising else (right if circular else 0.0) - high
        sums += power_sums(np.maximum(nearest, 0.0), step, inside, exponent)
        below = np.maximum(upto, below)
    return sums


def _count_below(first: Floats, step: Floats, count: Floats, edge: float) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        moving = np.ceil((edge - first) / step)
    return np.clip(np.where(step > 0, moving, np.where(first < edge, count, 0.0)), 0.0, count)


def power_sums(first: Floats, step: Floats, count: Floats, exponent: float) -> Floats:
    """The sum of (first + step * j)**exponent over j = 0 … count - 1, for first, step >= 0.

    Exact series for exponents 1 and 2; otherwise the first points one by one and the rest by the
    Euler–Maclaurin midpoint formula, whose error is below 1e-11 of the sum.
    """
    middle = first + step * (count - 1) / 2
    if exponent == 1:
        return count * middle
    if exponent == 2:
        return count * (middle**2 + step**2 * (count**2 - 1) / 12)
    j = np.arange(HEAD).reshape((HEAD,) + (1,) * middle.ndim)
    head = np.where(j < count, (first + step * j) ** exponent, 0.0).sum(axis=0)
    rest = np.maximum(count - HEAD, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        left, right = first + step * (HEAD - 0.5), first + step * (count - 0.5)
        integral = (right ** (exponent + 1) - left ** (exponent + 1)) / ((exponent + 1) * step)
        slope = exponent * (right ** (exponent - 1) - left ** (exponent - 1))
        third = exponent * (exponent - 1) * (exponent - 2) * (right ** (exponent - 3) - left ** (exponent - 3))
        tail = integral - step * slope / 24 + 7 * step**3 * third / 5760
    tail = np.where(step > 0, tail, rest * first**exponent)
    return np.asarray(head + np.where(rest > 0, tail, 0.0))
