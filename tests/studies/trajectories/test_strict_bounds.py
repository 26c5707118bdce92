"""Intervals of maps: the exact ends of what is plausible; they cover peaked, smooth and empty grounds, and own up to doubt."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from deniable.batch import randomize_many
from deniable.core import Interval, Polygon, Rectangle, make_mechanism
from deniable.privacy import FixedKeystream
from deniable.studies import density_map
from deniable.studies.trajectories.strict_bounds import StrictBounds

Floats = NDArray[np.float64]
METHODS: tuple[Literal["em", "ems"], ...] = ("em", "ems")
REACH = 1.959964


def square(cells: int) -> Rectangle:
    return Rectangle(Interval(0, 1, cells=cells), Interval(0, 1, cells=cells))


def problem(cells: int, seed: int, n: int = 500) -> StrictBounds:
    draws = np.random.default_rng(seed)
    matrix = draws.dirichlet(np.full(30, 0.3), cells)
    shares = draws.dirichlet(np.full(cells, 0.4))
    likely = 0.9 * (shares @ matrix) + 0.1 / 30
    seen = draws.multinomial(n, shares @ matrix) / n
    return StrictBounds(matrix / likely @ matrix.T, matrix @ (seen / likely), n)


def _along(shares: Floats, aim: Floats) -> float:
    return float(aim @ shares)


def test_everyone_in_one_place_has_an_interval() -> None:
    # The path may end with a single share; rounding must not take that one away as well.
    ground = Rectangle(Interval(0, 10, cells=8), Interval(0, 8, cells=8))
    disc = make_mechanism("nearest-cells", domain=ground, epsilon=1)
    for survey in range(12):
        reports = randomize_many(disc, [(2.0, 2.0)] * 200, FixedKeystream(f"one place {survey}"))
        found = density_map(reports, cells=8, most_iterations=1000)
        low, high = found.interval(0.95)
        assert (low <= high).all()
        assert float(high.max()) > 0.5
        assert float(low.min()) >= 0


@pytest.mark.parametrize("cells", [2, 3, 6, 10])
def test_the_ends_are_those_a_general_solver_finds(cells: int) -> None:
    found = problem(cells, cells)

    def far(shares: Floats) -> float:
        return float(found.n * (shares @ found.squares @ shares - 2 * found.scores @ shares))

    limit = far(found.best) + REACH**2
    options: Any = {"ftol": 1e-12, "maxiter": 2000}
    total: Any = {"type": "eq", "fun": lambda shares: shares.sum() - 1}
    near: Any = {"type": "ineq", "fun": lambda shares: limit - far(shares)}
    for cell in range(cells):
        weights = np.eye(cells)[cell]
        for sign, end in zip((1, -1), found.interval(weights, REACH), strict=True):
            slow: Any = minimize(
                _along,
                found.best,
                args=(sign * weights,),
                bounds=[(0, 1)] * cells,
                constraints=[total, near],
                method="SLSQP",
                options=options,
            )
            assert end == pytest.approx(float(weights @ slow.x), abs=2e-4)


def test_the_best_shares_are_possible_and_every_interval_holds_them() -> None:
    for seed in range(5):
        found = problem(40, seed)
        assert found.best.min() >= 0
        assert found.best.sum() == pytest.approx(1)
        for cell in range(40):
            low, high = found.interval(np.eye(40)[cell], REACH)
            assert -1e-9 <= low <= found.best[cell] + 1e-6
            assert found.best[cell] - 1e-6 <= high <= 1 + 1e-9


def test_cells_that_reports_cannot_tell_apart_have_the_interval_of_their_sum() -> None:
    one = problem(4, 1)
    twice = [0, 1, 2, 3, 3]
    found = StrictBounds(one.squares[np.ix_(twice, twice)], one.scores[twice], one.n)
    both = found.interval(np.array([0.0, 0, 0, 1, 1]), REACH)
    assert both == pytest.approx(one.interval(np.eye(4)[3], REACH), abs=1e-4)
    for cell in (3, 4):
        low, high = found.interval(np.eye(5)[cell], REACH)
        assert low == pytest.approx(0, abs=1e-4)
        assert high == pytest.approx(both[1], abs=1e-4)


# --- coverage: surveys of the same people again and again, truth known


def people(kind: str, count: int) -> Floats:
    draws = np.random.default_rng(5)
    if kind == "peaked":
        # Two fifths within a hundredth of the square's side, next to the border of two cells.
        sharp, wide = draws.normal((0.26, 0.69), 0.01, (count, 2)), draws.normal((0.7, 0.3), 0.05, (count, 2))
        return np.asarray(np.clip(np.where(draws.random((count, 1)) < 0.4, sharp, wide), 0, 1))
    if kind == "smooth":
        return np.asarray(
            np.clip(
                np.where(draws.random((count, 1)) < 0.5, draws.normal((0.35, 0.65), 0.15, (count, 2)), draws.random((count, 2))),
                0,
                1,
            )
        )
    return np.stack([0.4 * draws.random(count), 0.5 + 0.5 * draws.random(count)], axis=1)


def coverage(mechanism: Any, kind: str, runs: int, count: int = 5000) -> dict[str, float]:
    """The share of the 16 cells of a map whose interval holds the truth, over some surveys; of a range, too."""
    places = people(kind, count)
    truth = np.histogram2d(places[:, 1], places[:, 0], bins=4, range=((0, 1), (0, 1)))[0].ravel() / count
    ranged = float(((places >= [0.1, 0.3]) & (places <= [0.6, 0.8])).all(axis=1).mean())
    hits: dict[str, list[float]] = {"em": [], "ems": [], "range": []}
    for run in range(runs):
        reports = randomize_many(mechanism, places, FixedKeystream(f"{kind} {run}"))
        for method in METHODS:
            found = density_map(reports, cells=4, method=method)
            low, high = found.interval()
            hits[method] += ((low <= truth) & (truth <= high)).tolist()
            assert (low <= found.value).all()
            assert (found.value <= high).all()
        part = found.range_share((0.1, 0.3), (0.6, 0.8))
        hits["range"].append(abs(float(part.value) - ranged) <= REACH * float(part.standard_error))
    return {name: float(np.mean(found)) for name, found in hits.items()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["peaked", "smooth", "empty"])
@pytest.mark.parametrize("epsilon", [2, 5])
def test_intervals_of_few_surveys_cover(kind: str, epsilon: float) -> None:
    """The claim of the next test, quickly: the intervals before this one held 44 to 95 % of the truth."""
    found = coverage(make_mechanism("nearest-cells", domain=square(32), epsilon=epsilon), kind, 2)
    assert min(found["em"], found["ems"]) >= 0.9, found


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["peaked", "smooth", "empty"])
@pytest.mark.parametrize(
    ("name", "epsilon"), [("nearest-cells", 1), ("nearest-cells", 2), ("nearest-cells", 5), ("tracs-c", 5), ("tracs-d", 5)]
)
def test_intervals_at_95_percent_cover_at_least_93(kind: str, name: str, epsilon: float) -> None:
    """10 surveys of 16 cells on fixed coins, so the measured coverage is always the same."""
    found = coverage(make_mechanism(name, domain=square(32 if name == "nearest-cells" else 512), epsilon=epsilon), kind, 10)
    assert min(found["em"], found["ems"]) >= 0.93, found
    assert found["range"] >= 0.8, found


def test_higher_levels_are_wider_and_standard_errors_reach_the_ends() -> None:
    reports = randomize_many(
        make_mechanism("nearest-cells", domain=square(16), epsilon=3), people("smooth", 2000), FixedKeystream("w")
    )
    found = density_map(reports, cells=4)
    (low, high), (lower, higher) = found.interval(0.8), found.interval(0.99)
    assert (lower <= low + 1e-9).all()
    assert (high <= higher + 1e-9).all()
    assert (higher - lower).sum() > 1.2 * (high - low).sum()
    ends = found.interval()
    reach = REACH * found.standard_error
    assert (found.value - reach <= ends[0] + 1e-9).all()
    assert (found.value + reach >= ends[1] - 1e-9).all()
    assert np.allclose(np.diagonal(found.covariance), found.variance)


def test_a_map_too_fine_for_its_reports_says_so_by_wide_intervals() -> None:
    """At epsilon 1 reports do not tell neighbouring cells of 16 a side apart: most intervals reach down to nobody."""
    reports = randomize_many(
        make_mechanism("nearest-cells", domain=square(16), epsilon=1), people("smooth", 2000), FixedKeystream("f")
    )
    found = density_map(reports, cells=16)
    low, high = found.interval()
    assert (low < 1e-6).mean() > 0.95
    assert (high - found.value).mean() > 5 * found.value.mean()


def test_intervals_work_on_a_polygon_and_leave_nothing_out() -> None:
    region = Polygon([(0, 0), (1, 0), (1, 1), ("0.5", "0.4"), (0, 1)], cells=24)
    mechanism = make_mechanism("nearest-cells", domain=region, epsilon=5)
    places = np.array([[0.2, 0.2]] * 1500 + [[0.85, 0.6]] * 1500)
    found = density_map(randomize_many(mechanism, places, FixedKeystream("p")), cells=4)
    assert found.leaves is not None
    assert (found.grid.numbered(found.leaves.middles) >= 0).all()
    low, high = found.interval()
    truth = np.bincount(found.grid.numbered(places), minlength=len(found.grid)) / len(places)
    assert ((low <= truth) & (truth <= high)).mean() > 0.9
    assert low[truth > 0].min() > 0.3
