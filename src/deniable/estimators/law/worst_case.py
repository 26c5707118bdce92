"""The largest expected error over all private values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deniable.batch import Floats, Integers
from deniable.core import Binary, Mechanism
from deniable.estimators.law.error import FEW_INPUTS, errors_at
from deniable.estimators.law.law import Law
from deniable.estimators.law.loss import Loss, as_loss

GRID = 1025
REFINED = 65


class WorstCase(NamedTuple):
    """The largest error (a limit, at the upper end of a cell), and a private value that has it."""

    error: float
    at: float


def worst_case(mechanism: Mechanism, loss: Loss = "absolute") -> WorstCase:
    """The largest expected error of any private value, and where it is.

    Every cell is tried at both its ends, since the error is measured from the true value, and within when
    the loss is not convex. On fine lattices a grid of cells is tried first, then the neighbourhood of the worst.

    >>> from deniable.core import OGPM
    >>> worst = worst_case(OGPM(epsilon=1))
    >>> round(worst.error, 5), worst.at
    (0.37754, 0.0)
    """
    law = Law(mechanism)
    if isinstance(mechanism.domain, Binary):
        errors = errors_at(law, np.arange(2), np.arange(2.0), loss)
        return WorstCase(float(errors.max()), float(errors.argmax()))
    last = law.grid.last
    dense = not law.is_short or callable(loss)
    # A written-out row costs as much as it is long.
    budget = max(9, (1 << 26) // law.channel.outputs) if dense else 1 << 30
    few = last + 1 <= min(FEW_INPUTS, budget)
    tried = np.arange(last + 1) if few else _spread(0, last, min(GRID, budget))
    errors, places = _within_cells(law, tried, loss)
    while tried.size and tried.size < last + 1:
        gaps = np.diff(tried)
        if gaps.size == 0 or gaps.max() <= 1:
            break
        best = int(errors.argmax())
        around = _spread(int(tried[max(best - 1, 0)]), int(tried[min(best + 1, tried.size - 1)]), min(REFINED, budget))
        finer, finer_places = _within_cells(law, around, loss)
        if finer.max() >= errors.max():
            errors, places, tried = finer, finer_places, around
        else:
            break
    best = int(errors.argmax())
    return WorstCase(float(errors[best]), _value_in(law, int(tried[best]), float(places[best])))


def _spread(first: int, last: int, count: int) -> Integers:
    return np.unique(np.linspace(first, last, count).round().astype(np.int64))


def _within_cells(law: Law, indices: Integers, loss: Loss) -> tuple[Floats, Floats]:
    """The largest error within each cell, and the position where it is."""
    grid = law.grid
    left = np.clip((indices - float(grid.shift)) / grid.steps, 0, 1)
    right = np.clip((indices + 1 - float(grid.shift)) / grid.steps, 0, 1)
    kind = as_loss(loss)
    convex = not callable(kind) and kind >= 1 and not law.circular
    shares = (0.0, 1.0) if convex else (0.0, 0.25, 0.5, 0.75, 1.0)
    places = np.array([left + share * (right - left) for share in shares])
    errors = np.array([errors_at(law, indices, place, loss) for place in places])
    best = errors.argmax(axis=0)[None]
    return np.take_along_axis(errors, best, 0)[0], np.take_along_axis(places, best, 0)[0]


def _value_in(law: Law, index: int, position: float) -> float:
    """A position in the domain's units; the upper end of a cell belongs to the next one, so a hair below it."""
    value = law.value(position)
    low, high = float(law.low), float(law.low + law.width)
    for candidate in (value, np.nextafter(value, low), np.nextafter(value, high)):
        if low <= candidate <= high and law.mechanism.encode(float(candidate)) == index:
            return float(candidate)
    return min(max(value, low), high)
