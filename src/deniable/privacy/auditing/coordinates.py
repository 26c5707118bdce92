"""Is every coordinate of a report randomised? The last one has been forgotten before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.privacy.auditing.bounds import epsilon_below
from deniable.privacy.auditing.targets import Target, draw_same

ERROR = 1e-4


@dataclass(frozen=True)
class Coordinates:
    """For every coordinate: what it alone shows of epsilon, and from how many inputs it never varied."""

    epsilon: float
    error: float
    lower: NDArray[np.float64]
    frozen: NDArray[np.int64]
    reports: int

    @property
    def violations(self) -> list[int]:
        """Coordinates that alone break the claim; a correct report has one with probability at most `error`."""
        return np.flatnonzero(self.lower > self.epsilon).tolist()

    @property
    def words(self) -> str:
        """The finding in a sentence."""
        if self.violations:
            shown = ", ".join(map(str, self.violations[:8]))
            return f"VIOLATED by coordinate {shown} of {len(self.lower)} alone: epsilon is at least {self.lower.max():.4f}"
        still = np.flatnonzero(self.frozen).tolist()
        note = f"; coordinate {', '.join(map(str, still[:8]))} never varied for some input" if still else ""
        return f"no coordinate alone shows more than epsilon {self.epsilon:g}{note}"


def coordinate_test(
    target: Target, inputs: Sequence[Any], *, epsilon: float, samples: int = 200_000, error: float = ERROR
) -> Coordinates:
    """Look at every coordinate of vector reports by itself, for every pair of inputs.

    Give the inputs that own coordinates: for unary reports the first, some others and the last value. Values of a
    coordinate are compared one by one, or above and below their middle when there are more than eight.
    """
    chosen = list(inputs)
    runs = [draw_same(target, value, samples // max(len(chosen), 1)).reports.numbers() for value in chosen]
    if len(runs) < 2 or any(run.ndim != 2 or len(run) < 100 for run in runs):
        raise InvalidParameter("the test needs at least two inputs and reports that are rows of numbers")
    columns = runs[0].shape[1]
    levels = [_levels(np.concatenate([run[:1000, column] for run in runs])) for column in range(columns)]
    tests = sum(len(level) for level in levels) * len(runs) * (len(runs) - 1) * 2
    lower = np.full(columns, -np.inf)
    frozen = np.zeros(columns, np.int64)
    for column, level in enumerate(levels):
        counts = np.array([[np.count_nonzero(run[:, column] <= cut) for cut in level] for run in runs])
        sizes = np.array([len(run) for run in runs])[:, None]
        frozen[column] = sum(bool(np.all(run[:, column] == run[0, column])) for run in runs)
        # Up to a cut and above it: for two values these are the values themselves.
        for hits in (counts, sizes - counts):
            for i, j in permutations(range(len(runs)), 2):
                bounds = epsilon_below(hits[i], sizes[i], hits[j], sizes[j], error / tests)
                lower[column] = max(lower[column], float(bounds.max()))
    return Coordinates(epsilon, error, lower, frozen, sum(map(len, runs)))


def _levels(seen: NDArray[Any]) -> NDArray[Any]:
    """Where to cut a coordinate: between its values, or at its middle."""
    values = np.unique(seen)
    if len(values) > 8:
        return np.quantile(seen.astype(np.float64), [0.125, 0.25, 0.5, 0.75, 0.875])
    return values[:-1] if len(values) > 1 else values
