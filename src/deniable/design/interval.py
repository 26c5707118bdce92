"""The best mechanism on an interval: closed forms where there are any, the reference program elsewhere."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deniable.design.answer import Answer, Published
from deniable.design.asymptotic import MOST_EXPONENT as LIMIT_UP_TO
from deniable.design.asymptotic import LimitShape, limit_of_average, limit_of_worst
from deniable.design.cutting_planes import LossCuts, Solution, solve
from deniable.design.lower_bound import line_bound, spread_bound
from deniable.design.problem import DistanceLoss, Prior
from deniable.design.rounding import expected_cost, largest_error, least_costly, rounded
from deniable.domains import Interval
from deniable.errors import NotSupported
from deniable.exact import Epsilon
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.numeric.ogpm import OGPM
from deniable.mechanisms.numeric.one_bit_squared import OneBitSquared
from deniable.mechanisms.numeric.window import Window
from deniable.utility import average_error, worst_case

Floats = NDArray[np.float64]

ONE_BIT_UP_TO = 2 * math.asinh(1)
PRIOR_CELLS = 128
WORTH_MORE = 1.002
"""A gap above this is worth a second program."""
LIMIT_FROM = 3.0
"""From here on the limit for large epsilon is a better start than an even reference."""


def design_worst(domain: Interval, loss: DistanceLoss, epsilon: Epsilon) -> Answer:
    """The least worst-case error on an interval."""
    begin = time.monotonic()
    if loss.exponent == 2 and float(epsilon) <= ONE_BIT_UP_TO:
        return _one_bit(domain, loss, epsilon, begin)
    steps, points = resolution(epsilon, loss.exponent)
    e = math.exp(float(epsilon))
    y = np.linspace(0, 1, steps + 1)
    x = y[: steps // 2 + 1]
    orbits = np.minimum(np.arange(steps + 1), steps - np.arange(steps + 1))
    limit = _limit(loss.exponent, "worst")
    places = np.arange(steps + 1) * (2 * points // steps)

    def attempt(values: Floats, start: Floats | None) -> tuple[Solution, Mechanism, float]:
        cuts = LossCuts(loss.at(np.abs(y - values[:, None])), orbits, e, worst=True)
        solution = solve(cuts, cuts.start() if start is None else start, np.ones(1), e, tolerance=1e-4)
        made = rounded(domain, epsilon, places, cuts.spread(solution.reference), points)
        return solution, made, largest_error(made, loss)

    solution, *first = attempt(x, _start(limit, y, epsilon))
    bound = _bound(solution, x, loss, e)
    candidates: list[tuple[Mechanism, float]] = [(first[0], first[1])]
    if solution.finished and first[1] > bound * loss.scale * WORTH_MORE:
        # Values between the grid's are the worst ones: with them in the program its bound is weaker, its mechanism better.
        _, *second = attempt(np.linspace(0, 0.5, steps + 1), solution.reference)
        candidates = [min((candidates[0], (second[0], second[1])), key=lambda candidate: candidate[1])]
    if loss.exponent is not None:
        window = Window(domain=domain, epsilon=epsilon, loss_exponent=loss.exponent)
        candidates.append((window, worst_case(window, loss.measured).error))
    found, cost, method = least_costly(candidates, "reference density by linear program")
    return Answer(
        mechanism=found,
        worst_case=cost,
        lower_bound=bound * loss.scale,
        published=published_worst(domain, loss, epsilon),
        seconds=time.monotonic() - begin,
        method=method,
        objective=f"worst-case {loss.name} error",
        certified=solution.finished,
        predicted=None if limit is None else limit.predict(float(epsilon), loss.scale),
    )


def resolution(epsilon: Epsilon, exponent: float | None) -> tuple[int, int]:
    """Steps of the program's grid and cells of the mechanism: finer where favoured windows are shorter."""
    level = float(epsilon)
    if level > 9 and (exponent is None or exponent < 2):
        return 1024, 16384
    return (256, 4096) if level <= 5 else (512, 8192) if level <= 7 else (512, 16384)


def _limit(exponent: float | None, whose: str) -> LimitShape | None:
    """What errors tend to as epsilon grows, where that is known."""
    if exponent is None or exponent > LIMIT_UP_TO:
        return None
    return limit_of_worst(exponent) if whose == "worst" else limit_of_average(exponent)


