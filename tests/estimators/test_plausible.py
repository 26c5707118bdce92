"""The ends of intervals: against brute force on small problems, and against the exact law of the reports."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import deniable.estimators.plausible as plausible
from deniable.core import Circle, Interpolated, Interval, make_mechanism
from deniable.estimators import dense
from deniable.estimators.active_set import furthest
from deniable.estimators.most_likely import most_likely
from deniable.estimators.plausible import Pilot, Plausible, pilot_shares
from deniable.estimators.response import response, rows_at

LINES = ["sw", "window", "ogpm", "pm", "hm", "pm-c", "laplace", "truncated-laplace", "bounded-laplace"]
CIRCLES = ["circular-window", "circular-ogpm", "purkayastha"]


def problem(seed: int) -> tuple[Any, ...]:
    draws = np.random.default_rng(seed)
    size = int(draws.integers(3, 9))
    table = draws.random((size, 6)) + 0.05
    table /= table.sum(axis=1, keepdims=True)
    seen = draws.multinomial(200, draws.dirichlet(np.ones(size)) @ table) / 200
    weighted = table / table.mean(axis=0)
    constant = float(seen @ (seen / table.mean(axis=0)))
    return weighted @ table.T, weighted @ seen, constant, draws.random(size), table, seen


@pytest.mark.parametrize("seed", range(12))
def test_the_furthest_sum_is_that_of_a_general_solver(seed: int) -> None:
    squares, scores, constant, weights, table, _ = problem(seed)
    size = len(scores)

    def form(p: Any) -> float:
        return float(p @ squares @ p - 2 * scores @ p + constant)

    whole: Any = {"type": "eq", "fun": lambda p: p.sum() - 1}
    options: Any = {"maxiter": 500, "ftol": 1e-14}
    start = np.full(size, 1 / size)
    lowest = minimize(form, start, bounds=[(0, 1)] * size, constraints=[whole], options=options)
    limit = form(lowest.x) + 4 / 200
    inside: Any = {"type": "ineq", "fun": lambda p: limit - form(p)}
    best = max(
        float(weights @ p.x)
        for p in (
            minimize(lambda p: -weights @ p, first, bounds=[(0, 1)] * size, constraints=[whole, inside], options=options)
            for first in (lowest.x, start)
        )
        if p.success and form(p.x) <= limit + 1e-9
    )
    middle = float(weights @ lowest.x)
    roots = table / np.sqrt(table.mean(axis=0))
    rows, ready = np.full((size, size), np.nan), np.zeros(size, np.bool_)
    found = furthest(roots, rows, ready, scores, constant, weights, limit, middle, np.array([0]), np.ones(1), 0.0)
    bound = found[0]
    # Never below, and hardly above.
    assert best - 1e-6 <= bound <= best + 0.03 * (best - middle) + 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_the_most_likely_mixture_is_that_of_many_steps_of_em(seed: int) -> None:
    _, _, _, _, table, seen = problem(seed)
    shares = np.full(len(table), 1 / len(table))
    for _ in range(20_000):
        shares = shares * (table @ (seen / (shares @ table)))
    found, _ = most_likely(table, seen, 1e6)
    assert found >= float(seen @ np.log(shares @ table)) - 1e-8


@pytest.mark.parametrize("name", LINES + CIRCLES)
def test_points_stand_for_all_values_between_them(name: str) -> None:
    domain: Any = Interval(0, 1, cells=900) if name in LINES else Circle(1, cells=900)
    extra = {"points": 128} if name in ("laplace", "truncated-laplace", "bounded-laplace") else {}
    mechanism = make_mechanism(name, domain=domain, epsilon=2, **extra)
    found = response(mechanism, 24).with_edges(np.array([0.3, 0.7]))
    channel = found.channel
    assert not isinstance(channel, Interpolated)
    inputs = np.arange(0, channel.inputs, max(channel.inputs // 400, 1))
    rows = np.add.reduceat(dense(channel, inputs), found.cuts[:-1], axis=1)
    assert np.abs(rows_at(channel, inputs.astype(float), found.cuts) - rows).max() < 1e-12
    between = np.stack([np.interp(inputs, found.places, column) for column in found.table.T], axis=1)
    assert np.abs(between - rows).max() < 1e-12
    assert np.abs(found.table.sum(axis=1) - 1).max() < 1e-9


@pytest.mark.parametrize("name", ["sw", "pm", "laplace"])
def test_every_value_is_in_one_bin_surely_or_in_two_possibly(name: str) -> None:
    mechanism = make_mechanism(name, domain=Interval(0, 10, cells=1000), epsilon=1, **({"points": 64} if name == "laplace" else {}))
    edges = np.linspace(0, 10, 8)
    found = response(mechanism, 24).with_edges(edges)
    surely, possibly = (np.array(part) for part in zip(*(found.inside(a, b) for a, b in itertools.pairwise(edges)), strict=True))
    assert (surely.sum(axis=0) <= 1).all()
    assert (possibly.sum(axis=0) >= 1).all()
    assert (surely <= possibly).all()


@pytest.mark.parametrize("target", ["these users", "population"])
@pytest.mark.parametrize("name", ["sw", "window", "pm"])
def test_intervals_hold_the_truth_behind_expected_reports(name: str, target: Any) -> None:
    mechanism = make_mechanism(name, epsilon=2)
    edges = np.linspace(0, 1, 6)
    found = response(mechanism, 48).with_edges(edges)
    truth = np.random.default_rng(1).dirichlet(np.full(len(found.places), 0.05))
    bounds = Plausible.of(found.table, (1e5 * (truth @ found.table)).round(), target)
    for a, b in itertools.pairwise(edges):
        surely, possibly = found.inside(a, b)
        low, high = bounds.interval(surely, possibly, 1.96)
        assert low <= surely @ truth
        assert possibly @ truth <= high


@pytest.mark.parametrize("name", ["circular-window", "pm"])
def test_an_end_does_not_depend_on_what_was_asked_before(name: str) -> None:
    """A question that begins where another one ended is looked at anew when that leads nowhere (everyone at one end)."""
    domain: Any = Interval(0, 1, cells=900) if name in LINES else Circle(1, cells=900)
    mechanism = make_mechanism(name, domain=domain, epsilon=4)
    edges = np.linspace(0, 1, 9)
    found = response(mechanism, 48).with_edges(edges)
    counts = (10_000 * found.table[0]).round()
    questions = [found.inside(a, b) for a, b in itertools.pairwise(edges)]
    asked_in_turn = Plausible.of(found.table, counts, "population")
    for surely, possibly in questions:
        alone = Plausible.of(found.table, counts, "population").interval(surely, possibly, 1.96)
        assert asked_in_turn.interval(surely, possibly, 1.96) == pytest.approx(alone, abs=0.01)


def test_a_pilot_on_more_points_is_the_same_pilot() -> None:
    found = response(make_mechanism("sw", domain=Interval(0, 1, cells=900), epsilon=2), 48)
    wide = found.with_edges(np.array([0.123, 0.77]))
    where = np.searchsorted(wide.places, found.places)
    shares = np.random.default_rng(3).dirichlet(np.full(len(found.places), 0.3))
    wider = Pilot(found.table, shares, 500.0, "these users").widened(wide.table, where)
    anew = Pilot(wide.table, wider.shares, 500.0, "these users")
    _, possibly = wide.inside(0.123, 0.77)
    first, second = wider.aim(possibly, 1.96), anew.aim(possibly, 1.96)
    assert first is not None
    assert second is not None
    assert first.linear == pytest.approx(second.linear, rel=1e-6)
    assert wider.noise(first) == pytest.approx(anew.noise(second), rel=1e-6)


@pytest.mark.parametrize("longer", [1.0, plausible.LONGER])
def test_a_pilot_makes_the_reports_as_likely_as_the_truth_does(longer: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long its steps are; and it stops soon after, or it would chase the reports' noise."""
    monkeypatch.setattr(plausible, "LONGER", longer)
    table = response(make_mechanism("laplace", domain=Interval(0, 1, cells=900), epsilon=1), 48).table
    counts = np.random.default_rng(5).multinomial(2000, 0.9 * table[50] + 0.1 * table[900]).astype(np.float64)
    seen = counts > 0

    def likelihood(shares: Any) -> float:
        return float(counts[seen] @ np.log(shares @ table[:, seen]))

    pilot, best = pilot_shares(table, counts), 2000 * most_likely(table[:, seen], counts[seen] / 2000, 2000)[0]
    assert pilot.sum() == pytest.approx(1)
    assert best - 10 < likelihood(pilot) < best
    assert likelihood(np.full(len(table), 1 / len(table))) < best - 10
