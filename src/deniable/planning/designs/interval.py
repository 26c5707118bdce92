"""The best mechanism on an interval: closed forms where there are any, the reference program elsewhere."""

from __future__ import annotations

import math
import time

import numpy as np

from deniable.batch import Floats
from deniable.core import OGPM, Epsilon, Interval, Mechanism, OneBitSquared, Window
from deniable.estimators import worst_case
from deniable.planning.designs.answer import Answer, Published
from deniable.planning.designs.asymptotic import known_limit, limit_start
from deniable.planning.designs.cutting_planes import LossCuts, Solution, solve
from deniable.planning.designs.fine_interval import ALONE_FROM, FINE_FROM, SOLVED, fine_bound, fine_mechanism, fine_reference
from deniable.planning.designs.lower_bound import line_bound
from deniable.planning.designs.problem import DistanceLoss
from deniable.planning.designs.rounding import largest_error, least_costly, rounded

ONE_BIT_UP_TO = 2 * math.asinh(1)
WORTH_MORE = 1.002
"""A gap above this is worth a second program."""


def design_worst(domain: Interval, loss: DistanceLoss, epsilon: Epsilon) -> Answer:
    """The least worst-case error on an interval."""
    begin = time.monotonic()
    if loss.exponent == 2 and float(epsilon) <= ONE_BIT_UP_TO:
        return _one_bit(domain, loss, epsilon, begin)
    fine = int(loss.exponent) if loss.exponent in (1, 2) and float(epsilon) >= FINE_FROM else 0
    if fine and float(epsilon) > ALONE_FROM:
        candidates, bound = [_fine(domain, loss, epsilon, fine)], fine_bound(fine, epsilon)
        return _answer(domain, loss, epsilon, candidates, bound, candidates[0][1] <= SOLVED * bound * loss.scale, begin)
    steps, points = resolution(epsilon, loss.exponent)
    e = math.exp(float(epsilon))
    y = np.linspace(0, 1, steps + 1)
    x = y[: steps // 2 + 1]
    orbits = np.minimum(np.arange(steps + 1), steps - np.arange(steps + 1))
    limit = known_limit(loss.exponent, "worst")
    places = np.arange(steps + 1) * (2 * points // steps)

    def attempt(values: Floats, start: Floats | None) -> tuple[Solution, tuple[Mechanism, float]]:
        cuts = LossCuts(loss.at(np.abs(y - values[:, None])), orbits, e, worst=True)
        solution = solve(cuts, cuts.start() if start is None else start, np.ones(1), e, tolerance=1e-4)
        mechanism = rounded(domain, epsilon, places, cuts.spread(solution.reference), points)
        return solution, (mechanism, largest_error(mechanism, loss))

    solution, best = attempt(x, limit_start(limit, y, float(epsilon)))
    bound = _bound(solution, x, loss, e)
    if solution.finished and best[1] > bound * loss.scale * WORTH_MORE:
        # Values between the grid's are the worst ones: with them in the program its bound is weaker, its mechanism better.
        _, second = attempt(np.linspace(0, 0.5, steps + 1), solution.reference)
        best = min(best, second, key=lambda candidate: candidate[1])
    candidates = [best]
    if fine:
        candidates.append(_fine(domain, loss, epsilon, fine))
        candidates.sort(key=lambda candidate: candidate[1])
        bound = max(bound, fine_bound(fine, epsilon))
    return _answer(domain, loss, epsilon, candidates, bound, solution.finished, begin)


def _fine(domain: Interval, loss: DistanceLoss, epsilon: Epsilon, k: int) -> tuple[Mechanism, float]:
    mechanism = fine_mechanism(domain, epsilon, *fine_reference(k, epsilon))
    return mechanism, largest_error(mechanism, loss)


def _answer(
    domain: Interval,
    loss: DistanceLoss,
    epsilon: Epsilon,
    candidates: list[tuple[Mechanism, float]],
    bound: float,
    finished: bool,
    begin: float,
) -> Answer:
    """The cheapest of the designs and the best window."""
    if loss.exponent is not None:
        window = Window(domain=domain, epsilon=epsilon, loss_exponent=loss.exponent)
        candidates = [*candidates, (window, worst_case(window, loss.measured).error)]
    mechanism, cost, method = least_costly(candidates, "reference density by linear program")
    limit = known_limit(loss.exponent, "worst")
    return Answer(
        mechanism=mechanism,
        worst_case=cost,
        lower_bound=bound * loss.scale,
        published=published_worst(domain, loss, epsilon),
        seconds=time.monotonic() - begin,
        method=method,
        objective=f"worst-case {loss.name} error",
        certified=finished,
        predicted=None if limit is None else limit.predict(float(epsilon), loss.scale),
    )


def resolution(epsilon: Epsilon, exponent: float | None) -> tuple[int, int]:
    """Steps of the program's grid and cells of the mechanism: finer where favoured windows are shorter."""
    level = float(epsilon)
    if level > 9 and (exponent is None or exponent < 2):
        return 1024, 16384
    return (256, 4096) if level <= 5 else (512, 8192) if level <= 7 else (512, 16384)


def _bound(solution: Solution, x: Floats, loss: DistanceLoss, e: float) -> float:
    """What the multipliers prove, in widths of the domain; for squared error at least what the two ends prove."""
    at = x[solution.cuts.tags[:, 0].astype(np.int64)]
    known = two_ends(e) if loss.exponent == 2 else 0.0
    return max(line_bound(loss, e, at, solution.cuts.levels, solution.multipliers), known)


def two_ends(e: float) -> float:
    """E/(1 + E)**2, rounded down by a hair: no mechanism has less squared error at one of the two ends of [0, 1]."""
    # sech**2, not E/(1 + E)**2: no cancellation.
    return 0.25 / math.cosh(math.log(e) / 2) ** 2 * (1 - 1e-12)


def _one_bit(domain: Interval, loss: DistanceLoss, epsilon: Epsilon, begin: float) -> Answer:
    mechanism = OneBitSquared(domain=domain, epsilon=epsilon)
    bound = two_ends(math.exp(float(epsilon)))
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
