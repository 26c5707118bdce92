"""Several mechanisms over several levels: one error for each, from their own weights, without a simulation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from deniable._results import Result
from deniable.core import Binary, Categories, Domain, Epsilon, EpsilonLike, Interval, Mechanism, make_mechanism, mechanism_class
from deniable.errors import InvalidParameter, MissingPackage, NotSupported
from deniable.estimators import average_error, worst_case
from deniable.planning.averages import noise_of
from deniable.planning.frequency import share_error
from deniable.planning.way import LeftOut

TASKS = ("frequency", "mean", "value")
METRICS = {
    "mse": "mean squared error",
    "rmse": "root mean squared error",
    "mae": "mean absolute error",
    "worst-mse": "worst-case mean squared error",
    "worst-rmse": "worst-case root mean squared error",
    "worst-mae": "worst-case mean absolute error",
}
WRONG_TASK = {
    "frequency": "does not report categories; for a mean choose the task mean (--task mean)",
    "mean": "does not report numbers; for shares of categories choose the task frequency (--task frequency)",
}
OF = {"frequency": "a share", "mean": "the mean", "value": "one report"}


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """An error for every mechanism and level; `left_out` says which mechanisms have none, and why."""

    task: str
    metric: str
    domain: Domain
    users: int
    epsilons: tuple[Epsilon, ...]
    errors: dict[str, tuple[float, ...]]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def quantity(self) -> str:
        """What the numbers are, in words."""
        who = "" if self.task == "value" else f" from {self.users:,} users"
        return f"{METRICS[self.metric]} of {OF[self.task]}{who}"

    def __repr__(self) -> str:
        levels = f"epsilon {self.epsilons[0]} to {self.epsilons[-1]}"
        return f"<Comparison {self.quantity} on {self.domain!r}, {levels}: {', '.join(self.errors)}>"

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {"epsilon": float(level), **{name: errors[i] for name, errors in self.errors.items()}}
            for i, level in enumerate(self.epsilons)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON-ready values: what was compared, one row per epsilon, and what was left out."""
        facts = {"task": self.task, "metric": self.metric, "quantity": self.quantity, "users": self.users}
        left_out = [one._asdict() for one in self.left_out]
        return {**facts, "domain": self.domain.recipe(), "rows": self._rows(), "left_out": left_out}


def compare(
    mechanisms: Iterable[str],
    epsilons: Sequence[EpsilonLike],
    *,
    task: str = "mean",
    metric: str = "mse",
    domain: Domain | None = None,
    users: int = 10_000,
) -> Comparison:
    """The error of each mechanism at each level.

    `task` is "frequency" (a share), "mean" (the mean of a number, unbiased) or "value" (one reported number). Errors are averages
    over people spread evenly, or with a "worst-" metric those of the worst value. Mechanisms of other packages have names too.

    >>> comparison = compare(["k-rr", "oue"], [1, 5], task="frequency")      # of 20 categories
    >>> [min(comparison.errors, key=lambda name: comparison.errors[name][i]) for i in (0, 1)]
    ['oue', 'k-rr']
    """
    if task not in TASKS:
        raise InvalidParameter(f"task must be one of {', '.join(TASKS)}")
    if metric not in METRICS:
        raise InvalidParameter(f"metric must be one of {', '.join(METRICS)}")
    if metric.endswith("mae") and task != "value":
        raise InvalidParameter("absolute errors are for the task value; shares and means are compared by mse or rmse")
    if isinstance(users, bool) or not isinstance(users, int) or users < 1:
        raise InvalidParameter("users must be a whole number of at least 1")
    levels = tuple(Epsilon(level) for level in epsilons)
    names = list(dict.fromkeys(mechanisms))
    if not levels or not names:
        raise InvalidParameter("give at least one mechanism and one epsilon")
    space = domain if domain is not None else Categories(20) if task == "frequency" else Interval(0, 1)
    errors: dict[str, tuple[float, ...]] = {}
    left_out = []
    for name in names:
        try:
            if domain is None and not isinstance(space, mechanism_class(name).domain_types):
                raise InvalidParameter(f"{name} {WRONG_TASK['frequency' if task == 'frequency' else 'mean']}, or give a domain")
            by_level = [make_mechanism(name, domain=space, epsilon=level) for level in levels]
            errors[name] = tuple(_error(mechanism, task, metric, users) for mechanism in by_level)
        except (NotSupported, MissingPackage) as refused:
            left_out.append(LeftOut(name, str(refused)))
    if not errors:
        raise NotSupported("; ".join(f"{one.mechanism}: {one.reason}" for one in left_out))
    return Comparison(task, metric, space, users, levels, errors, tuple(left_out))


def _error(mechanism: Mechanism, task: str, metric: str, users: int) -> float:
    worst, power = metric.startswith("worst"), metric.removeprefix("worst-")
    if task == "value":
        loss = "absolute" if power == "mae" else "squared"
        error = worst_case(mechanism, loss).error if worst else average_error(mechanism, loss)
        return math.sqrt(error) if power == "rmse" else float(error)
    if task == "frequency":
        if not isinstance(mechanism.domain, Binary | Categories):
            raise NotSupported("shares are estimated of categories; give a domain such as categories:20")
        root = share_error(mechanism, users, worst=worst)
    else:
        if not isinstance(mechanism.domain, Interval):
            raise NotSupported("means are estimated of numbers; give a domain such as interval:0,1")
        noise, width = noise_of(mechanism), float(mechanism.domain.width)
        root = math.hypot(width * math.sqrt((noise.worst if worst else noise.even) / users), width * noise.rule.bias)
    return root if power == "rmse" else root**2
