"""What one report adds to a linear question: its moments against every output, and intervals at the ends of what is possible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable.batch import Reports, accumulator_for, randomize_many
from deniable.core import Categories, make_mechanism
from deniable.estimators import answers, combined_shares, shares
from deniable.estimators.covariance import support_law
from deniable.estimators.linear_law import report_law
from deniable.privacy import FixedKeystream

WEIGHTS = np.array([0.7, -0.2, 0.1, 0.4])
PATTERNS = {"patterns": [[0, 1], [1, 2], [2, 3], [0, 3], [0], [1], [2], [3]]}


@pytest.mark.parametrize("name", ["k-rr", "hadamard", "projective", "extremal", "oue", "sue"])
def test_moments_are_those_of_all_outputs(name: str) -> None:
    mechanism: Any = make_mechanism(name, domain=Categories(4), epsilon=1.5, **(PATTERNS if name == "extremal" else {}))
    channel = mechanism.channel
    outputs = range(2**4 if channel.free_bits else channel.outputs)
    raw = [np.array([[y]], np.uint8) if channel.free_bits else np.array([y]) for y in outputs]
    read = np.array([shares(accumulator_for(mechanism).add(Reports(mechanism, one))).value @ WEIGHTS for one in raw])
    law = np.array([[float(channel.weight(x, y)) for y in outputs] for x in range(4)]) / float(channel.total)
    first, second, third = report_law(mechanism).moments(WEIGHTS)
    mean = law @ read
    off = read - mean[:, None]
    assert mean == pytest.approx(WEIGHTS)
    assert first == pytest.approx(mean)
    assert second == pytest.approx((law * off**2).sum(axis=1))
    assert third == pytest.approx((law * off**3).sum(axis=1))


@pytest.mark.parametrize("name", ["subset", "olh", "blh", "rappor"])
def test_variances_are_those_of_the_shares_together(name: str) -> None:
    mechanism = make_mechanism(name, domain=Categories(4), epsilon=1.5)
    law = support_law(mechanism)
    _, second, _ = report_law(mechanism).moments(WEIGHTS)
    together = [WEIGHTS @ law.count_noise(person, True) @ WEIGHTS for person in np.eye(4)]
    assert second == pytest.approx(together)


def misses(many: Any, truth: Any, runs: int) -> Any:
    beyond = np.zeros(len(truth))
    for seed in range(runs):
        low, high = many(FixedKeystream(seed)).interval()
        beyond += (truth < low - 1e-9) | (truth > high + 1e-9)
    return beyond


@pytest.mark.parametrize("people", [30, 60])
def test_answers_hold_where_everybody_is_at_one_end(people: int) -> None:
    """At epsilon 6, in 100 surveys: 17 or more misses of one answer have a chance below 1e-5 at 95 %. Normal ones miss 20 times."""
    mechanism: Any = make_mechanism("k-rr", domain=Categories(6), epsilon=6)

    def asked(stream: Any) -> Any:
        return answers(randomize_many(mechanism, [0] * people, stream), np.tri(6)[:-1])

    assert misses(asked, np.ones(5), 100).max() < 17


def test_one_group_alone_has_nearly_the_intervals_of_its_shares() -> None:
    """Whose ends are those of exact binomials, at most a little wider."""
    mechanism: Any = make_mechanism("oue", domain=Categories(4), epsilon=2)
    reports = randomize_many(mechanism, [0] * 25 + [3] * 5, FixedKeystream(1))
    alone, exact = combined_shares([reports]), shares(reports, target="population")
    assert np.allclose(alone.interval(), exact.interval(), atol=0.06)
    assert (alone.interval(method="wald")[0] < -0.1).any()


def test_a_question_with_one_answer_is_certain() -> None:
    mechanism: Any = make_mechanism("k-rr", domain=Categories(3), epsilon=1)
    low, high = answers(mechanism.randomize_many([0, 1, 2] * 20), [[2, 2, 2], [-1, 0, 3]]).interval()
    assert (low[0], high[0]) == (2, 2)
    assert -1 <= low[1] < high[1] <= 3
