"""Dividing epsilon among parts so that their errors add up to the least."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from deniable.batch import Floats
from deniable.core import (
    Binary,
    Categories,
    Circle,
    Domain,
    Epsilon,
    EpsilonLike,
    Interval,
    Number,
    ProductMechanism,
    Record,
    as_fraction,
    best_share,
    golden_section,
)
from deniable.errors import InvalidParameter, NotSupported
from deniable.planning.designs.average_window import average_window_error

ErrorOf = Callable[[float], float]
"""The error of a part as a function of its epsilon: positive, never growing."""

STEPS = 1024
ROUNDS = 60
GRAIN = 1 << 40
SMALLEST_SHARE = 1e-4
"""Every part keeps at least this share of an equal split: a mechanism needs some epsilon."""


@dataclass(frozen=True)
class BudgetSplit:
    """Exact epsilons that add up to the whole, their errors, and a bound no split can beat."""

    epsilons: dict[str, Epsilon]
    errors: dict[str, float]
    lower_bound: float
    equal: float

    @property
    def total(self) -> float:
        """The weighted sum of the errors."""
        return sum(self.errors.values())

    @property
    def gap(self) -> float:
        """total / lower_bound."""
        return self.total / self.lower_bound if self.lower_bound > 0 else math.inf

    def shares(self) -> dict[str, Fraction]:
        """Each part's share of the whole, exactly."""
        whole = sum((part.exact for part in self.epsilons.values()), start=Fraction(0))
        return {name: part.exact / whole for name, part in self.epsilons.items()}


def split_budget(
    errors: Mapping[str, ErrorOf], epsilon: EpsilonLike, importance: Mapping[str, Number] | None = None
) -> BudgetSplit:
    """The split of epsilon with the least sum of errors, each times its importance (1 if left out).

    A table over 1024 steps finds the best split whatever the shape of the errors; pairs of parts then
    trade epsilon by golden sections. Errors must not grow with epsilon: the lower bound gives each part
    the upper end of its step.

    >>> halves = split_budget({"a": lambda e: math.exp(-e), "b": lambda e: math.exp(-e)}, 2)
    >>> float(halves.epsilons["a"].exact), round(halves.total, 6)
    (1.0, 0.735759)
    """
    whole = Epsilon(epsilon)
    names = list(errors)
    if len(names) < 2:
        raise InvalidParameter("errors must name at least two parts to divide epsilon among")
    weights = [_importance(name, importance) for name in names]
    if importance is not None and not set(importance) <= set(names):
        raise InvalidParameter("importance names a part that is not there")
    weighted = [_weighted(errors[name], weight) for name, weight in zip(names, weights, strict=True)]
    eps, parts = float(whole), len(names)
    grid = np.linspace(0, eps, STEPS + 1)
    table = np.array([[error(max(at, eps * SMALLEST_SHARE / parts)) for at in grid.tolist()] for error in weighted])
    if not np.all(np.isfinite(table)) or np.any(table < 0):
        raise InvalidParameter("errors must be finite and not negative at every positive epsilon")
    if np.any(np.diff(table, axis=1) > 1e-12 * (1 + table[:, :-1])):
        raise InvalidParameter("errors must not grow with epsilon")
    steps, _ = _allocate(table, STEPS)
    # A part whose epsilon lies within a step errs at least as much as at the step's upper end.
    raised = np.array([[error(at + eps / STEPS) for at in grid.tolist()] for error in weighted])
    _, bound = _allocate(raised, STEPS)
    chosen = _polish(weighted, [max(float(grid[s]), eps * SMALLEST_SHARE / parts) for s in steps], eps)
    exact = _exactly(chosen, whole.exact)
    return BudgetSplit(
        epsilons={name: Epsilon(part, allow_large=True) for name, part in zip(names, exact, strict=True)},
        errors={name: error(float(part)) for name, error, part in zip(names, weighted, exact, strict=True)},
        lower_bound=bound,
        equal=sum(error(eps / parts) for error in weighted),
    )


def split_record(
    record: Record,
    epsilon: EpsilonLike,
    *,
    loss: str = "squared",
    aim: str = "worst",
    importance: Mapping[str, Number] | None = None,
) -> tuple[ProductMechanism, BudgetSplit]:
    """The usual mechanism for every field, with epsilon divided to minimise the sum of worst or average errors.

    Numbers and directions count |y - x|**k relative to the domain's width (a circle's half turn is 1), k = 1 for
    "absolute" and 2 for "squared"; categories count the chance of a wrong one. `importance` rescales a field.

    >>> person = Record({"member": Binary(), "age": Interval(0, 120)})
    >>> mechanism, split = split_record(person, 2)
    >>> mechanism.certificate().holds, split.total < split.equal
    (True, True)
    """
    budget = split_budget({name: field_error(field, loss, aim) for name, field in record.fields.items()}, epsilon, importance)
    whole = Epsilon(epsilon)
    return ProductMechanism.split(record, whole, mechanism=_mechanisms(record, loss), shares=budget.shares()), budget


