"""Where a function with one valley is least."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TypeVar

Real = TypeVar("Real", float, Decimal)


def golden_section(function: Callable[[Real], Real], low: Real, high: Real, steps: int) -> Real:
    """The place of the least value of a quasi-convex function, to about 0.62**steps of the interval.

    Decimals give every machine the same digits: use them where the place becomes part of a recipe.

    >>> round(golden_section(lambda x: (x - 0.3) ** 2, 0.0, 1.0, 40), 6)
    0.3
    """
    share: Real = type(low)((Decimal(5).sqrt() - 1) / 2)
    left, right = high - share * (high - low), low + share * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(steps):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - share * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + share * (high - low)
            at_right = function(right)
    return (low + high) / 2
