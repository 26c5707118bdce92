"""The default fit: as smooth as the reports ask for, atoms at the ends, spikes where the reports show them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import deniable.estimators.penalized as penalized
import deniable.estimators.recent_shapes as recent_shapes
from deniable.batch import accumulator_for, randomize_many
from deniable.core import Circle, make_mechanism
from deniable.errors import InvalidParameter
from deniable.estimators import binned, shape
from deniable.estimators.most_likely import most_likely
from deniable.estimators.penalized import LADDER, _climbed, family, penalized_fit
from deniable.privacy import FixedKeystream


def reports_of(name: str, epsilon: float, values: Any, **extra: Any) -> Any:
    mechanism = make_mechanism(name, epsilon=epsilon, **extra)
    return accumulator_for(mechanism).add(randomize_many(mechanism, values, FixedKeystream("penalized")))


def distance(sums: Any, values: Any, method: Any) -> float:
    """Wasserstein-1 on a grid."""
    places = np.linspace(0, 1, 513)
    truth = np.searchsorted(np.sort(values), places, "right") / len(values)
    return float(np.abs(shape(sums, method=method).below(places) - truth).mean())


DRAWS = np.random.default_rng(11)
SMOOTH = {
    "even": DRAWS.random(20_000),
    "beta": DRAWS.beta(2, 5, 20_000),
    "exponential": np.minimum(DRAWS.exponential(0.15, 20_000), 1),
}
SPIKED = {"zero-inflated": np.where(DRAWS.random(20_000) < 0.6, 0.0, DRAWS.beta(2, 3, 20_000)), "one end": np.zeros(20_000)}


@pytest.mark.slow
def test_smooth_truths_are_nearer_than_by_smoothing_every_step() -> None:
    """On average over three shapes and four surveys each; single surveys may go the other way."""
    ratios = []
    for values in SMOOTH.values():
        for start in range(0, 20_000, 5_000):
            part = values[start : start + 5_000]
            sums = reports_of("sw", 1, part)
            ratios.append(distance(sums, part, "penalized") / distance(sums, part, "ems"))
    assert np.exp(np.mean(np.log(ratios))) < 0.9


@pytest.mark.parametrize(("name", "share"), [("zero-inflated", 0.6), ("one end", 1.0)])
def test_an_atom_at_an_end_stays_there(name: str, share: float) -> None:
    """Smoothing after every step spreads it over a tenth of the domain."""
    sums = reports_of("sw", 1, SPIKED[name])
    near, spread = (float(shape(sums, method=method).below(np.array([0.01]))[0]) for method in ("penalized", "ems"))
    assert near > 0.75 * share
    assert spread < 0.75 * near


@pytest.mark.slow
def test_spikes_are_sharpened_where_the_reports_refute_any_spline(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.round(24 * DRAWS.beta(2, 4, 100_000)) / 24
    sums = reports_of("sw", 4, values)
    sharp = distance(sums, values, "penalized")
    monkeypatch.setattr(penalized, "FAR", np.inf)
    monkeypatch.setattr(recent_shapes, "_RECENT", {})  # or the fit from before would be shown again
    assert sharp < 0.5 * distance(sums, values, "penalized")


@pytest.mark.parametrize("circular", [False, True])
def test_a_family_holds_a_constant_that_does_not_bend(circular: bool) -> None:
    one = family(256, circular)
    flat = np.zeros(one.columns.shape[1])
    flat[: 40 if circular else 43] = 1.0
    assert np.allclose(one.columns @ flat, 1.0)
    assert np.allclose(one.bending @ flat, 0.0)


def test_a_climb_ends_where_no_direction_leads_up() -> None:
    """The slope of the penalized likelihood, by differences, is nearly nothing; and a smaller penalty is never less likely."""
    mechanism = make_mechanism("sw", epsilon=2)
    laid = binned(mechanism, 64)
    matrix = laid.transition.matrix
    counts = 5000 * np.random.default_rng(3).dirichlet(np.ones(64)) @ matrix
    members = family(64, circular=False)
    start, reached = np.zeros(members.columns.shape[1]), []
    for penalty in LADDER:
        rung = _climbed(matrix, counts, members, penalty, start)
        start = rung.weights
        reached.append(rung.log_likelihood)
        price = penalty * members.bending + members.fixed

        def value(weights: Any, price: Any = price) -> float:
            logarithms = members.columns @ weights
            shares = np.exp(logarithms - logarithms.max())
            return float(counts @ np.log(shares / shares.sum() @ matrix) - weights @ price @ weights / 2)

        for direction in np.eye(len(start))[::5]:
            assert value(rung.weights + 1e-2 * direction) <= value(rung.weights) + 2e-3
            assert value(rung.weights - 1e-2 * direction) <= value(rung.weights) + 2e-3
        assert 0 <= rung.freedom <= len(start)
    assert all(b >= a - 1e-2 for a, b in pairwise(reached))


def test_reports_are_never_far_less_likely_than_under_the_most_likely_distribution() -> None:
    for values in (SMOOTH["beta"], SPIKED["zero-inflated"]):
        mechanism = make_mechanism("sw", epsilon=2)
        laid = binned(mechanism, 256)
        sums = reports_of("sw", 2, values)
        counts = np.add.reduceat(sums.sums, laid.cuts[:-1]).astype(np.float64)
        fitted = penalized_fit(laid.transition.matrix, counts, circular=False, tolerance=1e-3)
        groups = np.arange(0, len(counts), max(1, len(counts) // 256))
        matrix, counts = np.add.reduceat(laid.transition.matrix, groups, axis=1), np.add.reduceat(counts, groups)
        seen = counts > 0
        best, points = most_likely(np.ascontiguousarray(matrix[:, seen]), counts[seen] / counts.sum(), counts.sum())
        assert 2 * (counts.sum() * best - fitted.log_likelihood) <= points + 4 * np.sqrt(2 * points)
        assert fitted.shares.min() >= 0
        assert fitted.shares.sum() == pytest.approx(1)


def test_around_a_circle_there_is_no_seam() -> None:
    """Directions turned by half a circle give the estimate turned by half a circle."""
    values = np.random.default_rng(4).normal(0.5, 0.1, 20_000) % 1.0
    mechanism = make_mechanism("circular-window", epsilon=2, domain=Circle(1, cells=1 << 12))
    here = accumulator_for(mechanism).add(randomize_many(mechanism, values, FixedKeystream("seam")))
    there = accumulator_for(mechanism).add(randomize_many(mechanism, (values + 0.5) % 1.0, FixedKeystream("seam")))
    first, second = (shape(sums).bins(32).value for sums in (here, there))
    assert np.abs(np.roll(first, 16) - second).max() < 0.02


def test_options_of_the_other_methods_are_refused() -> None:
    sums = reports_of("sw", 1, SMOOTH["even"][:100])
    with pytest.raises(InvalidParameter, match="for the methods ems and em"):
        shape(sums, tolerance=0.1)
    with pytest.raises(InvalidParameter, match="penalized, ems, em"):
        shape(sums, method="splines")  # type: ignore[arg-type]


def test_both_targets_share_one_fit_and_give_the_answers_they_give_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = reports_of("sw", 1, DRAWS.beta(2, 5, 500))
    here = shape(sums, target="these users")
    here.bins(4).interval()
    beside = shape(sums, target="population")
    assert beside.fine is here.fine
    assert beside is not here
    shared = beside.bins(4).interval()
    monkeypatch.setattr(recent_shapes, "_RECENT", {})
    alone = shape(sums, target="population").bins(4)
    assert np.allclose(shared, alone.interval())
    assert not np.allclose(here.bins(4).interval(), shared)