def field_error(field: Domain, loss: str = "squared", aim: str = "worst") -> ErrorOf:
    """The error of the usual mechanism of a field as a function of epsilon.

    >>> round(field_error(Interval(0, 1), "absolute")(1.0), 6)
    0.377541
    """
    exponents = {"absolute": 1, "squared": 2}
    if loss not in exponents:
        raise InvalidParameter("loss must be 'absolute' or 'squared'")
    if aim not in ("worst", "average"):
        raise InvalidParameter("aim must be 'worst' or 'average'")
    k = exponents[loss]
    if isinstance(field, Binary | Categories):
        others = field.size - 1
        return lambda eps: others / (others + math.exp(eps))
    if isinstance(field, Circle) or (isinstance(field, Interval) and aim == "worst"):
        # On a circle every direction is as bad as any other.
        return lambda eps: best_share(Epsilon(eps, allow_large=True), Fraction(k)) ** k
    if isinstance(field, Interval):
        return lambda eps: _average_window(eps, k)
    raise NotSupported(f"{type(field).__name__} has no error formula here; pass your own function to split_budget")


def _average_window(eps: float, k: int) -> float:
    """The mean of |y - x|**k under a uniform prior for the window that is best in the worst case."""
    return average_window_error(best_share(Epsilon(eps, allow_large=True), Fraction(k)), k, eps)


def _mechanisms(record: Record, loss: str) -> dict[str, str]:
    """The published window is the best one for absolute error; the usual ones suit squared error."""
    if loss == "squared":
        return {}
    return {
        name: "ogpm" if isinstance(field, Interval) else "circular-ogpm"
        for name, field in record.fields.items()
        if isinstance(field, Interval | Circle)
    }


def _allocate(table: Floats, steps: int) -> tuple[list[int], float]:
    """The steps that each row gets, `steps` in all, with the least sum; by dynamic programming."""
    best, choices = table[0].copy(), []
    for row in table[1:]:
        # sums[i, j]: this part gets j of i steps.
        i, j = np.indices((steps + 1, steps + 1))
        sums = np.where(j <= i, best[np.maximum(i - j, 0)] + row[j], np.inf)
        choices.append(sums.argmin(axis=1))
        best = sums.min(axis=1)
    left, taken = steps, []
    for choice in reversed(choices):
        taken.append(int(choice[left]))
        left -= taken[-1]
    return [left, *reversed(taken)], float(best[steps])


def _polish(errors: list[ErrorOf], start: list[float], whole: float) -> list[float]:
    """Let every pair of parts trade epsilon within a step or two, until nothing is gained."""
    scale = whole / sum(start)
    parts = [part * scale for part in start]
    reach = 2 * whole / STEPS
    for _ in range(ROUNDS):
        before = sum(error(part) for error, part in zip(errors, parts, strict=True))
        for i in range(len(parts)):
            for j in range(i):
                together = parts[i] + parts[j]
                least = min(whole * SMALLEST_SHARE / len(parts), together / 4)
                low, high = max(parts[i] - reach, least), min(parts[i] + reach, together - least)
                moved = golden_section(partial(_pair_error, errors[i], errors[j], together), low, high, 48)
                if errors[i](moved) + errors[j](together - moved) < errors[i](parts[i]) + errors[j](parts[j]):
                    parts[i], parts[j] = moved, together - moved
        after = sum(error(part) for error, part in zip(errors, parts, strict=True))
        if after >= before * (1 - 1e-13):
            break
    return parts


def _pair_error(first: Callable[[float], float], second: Callable[[float], float], together: float, part: float) -> float:
    return first(part) + second(together - part)


def _exactly(parts: list[float], whole: Fraction) -> list[Fraction]:
    """Multiples of 2**-40 (finer for a tiny whole), the last one exactly the rest."""
    grain = GRAIN << max(0, -math.floor(math.log2(float(whole))))
    exact = [max(Fraction(round(part * grain), grain), Fraction(1, grain)) for part in parts]
    largest = max(range(len(exact)), key=exact.__getitem__)
    exact[largest] = whole - sum((part for i, part in enumerate(exact) if i != largest), start=Fraction(0))
    return exact


def _importance(name: str, importance: Mapping[str, Number] | None) -> float:
    if importance is None or name not in importance:
        return 1.0
    exact = as_fraction(importance[name])
    if exact is None or exact <= 0:
        raise InvalidParameter("importance must be a positive number for every part it names")
    return float(exact)


def _weighted(error: Any, weight: float) -> ErrorOf:
    if not callable(error):
        raise InvalidParameter("errors must be functions of epsilon, one per part")
    return lambda eps: weight * float(error(eps))
