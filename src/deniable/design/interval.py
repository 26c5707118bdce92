"""The best mechanism on an interval: closed forms where there are any, the reference program elsewhere."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deniable.design.answer import Answer, Published
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


def design_worst(domain: Interval, loss: DistanceLoss, epsilon: Epsilon) -> Answer:
    """The least worst-case error on an interval."""
    begin = time.monotonic()
    if loss.exponent == 2 and float(epsilon) <= ONE_BIT_UP_TO:
        return _one_bit(domain, loss, epsilon, begin)
    steps, points = resolution(epsilon)
    e = math.exp(float(epsilon))
    y = np.linspace(0, 1, steps + 1)
    x = y[: steps // 2 + 1]
    orbits = np.minimum(np.arange(steps + 1), steps - np.arange(steps + 1))
    cuts = LossCuts(loss.at(np.abs(y - x[:, None])), orbits, e, worst=True)
    solution = solve(cuts, cuts.start(), np.ones(1), e, tolerance=1e-4)
    bound = _bound(solution, x, loss, e)
    places = np.arange(steps + 1) * (2 * points // steps)
    mechanism = rounded(domain, epsilon, places, cuts.spread(solution.reference), points)
    candidates: list[tuple[Mechanism, float]] = [(mechanism, largest_error(mechanism, loss))]
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
    )


def resolution(epsilon: Epsilon) -> tuple[int, int]:
    """Steps of the program's grid and cells of the mechanism: finer where errors are smaller."""
    level = float(epsilon)
    return (256, 4096) if level <= 5 else (512, 8192) if level <= 7 else (512, 16384)


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
    steps, points = resolution(epsilon)
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
