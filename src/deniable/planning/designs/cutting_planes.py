"""The linear program of a reference density, solved by cutting planes.

A mechanism with reference g (for every output the least of its densities) has f_x between g and E g, so
its error at x is at least, for every level l,

    l + sum over y of g(y) c(y),    c = L - l where the loss L exceeds l, E (L - l) where it does not,

and with the best level exactly that is reached by raising the outputs of least loss. So the least worst
error is the least t with t >= every such cut, a linear program in g and t. Only a few cuts matter; they are
found by solving, asking every x for its best level, and adding the cuts that are violated.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable._extras import required
from deniable.batch import Floats, Integers

PATIENCE = 4
"""The solver's own clock is the one on the wall: it may take this many times as long."""


@dataclass(frozen=True)
class Cuts:
    """Cuts t[owner] >= level + row · g; `tag` says which input (and slope) each one is about."""

    owners: Integers
    levels: Floats
    rows: Floats
    tags: Floats

    @staticmethod
    def joined(parts: list[Cuts]) -> Cuts:
        """The cuts of several parts, one after the other."""
        return Cuts(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("owners", "levels", "rows", "tags")))


@dataclass(frozen=True)
class Solution:
    """The best reference found, what it costs, and the cuts with their multipliers (which prove a bound)."""

    reference: Floats
    cost: float
    value: float
    cuts: Cuts
    multipliers: Floats
    rounds: int
    finished: bool


Separate = Callable[[Floats], tuple[Cuts, Floats]]
"""From a reference to the best cut of every input, and the error of every input."""


def solve(separate: Separate, start: Floats, prior: Floats, e: float, tolerance: float = 1e-5, seconds: float = 12.0) -> Solution:
    """Minimise the prior-weighted errors; a prior of one entry means the largest error of all inputs.

    The variables are the `start.size` reference values; `separate` maps them to cuts. Stops when the best
    reference found is within `tolerance` of the program's value, or after `seconds` of processor time, with the best so
    far: a busy machine takes longer, and finds the same.
    """
    worst = prior.size == 1
    deadline = time.process_time() + seconds
    violations, errors = separate(start)
    reference, cost, cuts = start, _cost(errors, prior, worst), [violations]
    program = _Program(prior, start.size, e, cost)
    program.add(violations)
    # Until the solver has multipliers of its own, even ones prove a bound too.
    multipliers = np.full(errors.size, 1 / errors.size) if worst else prior
    value, finished, rounds = 0.0, False, 0
    while time.process_time() < deadline:
        rounds += 1
        answer = program.solve(PATIENCE * max(deadline - time.process_time(), 0.1))
        if answer is None:
            break
        value, bounds, tried, multipliers = answer
        violations, errors = separate(tried)
        tried_cost = _cost(errors, prior, worst)
        if tried_cost < cost:
            reference, cost = tried, tried_cost
        if cost <= value + tolerance * abs(cost):
            finished = True
            break
        limits = np.full(errors.size, bounds[0]) if worst else bounds
        violated = errors > limits + tolerance / 4 * abs(cost)
        if not violated.any():
            break
        chosen = Cuts(
            violations.owners[violated], violations.levels[violated], violations.rows[violated], violations.tags[violated]
        )
        cuts.append(chosen)
        program.add(chosen)
    everything = Cuts.joined(cuts)
    padded = np.zeros(everything.levels.size)
    padded[: multipliers.size] = multipliers
    return Solution(reference, cost, value, everything, padded, rounds, finished)


def _cost(errors: Floats, prior: Floats, worst: bool) -> float:
    return float(errors.max() if worst else errors @ prior)


