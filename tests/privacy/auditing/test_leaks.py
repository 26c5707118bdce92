"""Programs that hide the value in reports which never repeat are found; programs that hide nothing are not accused."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from tests.privacy.auditing.leaks import HONEST, LEAKS, NAMED, SUBTLE

from deniable.privacy import Audit, FixedKeystream, Scalar, audit, independence_test
from deniable.privacy.auditing.bounds import epsilon_below
from deniable.privacy.auditing.events import best_union, histograms
from deniable.privacy.auditing.families import learned


def audited(program: object, samples: int = 8000, confidence: float = 0.9999) -> Audit:
    target = Scalar(program)  # type: ignore[arg-type]
    return audit(target, [0, 1], epsilon=1, samples=samples, confidence=confidence, learned=False, order=FixedKeystream("leaks"))


@pytest.mark.parametrize("name", NAMED)
def test_a_named_leak_is_found(name: str) -> None:
    verdict = audited(LEAKS[name](Random(name)))
    assert verdict.violated, verdict.words
    assert verdict.epsilon_lower > 3


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LEAKS if name not in NAMED])
def test_a_leak_of_the_same_kinds_is_found(name: str) -> None:
    verdict = audited(LEAKS[name](Random(name)))
    assert verdict.violated, verdict.words
    assert verdict.epsilon_lower > 3


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBTLE)
def test_a_leak_that_shows_under_a_condition_or_a_recipe_only_is_found(name: str) -> None:
    outcome = audited(SUBTLE[name](Random(name)), samples=20_000)
    assert outcome.violated, outcome.words
    assert outcome.epsilon_lower > 2


@pytest.mark.slow
@pytest.mark.parametrize("told", [0, 5, 9])
def test_a_checksum_that_tells_one_of_ten_test_values_is_found(told: int) -> None:
    coins = Random(told)

    def draw(value: int) -> dict[str, object]:
        payload = coins.randbytes(8)
        return {"payload": payload.hex(), "check": zlib.crc32(payload + bytes([value == told]))}

    outcome = audit(Scalar(draw), list(range(10)), epsilon=1, samples=20_000, learned=False, order=FixedKeystream("ten"))
    assert outcome.violated, outcome.words


@pytest.mark.parametrize("name", HONEST)
def test_random_fields_are_not_accused(name: str) -> None:
    """False alarms: at most 1e-6 each, on fixed coins."""
    verdict = audited(HONEST[name](Random(name)), confidence=1 - 1e-6)
    assert verdict.violated is (False if "randomized bit" in name else None)
    assert verdict.blind


def test_nothing_told_about_reports_that_never_repeat_is_no_verdict() -> None:
    verdict = audited(HONEST["nonce"](Random(1)))
    assert verdict.violated is None
    assert verdict.words == "no verdict: reports hardly ever repeat, and no event distinguished the test values"
    assert "%" not in verdict.power  # no detection power is claimed
    assert verdict.to_dict()["verdict"] == "no verdict"


@pytest.mark.slow
def test_an_event_that_tells_next_to_nothing_is_no_verdict_about_reports_that_never_repeat() -> None:
    """A field that is true for 4 or for 6 of 10 is far from a claim of 5, and says nothing about what a nonce may hold."""
    coins = Random(7)
    target = Scalar(lambda value: [coins.getrandbits(128), coins.random() < (0.4, 0.6)[value]])
    verdict = audit(target, [0, 1], epsilon=5, samples=6000, learned=False, order=FixedKeystream("next to nothing"))
    assert verdict.violated is None
    assert 0 < verdict.epsilon_lower < 0.5
    assert verdict.words.startswith(
        "no verdict: reports hardly ever repeat, and the events that distinguish the test values show less"
    )
    assert "%" not in verdict.power


def test_an_informative_field_beside_a_nonce_has_a_verdict_and_a_warning() -> None:
    verdict = audited(HONEST["nonce beside a randomized bit"](Random(1)))
    assert verdict.violated is False
    assert verdict.epsilon_lower > 0.7
    assert verdict.limits == ["never the same twice: report[0]; what is encrypted there cannot be found by draws"]


def test_power_is_that_of_the_tested_event() -> None:
    """An event that has probability 1/2 for both inputs cannot show a violation of epsilon 1, with however many draws."""
    coins = Random(2)
    verdict = audited(lambda value: coins.getrandbits(1))
    assert verdict.violated is False
    assert verdict.visible == float("inf")
    assert "would not have shown any violation" in verdict.power


def test_an_honest_counter_or_clock_does_not_become_evidence_by_the_order_of_asking() -> None:
    """Blocks of one input after the other would give each input its own range of the counter."""
    state = [0]

    def running(value: int) -> int:
        state[0] += 1
        return state[0] // 100

    assert audited(running).violated is not True


@pytest.mark.parametrize("schedule", ["in turn", "at random", "one slower", "one after the other"])
def test_twin_workers_are_dependent_whatever_their_schedule(schedule: str) -> None:
    coins, workers, calls = Random(3), [Random(4), Random(4)], [0]
    schedules: dict[str, Callable[[int], int]] = {
        "in turn": lambda call: call % 2,
        "at random": lambda call: coins.getrandbits(1),
        "one slower": lambda call: int(coins.random() < 0.2),
        "one after the other": lambda call: int(call > 3000),
    }

    def draw(value: int) -> dict[str, object]:
        calls[0] += 1
        own = workers[schedules[schedule](calls[0])]
        return {"salt": coins.getrandbits(64), "id": f"{own.getrandbits(128):032x}", "bit": value ^ (own.random() < 0.27)}

    assert independence_test(Scalar(draw), [0, 1], samples=9000).found


@pytest.mark.parametrize("bits", [10, 16, 24, 64])
def test_values_that_come_back_by_chance_are_not_dependent(bits: int) -> None:
    """False alarms: at most 1e-6 each, on fixed coins."""
    coins = Random(bits)
    assert not independence_test(Scalar(lambda value: [coins.getrandbits(bits), value]), [0, 1], samples=9000).found


def test_a_classifier_proposes_what_several_fields_tell_together() -> None:
    """One field chooses which of two others is nearly the value; the true epsilon is ln 5."""
    pytest.importorskip("sklearn")
    coins = Random(5)

    def draw(value: int) -> list[int]:
        while True:
            row = [coins.getrandbits(32) for _ in range(6)]
            if row[0 if row[4] >> 31 else 1] >> 31 == value or coins.random() < 0.2:
                return row

    half = np.arange(6000) % 2
    fit, fresh = (Scalar(draw).draw([0, 1], half).reports for _ in range(2))
    (tree,) = learned.propose(fit, 2)
    counts = histograms(tree, fit, 2)
    accepted = best_union(counts[1], counts[0], delta=0.0, epsilon=None)[1]
    hits = histograms(tree, fresh, 2)[:, accepted].sum(axis=1)
    assert epsilon_below(hits[1], 3000, hits[0], 3000, 1e-4) > 1


def test_without_scikit_learn_a_line_says_so_only_when_there_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.privacy.auditing.families.learned.available", lambda: False)
    order = FixedKeystream(1)
    for name, said in (("nonce", 1), ("nonce beside a randomized bit", 0)):
        verdict = audit(Scalar(HONEST[name](Random(name))), [0, 1], epsilon=1, samples=8000, order=order)
        assert len(verdict.warnings) == said
        assert all("scikit-learn" in warning for warning in verdict.warnings)
