"""The best mechanism for a workload: integer weights, exact error, a bound for every mechanism, and the gap between."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from deniable._results import Result, counted
from deniable.batch import Floats
from deniable.core import Channel, Epsilon, EpsilonLike, Mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.planning.designs.problem import design_epsilon
from deniable.planning.workloads.certificate import LowerBound, repaired
from deniable.planning.workloads.descent import descend
from deniable.planning.workloads.exact_error import ExactError, table_error
from deniable.planning.workloads.generation import Generated, generate
from deniable.planning.workloads.heuristic import generate_some
from deniable.planning.workloads.master import Master
from deniable.planning.workloads.one_thread import one_thread
from deniable.planning.workloads.relaxation import checked, relaxed
from deniable.planning.workloads.rows import MOST_ENUMERATED
from deniable.planning.workloads.symmetry import Permutations, group
from deniable.planning.workloads.table import mechanism as table_mechanism
from deniable.planning.workloads.workload import Gram, Spread, Workload, gram, spread, workload

ErrorKind = Literal["mean", "worst"]
Method = Literal["convex", "descent"]
TOLERANCE = 1e-5
WORST_TOLERANCE = 1e-4
SEARCH_TOLERANCE = 1e-3
MOST_SEARCHED = 128
WEIGHT_UNIT = 1 << 30
EVENED, STRESSED = 6, 12
"""How often a spread is made harder for values with large errors, and by which power of those errors."""
MOST_TRIALS = 60


@dataclass(frozen=True, eq=False, repr=False)
class WorkloadDesign(Result):
    """A mechanism for linear questions, with its certificate of quality.

    Errors are sums over the questions of squared errors, for one person and beyond what drawing the people adds: n people
    have 1/n of it. `error` is that of this very table, from its integers, rounded up; `lower_bound` holds for unbiased answers
    from every ε-LDP mechanism, whatever its outputs, rounded down. None where no bound is known.
    """

    workload: Workload
    mechanism: Mechanism | None
    """None for the published descent, which is there to be compared with."""
    channel: Channel
    objective: ErrorKind
    exact: ExactError
    people: Spread
    bound: LowerBound | None
    method: str
    seconds: float

    @property
    def error(self) -> float:
        """What was minimised: on average over the people, or for the worst value a person may have."""
        return self.exact.mean if self.objective == "mean" else self.exact.worst

    @property
    def lower_bound(self) -> float | None:
        """What no mechanism can beat."""
        return None if self.bound is None else self.bound.value

    @property
    def gap(self) -> float | None:
        """error / lower_bound − 1: 0 is the best there is."""
        return None if not self.lower_bound else self.error / self.lower_bound - 1

    def __repr__(self) -> str:
        bound = "no bound" if self.lower_bound is None else f"bound {self.lower_bound:.6g}"
        asked = f"{self.workload.name} on {counted(self.workload.size, 'value')}"
        return (
            f"<WorkloadDesign {asked}: {self.objective} error {self.error:.6g}, {bound}, {counted(self.channel.outputs, 'output')}>"
        )

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {"what": "mean error of this mechanism", "squared error": self.exact.mean},
            {"what": "worst error of this mechanism", "squared error": self.exact.worst},
            {"what": f"lower bound of the {self.objective} error for every mechanism", "squared error": self.lower_bound},
        ]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "workload": self.workload.name,
            "size": self.workload.size,
            "questions": self.workload.questions,
            "mechanism": None if self.mechanism is None else self.mechanism.name,
            "outputs": self.channel.outputs,
            "objective": self.objective,
            "error": self.error,
            "mean_error": self.exact.mean,
            "worst_error": self.exact.worst,
            "lower_bound": self.lower_bound,
            "gap": self.gap,
            "spread": list(self.people.weights),
            "method": self.method,
            "seconds": self.seconds,
            "recipe": None if self.mechanism is None else self.mechanism.recipe(),
        }


def design_workload(
    questions: str | Workload,
    epsilon: EpsilonLike,
    *,
    size: int | None = None,
    error: ErrorKind = "mean",
    prior: Any = "uniform",
    method: Method = "convex",
    tolerance: float = TOLERANCE,
    bounded: bool = True,
) -> WorkloadDesign:
    """The ε-LDP mechanism with the least error for a workload, and a bound that proves it.

    `error="mean"` counts people spread like `prior` ('uniform', or weights); `"worst"` counts the worst value a person may have.
    `method="descent"` runs the published gradient descent instead (McKenna, Maity, Mazumdar and Miklau, 2020), for comparison.
    With more than 20 values most of the time goes into the bound: `bounded=False` does without.

    >>> prefixes = design_workload("prefix", 1, size=4)
    >>> round(prefixes.error, 4), prefixes.gap < 1e-4, prefixes.mechanism.certificate().holds
    (5.993, True, True)
    """
    began = time.perf_counter()
    asked = questions if isinstance(questions, Workload) else workload(questions, size)
    level = design_epsilon(epsilon)
    if error not in get_args(ErrorKind):
        raise InvalidParameter("error must be 'mean' or 'worst'")
    if method not in get_args(Method):
        raise InvalidParameter("method must be 'convex' or 'descent'")
    if error == "worst" and not (isinstance(prior, str) and prior == "uniform"):
        raise InvalidParameter("prior belongs to error='mean'; the worst value needs none")
    if asked.size > MOST_SEARCHED and method == "convex":
        raise NotSupported(f"designs are for at most {MOST_SEARCHED} values; beyond, use `deniable plan --task workload`")
    people = spread(prior, asked.size)
    with one_thread():
        if method == "descent":
            centred = gram(asked, people)
            table = descend(centred, level, people)
            exact = table_error(columns(table), centred, people)
            return WorkloadDesign(asked, None, table, error, exact, people, None, "published descent", time.perf_counter() - began)
        elements = group(gram(asked, people), people, asked.attributes)
        raised = math.exp(float(level))
        listed = asked.size <= MOST_ENUMERATED
        if error == "worst" and listed:
            people = _hardest(asked, raised, elements, max(tolerance, WORST_TOLERANCE))
        centred = gram(asked, people)
        master = Master(centred.floats, people.shares, raised, elements)
        if listed:
            generated = generate(master, tolerance)
            bound: LowerBound | None = repaired(centred, people, level, generated.point.inverse, generated.point.multipliers)
        else:
            # The bound on the mean holds for the worst value, too: no average exceeds the largest.
            generated, bound = _searched(master, centred, people, level, max(tolerance, SEARCH_TOLERANCE), bounded)
            if error == "worst":
                people, master, generated = _evened(asked, master, generated, max(tolerance, SEARCH_TOLERANCE))
                centred = gram(asked, people)
        mechanism = table_mechanism(master, generated.patterns, generated.point.theta, level)
        exact = table_error(columns(mechanism.channel), centred, people)
    kind = "pricing all rows" if listed else "local search, semidefinite bound" if bounded else "local search"
    how = f"convex program, {generated.rounds} rounds of {kind}"
    return WorkloadDesign(asked, mechanism, mechanism.channel, error, exact, people, bound, how, time.perf_counter() - began)


def _searched(
    master: Master, centred: Gram, people: Spread, level: Epsilon, tolerance: float, bounded: bool
) -> tuple[Generated, LowerBound | None]:
    """Rows by local search, ended by the bound of the relaxation where that is wanted and can be solved."""
    if not bounded:
        return generate_some(master, 0.0, tolerance), None
    try:
        proof = relaxed(centred, people, level, master.elements, tolerance)
    except NotSupported:
        return generate_some(master, 0.0, tolerance), None
    bound = checked(centred, people, level, proof)
    return generate_some(master, bound.value + float(centred.sampling), tolerance), bound


def _evened(asked: Workload, master: Master, generated: Generated, tolerance: float) -> tuple[Spread, Master, Generated]:
    """A spread of people under which the worst value errs less: more of those whose errors are large, a few times over."""
    people = Spread((1,) * asked.size)
    centred, chances = gram(asked, people), np.full(asked.size, 1 / asked.size)
    best = (math.inf, people, master, generated)
    for _ in range(EVENED):
        each = value_errors(master, generated, centred)
        if each.max() < best[0]:
            best = (float(each.max()), people, master, generated)
        chances *= (each / each.mean()) ** STRESSED
        chances /= chances.sum()
        people = Spread(tuple(np.maximum(np.rint(chances * WEIGHT_UNIT), 1).astype(int).tolist()))
        centred = gram(asked, people)
        master = Master(centred.floats, people.shares, master.raised, master.elements)
        generated = generate_some(master, 0.0, tolerance, generated)
    return best[1:]


def columns(channel: Channel) -> list[list[int]]:
    """The integer weights of every output."""
    rows = [list(channel.row(x)) for x in range(channel.inputs)]
    return [list(column) for column in zip(*rows, strict=True)]


def _hardest(asked: Workload, raised: float, elements: Permutations, tolerance: float) -> Spread:
    """The spread of people whose least error is the largest: there the worst value errs no more than the average.

    The error is linear in the spread for every mechanism and reconstruction, so the least error is concave in it, and its
    gradient is the error at every value.
    """
    even = Spread((1,) * asked.size)
    master = Master(gram(asked, even).floats, even.shares, raised, elements)
    if len(master.values) == 1:
        return even
    kind, kinds = master.kind, master.kinds
    best: tuple[float, Spread] = (math.inf, even)
    start: tuple[NDArray[np.bool_], Floats] | None = None
    scale = 1.0

    def negative(logits: Floats) -> tuple[float, Floats]:
        nonlocal best, start
        chances = np.exp(logits - logits.max())
        chances /= chances.sum()
        weights = np.maximum(np.rint((chances / kinds)[kind] * WEIGHT_UNIT), 1).astype(int)
        people = Spread(tuple(weights.tolist()))
        centred = gram(asked, people)
        solved = Master(centred.floats, people.shares, raised, elements)
        generated = generate(solved, tolerance / 10, start)
        start = (generated.patterns, generated.point.theta)
        each = value_errors(solved, generated, centred)
        mean = np.array([each[kind == one].mean() for one in range(len(kinds))])
        value = float(chances @ mean)
        if each.max() < best[0]:
            best = (float(each.max()), people)
        return -value / scale, -chances * (mean - value) / scale

    first = np.log(kinds / kinds.sum())
    scale = abs(negative(first)[0])
    minimize(negative, first, jac=True, method="BFGS", options={"maxiter": MOST_TRIALS, "gtol": tolerance / 10})
    return best[1]


def value_errors(master: Master, generated: Generated, centred: Gram) -> Floats:
    """The error at every value, in floats."""
    rows = master.rows(generated.patterns)
    pull = generated.point.pull
    squares = ((rows @ pull) * rows).sum(axis=1) / (rows @ master.shares) ** 2
    once = rows.T @ (generated.point.theta * squares)
    if master.mixed:
        single = master.rows(np.eye(master.size, dtype=np.bool_))
        spare = ((single @ pull) * single).sum(axis=1) / (single @ master.shares) ** 2
        once = once + single.T @ spare * master.mixed / (master.raised + master.size - 1)
    kinds = np.array([once[master.kind == one].mean() for one in range(len(master.values))])
    return np.asarray(kinds[master.kind] - np.diagonal(centred.floats), np.float64)
