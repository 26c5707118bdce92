"""The best mechanism for a workload where every pair of values has a privacy level of its own, with a bound that proves it.

The theory is that of equal levels (proofs/workload-optimality.md): every mechanism splits into extremal rows, the error is convex
in their weights, and multipliers that satisfy one inequality for every row bound all mechanisms. Only the rows are others.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.batch import Floats
from deniable.core import Categories, Pairwise, Privacy, Table, exp_bounds
from deniable.errors import NotSupported
from deniable.planning.workloads.certificate import LowerBound, WrongBound, form
from deniable.planning.workloads.design import columns
from deniable.planning.workloads.exact_error import ExactError, table_error
from deniable.planning.workloads.master import Master, Point
from deniable.planning.workloads.one_thread import one_thread
from deniable.planning.workloads.rays import Ray, rays
from deniable.planning.workloads.table import balanced
from deniable.planning.workloads.workload import Gram, Spread, Workload, gram, spread, workload

TOLERANCE = 1e-6
MOST_ROUNDS = 60
MOST_ADDED = 100
KEPT = 1e-7
TOTAL = 1 << 90
MIXTURES = tuple(2.0**-bits for bits in (60, 50, 44, 38, 32, 26, 20))
ROW_BITS = 120
FIRST_RAISE = 1e-10
MOST_RAISES = 8


@dataclass(frozen=True, eq=False)
class UnequalDesign:
    """A mechanism for linear questions under unequal privacy, its exact error, and what no mechanism with this promise passes."""

    workload: Workload
    privacy: Privacy
    mechanism: Pairwise
    exact: ExactError
    people: Spread
    bound: LowerBound
    rows: int
    """How many extremal rows there are in all."""
    seconds: float

    @property
    def error(self) -> float:
        """Squared errors of all answers added up, for one person beyond sampling, averaged over the people."""
        return self.exact.mean

    @property
    def lower_bound(self) -> float:
        """What no mechanism that keeps the promise passes."""
        return self.bound.value

    @property
    def gap(self) -> float | None:
        """error / lower_bound − 1: 0 is the best there is."""
        return self.error / self.lower_bound - 1 if self.lower_bound else None

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "workload": self.workload.name,
            "size": self.workload.size,
            "questions": self.workload.questions,
            "mechanism": self.mechanism.name,
            "outputs": self.mechanism.channel.outputs,
            "objective": "mean",
            "error": self.error,
            "mean_error": self.exact.mean,
            "worst_error": self.exact.worst,
            "lower_bound": self.lower_bound,
            "gap": self.gap,
            "spread": list(self.people.weights),
            "promise": self.privacy.written(),
            "words": self.privacy.words(),
            "method": f"convex program over {self.rows} extremal rows",
            "seconds": self.seconds,
            "recipe": self.mechanism.recipe(),
        }


def design_unequal(
    questions: str | Workload, privacy: Privacy, *, prior: Any = "uniform", domain: Categories | None = None
) -> UnequalDesign:
    """The mechanism with the least error among all that keep a promise with a level for every pair of values.

    >>> ill = design_unequal("histogram", Privacy.sensitive(3, [0], 1))
    >>> ill.gap < 1e-5, ill.mechanism.certificate().holds
    (True, True)
    """
    began = time.perf_counter()
    asked = questions if isinstance(questions, Workload) else workload(questions, privacy.size)
    if asked.size != privacy.size:
        raise NotSupported(f"the workload is about {asked.size} values, the promise about {privacy.size}")
    people = spread(prior, asked.size)
    every, unit = rays(privacy)
    smallest = min(level for level in privacy.required() if level is not None)
    with one_thread():
        centred = gram(asked, people)
        identity = np.arange(asked.size)[None, :]
        master = Master(centred.floats, people.shares, math.exp(float(smallest)), identity)
        listed = np.array([[0.0 if t is None else math.exp(float(t * unit)) for t in ray] for ray in every])
        chosen, point = _solved(master, listed / listed.max(axis=1, keepdims=True))
        bound = _repaired(centred, people, every, unit, point, listed)
        table = _whole_table(master, chosen, point.theta, privacy)
        exact = table_error(columns(table), centred, people)
    mechanism = Pairwise(
        domain=Categories(asked.size) if domain is None else domain,
        epsilon=privacy.largest,
        levels=privacy.levels,
        rows=table.rows,
    )
    return UnequalDesign(asked, privacy, mechanism, exact, people, bound, len(every), time.perf_counter() - began)


def _solved(master: Master, listed: Floats) -> tuple[Floats, Point]:
    """Column generation: rows of randomized response at the smallest level begin, all extremal rows are priced."""
    rows = master.rows(np.eye(master.size, dtype=np.bool_))
    # One output that says nothing keeps the weights inside of their bounds.
    rows = np.concatenate([rows / rows.max(), np.ones((1, master.size))])
    theta, prices = np.ones(len(rows)), None
    for _ in range(MOST_ROUNDS):
        point = master.solve(rows, theta, TOLERANCE / 10, prices)
        lacking = master.gains(listed, point.pull) - listed @ point.multipliers
        excess = lacking / listed.sum(axis=1)
        if float(excess.max()) * master.size < TOLERANCE * point.objective:
            break
        kept = point.theta > KEPT * point.theta.max()
        better = np.argsort(-excess)[:MOST_ADDED]
        better = better[excess[better] > 0]
        rows = np.concatenate([rows[kept], listed[better]])
        theta = np.concatenate([point.theta[kept], np.full(len(better), 0.1 * point.theta.sum() / len(better))])
        prices = point.multipliers
    return rows, point


def _whole_table(master: Master, rows: Floats, theta: Floats, privacy: Privacy) -> Table:
    """Integer weights that keep the promise exactly: mixed with as little of the average row as rounding needs."""
    if master.mixed:
        single = master.rows(np.eye(master.size, dtype=np.bool_))
        rows = np.concatenate([rows, single])
        theta = np.concatenate([theta, np.full(master.size, master.mixed / (master.raised + master.size - 1))])
    mass = theta * rows.sum(axis=1)
    kept = mass > KEPT * mass.max()
    rows, theta = rows[kept], balanced(rows[kept], theta[kept])
    law = (rows * theta[:, None]).T
    for mixed in MIXTURES:
        calm = (1 - mixed) * law + mixed * law.mean(axis=0)
        weights = [[round(Fraction(float(weight)) * TOTAL) for weight in row] for row in calm]
        for row in weights:
            row[row.index(max(row))] += TOTAL - sum(row)
        table = Table(weights)
        if privacy.holds(table):
            return table
    raise NotSupported("the levels are too far apart for integer weights: use levels from 1e-3 to 20")


def _repaired(gram_: Gram, people: Spread, every: list[Ray], unit: Fraction, point: Point, listed: Floats) -> LowerBound:
    """The bound after the multipliers are raised by what the worst row lacks, and a hair for the rounding."""
    inverse = (point.inverse + point.inverse.T) / 2
    pull = inverse @ gram_.floats @ inverse
    lacking = ((listed @ pull) * listed).sum(axis=1) / (listed @ people.shares) - listed @ point.multipliers
    excess = max(float((lacking / listed.sum(axis=1)).max()), 0.0)
    hair = FIRST_RAISE * float(np.abs(point.multipliers).sum()) / len(inverse)
    for _ in range(MOST_RAISES):
        try:
            return proved_for_rows(gram_, people, every, unit, inverse, point.multipliers + excess + hair)
        except WrongBound:
            hair *= 10
    raise WrongBound("the lower bound is not proved: the multipliers are too far from feasible")


def proved_for_rows(
    gram_: Gram, people: Spread, every: list[Ray], unit: Fraction, inverse: Floats, multipliers: Floats
) -> LowerBound:
    """The bound that Y and λ prove as they are, for every extremal row, in integers rounded against the claim."""
    entries, trace, prices = form(gram_, people, inverse, multipliers)
    scale = max(abs(entry) for entry in entries.ravel()) / (1 << ROW_BITS)
    # Rounded up: rows are not negative, so that rounding cannot hide a violation.
    whole = [[math.ceil(entry / scale) for entry in row] for row in entries]
    powers: dict[int, tuple[int, int]] = {}
    for number, ray in enumerate(every):
        bounds = [(0, 0) if t is None else powers.setdefault(t, _power(t * unit)) for t in ray]
        total = 0
        for x, (low, high) in enumerate(bounds):
            for other, (low_, high_) in enumerate(bounds):
                entry = whole[x][other]
                total += entry * (high * high_ if entry > 0 else low * low_)
        if total > 0:
            raise WrongBound(f"the lower bound is not proved: extremal row {number} breaks the inequality")
    if trace <= 0 or prices <= 0:
        return LowerBound(0.0, inverse, multipliers)
    exact = trace * trace / prices - gram_.sampling
    return LowerBound(max(math.nextafter(float(exact), -math.inf), 0.0), inverse, multipliers)


def _power(exponent: Fraction) -> tuple[int, int]:
    """e**exponent in units of 2**-ROW_BITS, from below and from above."""
    if exponent == 0:
        return 1 << ROW_BITS, 1 << ROW_BITS
    low, high = exp_bounds(exponent, 2 * ROW_BITS)
    return math.floor(low * (1 << ROW_BITS)), math.ceil(high * (1 << ROW_BITS))
