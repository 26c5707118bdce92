"""Many convex problems of one kind at once: a spread plus a rounded maximum, made small by L-BFGS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Flags, Floats

Numbers = NDArray[np.floating[Any]]

REMEMBERED = 12
"""Steps whose changes of slope are remembered."""
HALVINGS = 12
LOOK = 12
"""Steps after which it is looked at which questions still get better."""
LEAST_GAIN = 4e-4
"""By how much, within so many steps, for it to be worth going on."""
ENOUGH = 1e-4
"""Of what the slope promises, a step has to bring so much."""
LEAST_SPREAD = 1e-3
"""Spreads are rounded, or 0 would be a corner."""


def descent(
    given: Floats, weights: Floats, lean: Floats, reach: float, roundings: Sequence[tuple[float, int]]
) -> tuple[Floats, Floats]:
    """Factors c for every column a of weights for which lean'c + reach * spread(c) + max (a - given c) is small.

    The spread is the root of c'c - (lean'c)**2. Every rounding of the maximum is gone on from for its number of steps. Also
    returned are the weights of the rounded maximum: the distribution that would be the hardest to tell.
    """
    factors = np.zeros((given.shape[1], weights.shape[1]), np.float32)
    # Half the digits are enough to choose by, in half the time.
    table, questions, leaning = (one.astype(np.float32) for one in (given, weights, lean))
    for rounding, steps in roundings:
        factors = _lowered(_Problem(table, questions, leaning, reach, rounding), factors, steps)
    last = _Problem(given, weights, lean, reach, roundings[-1][0])
    chosen = factors.astype(np.float64)
    return chosen, np.asarray(last.hardest(chosen), np.float64)


class _Problem:
    def __init__(self, given: Numbers, weights: Numbers, lean: Numbers, reach: float, rounding: float) -> None:
        self.given, self.weights, self.lean, self.reach, self.rounding = given, weights, lean, reach, rounding

    def columns(self, chosen: Flags) -> _Problem:
        """Some of the questions."""
        return _Problem(self.given, self.weights[:, chosen], self.lean, self.reach, self.rounding)

    def hardest(self, factors: Numbers) -> Numbers:
        """The weights of the rounded maximum."""
        missing = (self.weights - self.given @ factors) / self.rounding
        missing -= missing.max(axis=0)
        np.exp(missing, out=missing)
        return np.asarray(missing / missing.sum(axis=0))

    def slopes(self, factors: Numbers) -> tuple[Numbers, Numbers]:
        """Values and their derivatives, a column for every question."""
        missing = (self.weights - self.given @ factors) / self.rounding
        top = missing.max(axis=0)
        missing -= top
        np.exp(missing, out=missing)
        total = missing.sum(axis=0)
        mean = self.lean @ factors
        spread = np.sqrt(np.maximum((factors**2).sum(axis=0) - mean**2, 0.0) + LEAST_SPREAD**2)
        value = mean + self.reach * spread + self.rounding * (top + np.log(total))
        slope = self.reach * (factors - np.outer(self.lean, mean)) / spread - self.given.T @ (missing / total)
        return value, slope + self.lean[:, None]


def _lowered(problem: _Problem, factors: Numbers, steps: int) -> Numbers:
    """The same factors, or better ones; questions that no longer get better are left alone."""
    state = _State(factors, *problem.slopes(factors), [])
    chosen, going = factors.copy(), np.arange(factors.shape[1])
    for _ in range(0, steps, LOOK):
        before = state.value
        for _ in range(LOOK):
            state = _stepped(problem, state)
        chosen[:, going] = state.factors
        still = before - state.value > LEAST_GAIN
        if not still.any():
            break
        if not still.all():
            problem, state, going = problem.columns(still), state.columns(still), going[still]
    return chosen


class _State(NamedTuple):
    factors: Numbers
    value: Numbers
    slope: Numbers
    changes: list[tuple[Numbers, Numbers, Numbers]]
    """Of the last steps: how the factors and the slope changed, and one over the product of both."""

    def columns(self, chosen: Flags) -> _State:
        changes = [(moved[:, chosen], turned[:, chosen], inverse[chosen]) for moved, turned, inverse in self.changes]
        return _State(self.factors[:, chosen], self.value[chosen], self.slope[:, chosen], changes)


def _stepped(problem: _Problem, state: _State) -> _State:
    factors, value, slope, changes = state
    way = _direction(slope, changes)
    promised = (slope * way).sum(axis=0)
    step, open_ = np.ones_like(value), promised < -1e-9
    better, new_value, new_slope = factors.copy(), value.copy(), slope.copy()
    for _ in range(HALVINGS):
        if not open_.any():
            break
        # To pick out most of the columns would take longer than to work out all of them.
        asked = open_ if 4 * int(open_.sum()) < len(open_) else np.ones_like(open_)
        tried = factors[:, asked] + step[asked] * way[:, asked]
        there, slope_there = (problem if asked.all() else problem.columns(asked)).slopes(tried)
        good = open_[asked] & (there <= value[asked] + ENOUGH * step[asked] * promised[asked])
        done = np.flatnonzero(asked)[good]
        better[:, done], new_value[done], new_slope[:, done] = tried[:, good], there[good], slope_there[:, good]
        open_[done] = False
        step[open_] /= 2
    moved, turned = better - factors, new_slope - slope
    along = (moved * turned).sum(axis=0)
    inverse = np.divide(1.0, along, out=np.zeros_like(along), where=along > 1e-14)
    return _State(better, new_value, new_slope, [*changes[-REMEMBERED + 1 :], (moved, turned, inverse)])


def _direction(slope: Numbers, changes: list[tuple[Numbers, Numbers, Numbers]]) -> Numbers:
    """Down the slope, bent by what the last steps have taught; a question without a remembered step goes straight."""
    way, used = -slope, []
    for moved, turned, inverse in reversed(changes):
        part = inverse * (moved * way).sum(axis=0)
        way = way - part * turned
        used.append(part)
    if changes:
        moved, turned, inverse = changes[-1]
        squares = (turned**2).sum(axis=0)
        way = way * np.where(
            inverse > 0, np.divide((moved * turned).sum(axis=0), squares, out=np.ones_like(squares), where=squares > 0), 1.0
        )
    for (moved, turned, inverse), part in zip(changes, reversed(used), strict=True):
        way = way + moved * (part - inverse * (turned * way).sum(axis=0))
    return way