class _Program:
    """The program in HiGHS, kept warm between rounds."""

    def __init__(self, prior: Floats, size: int, e: float, cost: float) -> None:
        # Not at the top: whoever plans a survey loads this file, too, and needs no solver.
        highspy = required("highspy")
        self.highs, self.optimal = highspy.Highs(), highspy.HighsModelStatus.kOptimal
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("threads", 1)
        self.prior, self.size = prior, size
        # HiGHS' tolerances are absolute: multiplied by E favoured densities, and divided by a known cost errors, are about 1.
        self.unit, self.cost = e, cost
        self.count = 0
        self.infinity = infinity = highspy.kHighsInf
        for share in prior.tolist():
            self.highs.addCol(share, 0.0, infinity, 0, [], [])
        for _ in range(size):
            self.highs.addCol(0.0, 0.0, infinity, 0, [], [])

    def add(self, cuts: Cuts) -> None:
        """t - row · g >= level."""
        bounds = self.prior.size
        count = cuts.levels.size
        dense = np.zeros((count, bounds + self.size))
        dense[np.arange(count), cuts.owners] = 1.0
        dense[:, bounds:] = -cuts.rows / (self.unit * self.cost)
        filled = dense != 0
        starts = np.concatenate([[0], np.cumsum(filled.sum(axis=1))[:-1]]).astype(np.int32)
        columns = np.nonzero(filled)[1].astype(np.int32)
        above = np.full(count, self.infinity)
        self.highs.addRows(count, cuts.levels / self.cost, above, int(columns.size), starts, columns, dense[filled])
        self.count += count

    def solve(self, seconds: float) -> tuple[float, Floats, Floats, Floats] | None:
        """Value, bounds t, reference and multipliers; None when the solver stopped without an optimum."""
        self.highs.setOptionValue("time_limit", self.highs.getRunTime() + seconds)
        self.highs.run()
        if self.highs.getModelStatus() != self.optimal:
            return None
        solution = self.highs.getSolution()
        columns = np.array(solution.col_value)
        bounds = columns[: self.prior.size] * self.cost
        reference = np.maximum(columns[self.prior.size :], 0.0) / self.unit
        multipliers = np.maximum(np.array(solution.row_dual), 0.0)
        return float(self.highs.getInfo().objective_function_value) * self.cost, bounds, reference, multipliers


def cut_rows(losses: Floats, levels: Floats, e: float) -> Floats:
    """c for every cut and output."""
    above = losses - levels[:, None]
    return np.where(above > 0, above, e * above)


class LossCuts:
    """Cuts of a table of losses, one row per input and one column per output.

    `orbits[y]` is the variable of output y: outputs that mirror each other share one.
    """

    def __init__(self, losses: Floats, orbits: Integers, e: float, worst: bool) -> None:
        self.losses, self.orbits, self.e, self.worst = losses, orbits, e, worst
        self.order = np.argsort(losses, axis=1, kind="stable")
        self.ranked = np.take_along_axis(losses, self.order, axis=1)
        self.fold = np.zeros((losses.shape[1], int(orbits.max()) + 1))
        self.fold[np.arange(orbits.size), orbits] = 1.0

    def spread(self, reference: Floats) -> Floats:
        """The reference of every output."""
        return reference[self.orbits]

    def __call__(self, reference: Floats) -> tuple[Cuts, Floats]:
        """The best cut and the error of every input."""
        levels = self.best_levels(self.spread(reference))
        rows = cut_rows(self.losses, levels, self.e) @ self.fold
        inputs = np.arange(levels.size)
        owners = np.zeros(levels.size, np.int64) if self.worst else inputs
        return Cuts(owners, levels, rows, inputs[:, None].astype(np.float64)), levels + rows @ reference

    def best_levels(self, g: Floats) -> Floats:
        """The quantile of the losses at which the favoured outputs use up what the reference leaves."""
        left = (1 - g.sum()) / (self.e - 1)
        used = np.cumsum(g[self.order], axis=1)
        place = np.minimum((used < left).sum(axis=1), g.size - 1)
        return np.asarray(self.ranked[np.arange(place.size), place])

    def start(self) -> Floats:
        """An even reference, favoured for a third."""
        size = self.orbits.size
        return np.full(self.fold.shape[1], 1 / (1 + (self.e - 1) / 3) / size)