def _start(limit: LimitShape | None, y: Floats, epsilon: Epsilon) -> Floats | None:
    """The limit's reference on one half of a grid: with a large epsilon, a start that saves most of the work."""
    if limit is None or float(epsilon) < LIMIT_FROM:
        return None
    found = limit.reference(y, float(epsilon)) / (y.size - 1)
    found[[0, -1]] /= 2
    return np.asarray(found[: y.size // 2 + 1])


def _bound(solution: Solution, x: Floats, loss: DistanceLoss, e: float) -> float:
    at = x[solution.cuts.tags[:, 0].astype(np.int64)]
    if not solution.multipliers.any():
        return 0.0
    return max(line_bound(loss, e, at, solution.cuts.levels, solution.multipliers), 0.0)


def _one_bit(domain: Interval, loss: DistanceLoss, epsilon: Epsilon, begin: float) -> Answer:
    mechanism = OneBitSquared(domain=domain, epsilon=epsilon)
    # sech**2, not E/(1 + E)**2: no cancellation, and rounded down by a hair.
    bound = 0.25 / math.cosh(float(epsilon) / 2) ** 2 * (1 - 1e-12)
    return Answer(
        mechanism=mechanism,
        worst_case=largest_error(mechanism, loss),
        lower_bound=bound * loss.scale,
        published=published_worst(domain, loss, epsilon),
        seconds=time.monotonic() - begin,
        method="closed form: one bit is best up to epsilon = 2 asinh 1",
        objective="worst-case squared error",
    )


def published_worst(domain: Interval, loss: DistanceLoss, epsilon: Epsilon) -> Published:
    """The dissertation's mechanism on the same question."""
    mechanism = OGPM(domain=_coarse(domain, loss), epsilon=epsilon)
    return {"name": mechanism.name, "worst_case": worst_case(mechanism, loss.measured).error}


def _coarse(domain: Interval, loss: DistanceLoss) -> Interval:
    """Functions are evaluated output by output, so they get fewer cells."""
    return domain if loss.function is None else Interval(domain.low, domain.high, cells=min(domain.cells, 4096))


def design_average(domain: Interval, loss: DistanceLoss, epsilon: Epsilon, prior: Prior) -> Answer:
    """The least expected error under a uniform or piecewise-constant prior."""
    begin = time.monotonic()
    if loss.exponent is None:
        raise NotSupported(
            "a prior needs a power loss ('absolute', 'squared', 'power:K'); functions are designed for the worst case"
        )
    steps, points = resolution(epsilon, 2)
    e = math.exp(float(epsilon))
    cells = PRIOR_CELLS if prior.cells is None else len(prior.cells) * -(-PRIOR_CELLS // len(prior.cells))
    x = (np.arange(cells) + 0.5) / cells
    chances = np.full(cells, 1 / cells) if prior.cells is None else np.repeat(prior.cells, cells // len(prior.cells))
    chances = chances / chances.sum()
    y = np.linspace(0, 1, steps + 1)
    orbits = np.arange(steps + 1)
    if prior.symmetric:
        orbits = np.minimum(orbits, steps - orbits)
        kept = (cells + 1) // 2
        double = np.where(np.arange(kept) == cells - 1 - np.arange(kept), 1.0, 2.0)
        x, chances = x[:kept], chances[:kept] * double
    asked = chances > 0
    x, chances = x[asked], chances[asked]
    cuts = LossCuts(loss.at(np.abs(y - x[:, None])), orbits, e, worst=False)
    solution = solve(cuts, cuts.start(), chances, e, tolerance=1e-4)
    at = x[solution.cuts.tags[:, 0].astype(np.int64)]
    levels, weights = solution.cuts.levels, solution.multipliers
    if prior.symmetric:
        at, levels, weights = np.concatenate([at, 1 - at]), np.tile(levels, 2), np.tile(weights, 2)
    bound = max(spread_bound(loss.exponent, e, at, 1 / cells, levels, weights), 0.0) if weights.any() else 0.0
    places = np.arange(steps + 1) * (2 * points // steps)
    mechanism = rounded(domain, epsilon, places, cuts.spread(solution.reference), points)
    published = OGPM(domain=domain, epsilon=epsilon)
    window = Window(domain=domain, epsilon=epsilon, loss_exponent=loss.exponent)
    candidates = [(mechanism, expected_cost(mechanism, loss, prior.cells)), (window, _known_cost(window, loss, prior))]
    found, cost, method = least_costly(candidates, "reference density by linear program")
    return Answer(
        mechanism=found,
        worst_case=cost,
        lower_bound=bound * loss.scale,
        published={"name": published.name, "worst_case": _known_cost(published, loss, prior)},
        seconds=time.monotonic() - begin,
        method=method,
        objective=f"expected {loss.name} error, {prior.kind} prior",
        certified=solution.finished,
    )


def _known_cost(mechanism: OGPM | Window, loss: DistanceLoss, prior: Prior) -> float:
    if prior.cells is None:
        return average_error(mechanism, loss.measured)
    # Every input is looked at under a general prior, so there must not be a million of them.
    coarse = Interval(mechanism.domain.low, mechanism.domain.high, cells=min(mechanism.domain.cells, 1 << 14))
    return expected_cost(replace(mechanism, domain=coarse), loss, prior.cells)
