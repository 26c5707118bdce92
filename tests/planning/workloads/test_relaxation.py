"""Bounds by semidefinite relaxation: below the optimum, near it, and refused when they prove nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deniable.core import Epsilon
from deniable.planning.workloads.certificate import WrongBound
from deniable.planning.workloads.design import design_workload
from deniable.planning.workloads.heuristic import climbed, structured
from deniable.planning.workloads.relaxation import Proof, checked, products_form, relaxed
from deniable.planning.workloads.rows import linear, packed, quadratic
from deniable.planning.workloads.symmetry import Permutations, group
from deniable.planning.workloads.workload import Gram, Spread, gram, spread, workload


def problem(name: str, size: int) -> tuple[Gram, Spread, Permutations]:
    asked, people = workload(name, size), spread("uniform", size)
    centred = gram(asked, people)
    return centred, people, group(centred, people, asked.attributes)


@pytest.mark.parametrize(
    ("name", "epsilon", "optimum", "within"),
    [
        ("prefix", "1", 23.031365, 0.01),
        ("prefix", "4", 0.421044, 0.02),
        ("ranges", "2", 24.721441, 0.05),
        ("histogram", "1", 21.736384, 0.005),
    ],
)
def test_relaxed_bounds_are_below_the_optimum_and_near(name: str, epsilon: str, optimum: float, within: float) -> None:
    centred, people, elements = problem(name, 8)
    bound = checked(centred, people, Epsilon(epsilon), relaxed(centred, people, Epsilon(epsilon), elements)).value
    assert optimum * (1 - within) < bound < optimum


def test_a_planted_bound_is_refused_or_falls() -> None:
    centred, people, elements = problem("prefix", 6)
    epsilon = Epsilon(1)
    proof = relaxed(centred, people, epsilon, elements)
    honest = checked(centred, people, epsilon, proof).value
    optimum = 13.583732
    planted: list[Proof] = [
        replace(proof, multipliers=proof.multipliers * 0.9),
        replace(proof, products=-proof.products),
        replace(proof, products=proof.products + 1.0),
        replace(proof, inverse=proof.inverse * 1.2),
        replace(proof, squares=proof.squares + 3.0),
    ]
    for wrong in planted:
        assert proved_by(centred, people, wrong) < honest < optimum


def proved_by(centred: Gram, people: Spread, proof: Proof) -> float:
    """What a proof is good for; nothing when it is refused."""
    try:
        return checked(centred, people, Epsilon(1), proof).value
    except WrongBound:
        return 0.0


def test_the_products_are_the_form_they_stand_for() -> None:
    rng = np.arange(48.0).reshape(3, 4, 4) % 7
    form = products_form(rng)
    for number in range(16):
        b = np.array([number >> i & 1 for i in range(4)], float)
        x = np.concatenate([[1.0], b])
        both, one, neither = rng
        direct = b @ both @ b + b @ one @ (1 - b) + (1 - b) @ neither @ (1 - b)
        assert x @ form @ x == pytest.approx(direct)


def test_climbing_ends_where_no_flip_gains_and_its_prices_are_right() -> None:
    size, raised = 8, 2.5
    places = np.arange(size)
    pull = np.cos(0.7 * np.subtract.outer(places, places)) + np.eye(size)
    shares, multipliers = np.full(size, 1 / size), 1 + places / size
    patterns, price = climbed(pull, shares, multipliers, raised, structured(size, 50))
    every = (quadratic(pull, raised) / linear(shares, raised) - linear(multipliers, raised)) / linear(np.ones(size), raised)
    numbers = packed(patterns)
    assert price == pytest.approx(every[numbers])
    for bit in range(size):
        assert (every[numbers ^ (1 << bit)] <= price + 1e-9).all()
    assert price.max() == pytest.approx(every.max())


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.5", "1", "2", "4"])
def test_more_values_than_rows_can_be_listed_for(epsilon: str) -> None:
    designed = design_workload("prefix", epsilon, size=24)
    assert designed.gap is not None
    assert 0 <= designed.gap < 0.02
    assert designed.mechanism is not None
    assert designed.mechanism.certificate().holds
