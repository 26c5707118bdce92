"""The known faults of the field are found within 10**6 samples at 99.9 % confidence; their correct siblings are not accused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.privacy.auditing import faults

from deniable.privacy import FixedKeystream, Vectorised, audit, coordinate_test, float_support_test, independence_test, memo_test

SAMPLES, CONFIDENCE = 1_000_000, 0.999

FAULTY: dict[str, tuple[Callable[[int], faults.Sampler], list[float]]] = {
    "truth off by k - 1": (lambda seed: faults.k_ary(10, 1.0, seed, forgets_others=True), [0, 1, 9]),
    "last bit not randomised": (lambda seed: faults.unary(16, 1.0, seed, skips_last=True), [0, 1, 15]),
    "float sampler": (lambda seed: faults.laplace(1.0, seed), [0.0, 1.0]),
    "words shared by two bits": (lambda seed: faults.unary(16, 1.0, seed, shares_words=True), [0, 1, 15]),
    "epsilon for one hash": (lambda seed: faults.bloom(16, 2, 1.0, seed, counts_one_hash=True), [0, 1, 7]),
}
FINE: dict[str, tuple[Callable[[int], faults.Sampler], list[float]]] = {
    "k-ary": (lambda seed: faults.k_ary(10, 1.0, seed), [0, 1, 9]),
    "unary": (lambda seed: faults.unary(16, 1.0, seed), [0, 1, 15]),
    "bloom": (lambda seed: faults.bloom(16, 2, 1.0, seed), [0, 1, 7]),
}


ON_THE_PAGE = {
    "truth off by k - 1": "truth probability off by a factor k − 1",
    "last bit not randomised": "last bit not randomised",
    "float sampler": "float sampler (value + Laplace noise in doubles)",
    "words shared by two bits": "noise words used twice",
    "epsilon for one hash": "ε computed for one hash function instead of two",
    "memo": '"permanent" answer drawn again each time',
}


QUICK = {"truth off by k - 1", "last bit not randomised", "k-ary"}


def quick_first(cases: Iterable[str]) -> list[Any]:
    """A million draws of the others take seconds each: `make test-all` runs those."""
    return [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in cases]


def shown_on_the_page(name: str) -> float:
    """What docs/auditing.md says was proved."""
    page = (Path(__file__).parents[3] / "docs" / "auditing.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith(f"| {ON_THE_PAGE[name]} |")]
    return float(row.rstrip("| ").rsplit("|", 1)[1])


@pytest.mark.parametrize("name", quick_first(FAULTY))
def test_a_planted_fault_is_found(name: str) -> None:
    make, inputs = FAULTY[name]
    verdict = audit(make(1), inputs, epsilon=1, samples=SAMPLES, confidence=CONFIDENCE, vectorised=True, order=FixedKeystream(name))
    assert verdict.violated
    assert verdict.epsilon_lower > 1.05
    assert verdict.epsilon_lower == pytest.approx(shown_on_the_page(name), abs=0.006)


@pytest.mark.parametrize("name", quick_first(FINE))
def test_a_correct_sibling_is_not_accused(name: str) -> None:
    """False alarms: at most 1e-6 per audit, by the confidence asked for; on fixed coins."""
    make, inputs = FINE[name]
    verdict = audit(make(2), inputs, epsilon=1, samples=300_000, confidence=1 - 1e-6, vectorised=True, order=FixedKeystream(2))
    assert verdict.violated is False
    assert verdict.epsilon_lower > 0.75  # and the search comes near the truth


def test_the_audit_comes_near_the_true_epsilon() -> None:
    verdict = audit(faults.k_ary(4, 1.0, 3), [0, 1, 2, 3], epsilon=1, samples=SAMPLES, vectorised=True, order=FixedKeystream(3))
    assert 0.97 < verdict.epsilon_lower <= 1.0


@pytest.mark.slow
def test_a_fault_of_a_tenth_is_seen_where_the_power_says_so() -> None:
    fine = audit(faults.k_ary(2, 1.0, 4), [0, 1], epsilon=1, samples=SAMPLES, vectorised=True, order=FixedKeystream(4))
    assert fine.visible < 0.1
    assert "this event would show a violation" in fine.power
    actual = 1.0 + fine.visible
    runs = [
        audit(faults.k_ary(2, actual, 50 + run), [0, 1], epsilon=1, samples=SAMPLES, vectorised=True, order=FixedKeystream(run))
        for run in range(12)
    ]
    assert sum(bool(run.violated) for run in runs) >= 10  # fewer than 10 of 12 would have a chance below 3e-4 at a power of .99


def test_reused_words_are_found_whatever_the_distance() -> None:
    for pool in (1000, 4099, 30_000):
        outcome = independence_test(Vectorised(faults.reusing(4, 1.0, 5, pool)), [0, 3])
        assert outcome.found, pool
        assert outcome.correlation > 0.5


def test_a_seed_that_is_reused_is_found() -> None:
    outcome = independence_test(Vectorised(faults.seeded_per_call(1.0)), [0])
    assert outcome.found
    assert "called again" in outcome.where
    assert outcome.correlation == pytest.approx(1.0)


def test_a_small_serial_correlation_is_found() -> None:
    rng = faults.generator(6)

    def sticky(values: faults.Array) -> faults.Array:
        fresh = rng.random(len(values)) < 0.7
        return np.where(rng.random(len(values)) < 0.1, np.roll(fresh, 1), fresh).astype(np.int64)

    assert independence_test(Vectorised(sticky), [0, 1]).found


@pytest.mark.parametrize("name", FINE)
def test_independent_reports_are_not_accused(name: str) -> None:
    """False alarms: at most 1e-6 each."""
    make, inputs = FINE[name]
    assert not independence_test(Vectorised(make(7)), inputs, samples=100_000).found


def test_the_last_coordinate_is_named() -> None:
    outcome = coordinate_test(Vectorised(faults.unary(16, 1.0, 8, skips_last=True)), [0, 1, 15], epsilon=1)
    assert outcome.violations == [15]
    assert outcome.frozen[15] == 3
    fine = coordinate_test(Vectorised(faults.unary(16, 1.0, 8)), [0, 1, 15], epsilon=1)
    assert fine.violations == []
    assert not fine.frozen.any()


def test_float_support_is_told_apart_from_a_lattice() -> None:
    outcome = float_support_test(Vectorised(faults.laplace(1.0, 9)), (0.0, 1.0), epsilon=1)
    assert outcome.violated
    assert outcome.lower > 4
    rough = faults.laplace(1.0, 9)
    fine = float_support_test(Vectorised(lambda values: np.round(rough(values) * 64) / 64), (0.0, 1.0), epsilon=1)
    assert not fine.violated


class Client:
    """Randomized response that answers from its memory, or pretends to."""

    def __init__(self, rng: np.random.Generator, remembers: bool) -> None:
        self.rng, self.remembers = rng, remembers
        self.memory: dict[int, int] = {}

    def __call__(self, value: int) -> int:
        if value not in self.memory or not self.remembers:
            truth = self.rng.random() < math.e / (math.e + 1)
            self.memory[value] = value if truth else 1 - value
        return self.memory[value]


@pytest.mark.parametrize("remembers", [True, False])
def test_a_permanent_answer_that_is_not_is_found(remembers: bool) -> None:
    rng = faults.generator(10)

    def new_client() -> Any:
        return Client(rng, remembers)

    outcome = memo_test(new_client, [0, 1], epsilon=1, times=8, samples=8000, order=FixedKeystream(10))
    assert outcome.violated is not remembers
    assert (outcome.changed == 0) is remembers
    if not remembers:
        assert outcome.history.epsilon_lower == pytest.approx(shown_on_the_page("memo"), abs=0.006)
