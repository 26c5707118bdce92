"""The pick is the best candidate: a small fixed sample of what benchmarks/planning.py does for 200 questions."""

from __future__ import annotations

from typing import Any

import pytest

from deniable.core import Categories, Domain, Interval
from deniable.planning import Question, plan
from deniable.privacy import FixedKeystream

NEAR, WITHIN = 1.10, 1.02


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "domain", "epsilon", "more", "runs"),
    [
        ("frequency", Categories(6), 1.0, {}, 3000),
        ("frequency", Categories(40), 0.5, {}, 500),
        ("frequency", Categories(40), 3.0, {}, 500),
        ("mean", Interval(0, 1, cells=1 << 14), 0.4, {}, 12_000),
        ("mean", Interval(0, 1, cells=1 << 14), 3.0, {"data": "worst"}, 12_000),
    ],
)
def test_no_near_candidate_is_better_by_simulation(
    task: Any, domain: Domain, epsilon: float, more: dict[str, Any], runs: int
) -> None:
    # The coins are fixed. With others, a deviation of 0.7 % or less in each makes the right pick fail 2 % now and then:
    # benchmarks/planning.py counts how often.
    planned = plan(Question(task=task, domain=domain, users=150, epsilon=epsilon, **more))
    near = [one for one in planned.candidates if one.predicted_error <= NEAR * planned.pick.predicted_error]
    errors = [one.way.simulated(150, runs, FixedKeystream(one.label)).error for one in near]
    assert errors[0] <= WITHIN * min(errors)


def test_a_bad_pick_would_be_seen() -> None:
    planned = plan(Question(task="frequency", domain=Categories(40), users=150, epsilon=3))
    (blh,) = [one for one in planned.candidates if one.mechanism == "blh"]
    worse, best = (one.way.simulated(150, 300, FixedKeystream(one.label)).error for one in (blh, planned.pick))
    assert worse > WITHIN * best
