"""The least expected error on an interval, when the values follow a known prior."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np

from deniable.batch import Floats
from deniable.core import OGPM, Epsilon, Interval, Mechanism, Pieces, Window
from deniable.errors import NotSupported
from deniable.estimators import average_error
from deniable.planning.designs.answer import Answer
from deniable.planning.designs.asymptotic import known_limit, limit_start
from deniable.planning.designs.average_window import best_average_window
from deniable.planning.designs.cutting_planes import LossCuts, Solution, solve
from deniable.planning.designs.fine_interval import FINE_FROM, SOLVED, fine_average, fine_mechanism
from deniable.planning.designs.interval import WORTH_MORE, resolution
from deniable.planning.designs.lower_bound import spread_bound
from deniable.planning.designs.problem import DistanceLoss, Prior
from deniable.planning.designs.rounding import expected_cost, least_costly, rounded

WINDOW_GRAIN = 1 << 30


def design_average(domain: Interval, loss: DistanceLoss, epsilon: Epsilon, prior: Prior) -> Answer:
    """The least expected error under a uniform or piecewise-constant prior."""
    begin = time.monotonic()
    if loss.exponent is None:
        raise NotSupported(
            "a prior needs a power loss ('absolute', 'squared', 'power:K'); functions are designed for the worst case"
        )
    limit = known_limit(loss.exponent, prior.kind)
    if loss.exponent in (1, 2) and float(epsilon) >= FINE_FROM:
        first, bound, finished = _from_its_interior(domain, loss, epsilon, prior)
    else:
        first, bound, finished = _by_cutting_planes(domain, loss, epsilon, prior)
    candidates: list[tuple[Mechanism, float]] = [first]
    candidates += [(window, _window_cost(window, loss, prior)) for window in _windows(domain, epsilon, loss.exponent)]
    best, cost, method = least_costly(candidates, "reference density by linear program")
    published = OGPM(domain=domain, epsilon=epsilon)
    return Answer(
        mechanism=best,
        worst_case=cost,
        lower_bound=bound * loss.scale,
        published={"name": published.name, "worst_case": _window_cost(published, loss, prior)},
        seconds=time.monotonic() - begin,
        method=method,
        objective=f"expected {loss.name} error, {prior.kind} prior",
        certified=finished,
        predicted=None if limit is None else limit.predict(float(epsilon), loss.scale),
    )


def _from_its_interior(
    domain: Interval, loss: DistanceLoss, epsilon: Epsilon, prior: Prior
) -> tuple[tuple[Mechanism, float], float, bool]:
    """A design, what it costs, and the bound, for larger epsilon."""
    assert loss.exponent is not None
    x, width, chances = _values(prior, _many_cells(epsilon, loss.exponent))
    edges, masses, levels = fine_average(int(loss.exponent), epsilon, x, chances, prior.symmetric)
    mechanism = fine_mechanism(domain, epsilon, edges, masses)
    bound = _average_bound(loss.exponent, math.exp(float(epsilon)), x, width, levels, chances, prior.symmetric)
    cost = expected_cost(mechanism, loss, prior.cells)
    return (mechanism, cost), bound, cost <= SOLVED * bound * loss.scale


def _average_bound(k: float, e: float, x: Floats, width: float, levels: Floats, chances: Floats, symmetric: bool) -> float:
    if symmetric:
        x, levels, chances = np.concatenate([x, 1 - x]), np.tile(levels, 2), np.tile(chances, 2)
    return max(spread_bound(k, e, x, width, levels, chances), 0.0)


def _by_cutting_planes(
    domain: Interval, loss: DistanceLoss, epsilon: Epsilon, prior: Prior
) -> tuple[tuple[Mechanism, float], float, bool]:
    """The same for smaller epsilon, and for other losses."""
    assert loss.exponent is not None
    steps, points = resolution(epsilon, loss.exponent)
    e = math.exp(float(epsilon))
    limit = known_limit(loss.exponent, prior.kind)
    x, width, chances = _values(prior, _cells(epsilon, loss.exponent))
    y = np.linspace(0, 1, steps + 1)
    orbits = np.minimum(np.arange(steps + 1), steps - np.arange(steps + 1)) if prior.symmetric else np.arange(steps + 1)
    start = limit_start(limit, y, float(epsilon))
    cuts = LossCuts(loss.at(np.abs(y - x[:, None])), orbits, e, worst=False)
    solution = solve(cuts, cuts.start() if start is None else start, chances, e, tolerance=1e-4)
    bound = _average_bound(loss.exponent, e, x, width, _mean_levels(solution, cuts), chances, prior.symmetric)
    places = np.arange(steps + 1) * (2 * points // steps)
    mechanism = rounded(domain, epsilon, places, cuts.spread(solution.reference), points)
    candidates = [(mechanism, expected_cost(mechanism, loss, prior.cells))]
    if start is not None and candidates[0][1] > bound * loss.scale * WORTH_MORE:
        # The program knows the middles of the prior's cells, and leans on them; the limit for large epsilon does not.
        smooth = rounded(domain, epsilon, places, cuts.spread(start), points)
        candidates.append((smooth, expected_cost(smooth, loss, prior.cells)))
    return min(candidates, key=lambda candidate: candidate[1]), bound, solution.finished


def _many_cells(epsilon: Epsilon, exponent: float) -> int:
    """Cells of the prior where it may have many: sixteen within a favoured window."""
    return min(max(math.ceil(32 * math.exp(float(epsilon) / (exponent + 1))), 512), 4096)


def _cells(epsilon: Epsilon, exponent: float) -> int:
    """Cells of the prior: a favoured window must span several, or the program answers with their middles."""
    level = float(epsilon) if exponent < 2 else float(epsilon) * 2 / 3
    # Below exponent 1 the bound suffers from short cells (lower_bound.py).
    return 128 if level <= 5 or exponent < 1 else 256 if level <= 6 else 512


def _values(prior: Prior, wanted: int) -> tuple[Floats, float, Floats]:
    """The middles of the prior's cells, their width, and their chances; one half of them if the other mirrors it."""
    cells = wanted if prior.cells is None else len(prior.cells) * -(-wanted // len(prior.cells))
    x = (np.arange(cells) + 0.5) / cells
    chances = np.full(cells, 1 / cells) if prior.cells is None else np.repeat(prior.cells, cells // len(prior.cells))
    chances = chances / chances.sum()
    if prior.symmetric:
        kept = (cells + 1) // 2
        double = np.where(np.arange(kept) == cells - 1 - np.arange(kept), 1.0, 2.0)
        x, chances = x[:kept], chances[:kept] * double
    asked = chances > 0
    return x[asked], 1 / cells, chances[asked]


def _mean_levels(solution: Solution, cuts: LossCuts) -> Floats:
    """For every value the mean level of its cuts by their multipliers (one cut at it proves no less than all of them).

    A value without multipliers gets the level that the reference itself asks for.
    """
    owners, weights = solution.cuts.owners, solution.multipliers
    count = cuts.losses.shape[0]
    together = np.bincount(owners, weights=weights, minlength=count)
    levels = np.bincount(owners, weights=weights * solution.cuts.levels, minlength=count)
    asked = cuts.best_levels(cuts.spread(solution.reference))
    return np.where(together > 0, levels / np.where(together > 0, together, 1.0), asked)


def _windows(domain: Interval, epsilon: Epsilon, exponent: float) -> tuple[Pieces, Window]:
    """The best windows on average and in the worst case."""
    length, _ = best_average_window(exponent, float(epsilon))
    share = Fraction(min(max(round(length * WINDOW_GRAIN), 1), WINDOW_GRAIN - 1), WINDOW_GRAIN)
    average = Pieces(domain=domain, epsilon=epsilon, widths=[share], weights=[epsilon.bounds()[1], 1])
    return average, Window(domain=domain, epsilon=epsilon, loss_exponent=exponent)


def _window_cost(mechanism: OGPM | Window | Pieces, loss: DistanceLoss, prior: Prior) -> float:
    if prior.cells is None:
        return average_error(mechanism, loss.measured)
    # Every input is looked at under a general prior, so there must not be a million of them.
    coarse = Interval(mechanism.domain.low, mechanism.domain.high, cells=min(mechanism.domain.cells, 1 << 14))
    return expected_cost(replace(mechanism, domain=coarse), loss, prior.cells)
