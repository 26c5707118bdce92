"""What fake users can add: the planner's numbers against attacks that are carried out."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from deniable.core import Categories, Circle, Epsilon, Interval, Points, Rectangle, Whole, make_mechanism
from deniable.estimators import support_law
from deniable.planning import Candidate, Question, Way, ways
from deniable.planning.fakes import supported
from deniable.planning.shape import Reading, inversion

LINE = Interval(0, 10, cells=256)
GRID = Rectangle(Interval(0, 1, cells=8), Interval(0, 1, cells=8))
PAIR = (["0.5", "0.3", "0.2"], ["0.35", "0.3", "0.35"])
QUESTIONS: list[dict[str, Any]] = [
    {"task": "frequency", "domain": Categories(9)},
    {"task": "frequency", "domain": Categories(5), "attributes": 3},
    {"task": "mean", "domain": Interval(0, 3)},
    {"task": "mean", "domain": Interval(0, 3), "attributes": 2},
    {"task": "distribution", "domain": LINE, "bins": 16},
    {"task": "distribution", "domain": Circle(cells=360), "bins": 8},
    {"task": "quantile", "domain": LINE, "bins": 8},
    {"task": "heavy-hitters", "domain": Whole(16)},
    {"task": "test", "domain": Categories(3), "hypotheses": PAIR},
]


def candidates(question: dict[str, Any], users: int) -> list[Candidate]:
    asked = Question(**question, users=users, epsilon=2)
    found = [way for way in ways(asked, Epsilon(2), slow=False) if isinstance(way, Way)]
    return [Candidate(way, users, way.predict(users)) for way in found]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: f"{one['task']}-{one['domain'].kind}-{one.get('attributes', 1)}")
def test_every_candidate_says_what_fakes_can_add(question: dict[str, Any]) -> None:
    for one in candidates(question, 2000):
        told = one.to_dict()["poisoning"]
        assert told["fakes"] == 20
        assert told["largest_gain"] >= 0
        assert told["of"]


@pytest.mark.parametrize("domain", [GRID, Points([(0, 0), (1, 2), (3, 1)])])
def test_places_stand_for_themselves(domain: Any) -> None:
    for one in candidates({"task": "location", "domain": domain}, 500):
        told = one.to_dict()["poisoning"]
        assert told["largest_gain"] is None
        assert "stands for itself" in told["of"]


@pytest.mark.parametrize("read", ["distribution", "quantile", "circle"])
def test_the_worst_report_moves_a_histogram_as_far_as_said(read: Any) -> None:
    mechanism = make_mechanism("sw", domain=LINE, epsilon=2)
    matrix, slope = inversion(mechanism, 8)
    reading = Reading(read, 8, 0.4, 10.0)
    honest = matrix.mean(axis=0)
    truth = np.full(8, 1 / 8)
    part = 1e-6
    worst = 0.0
    for output in range(matrix.shape[1]):
        poisoned = (1 - part) * honest
        poisoned[output] += part
        shares = slope @ poisoned
        moved = float((shares - truth).max()) if read == "circle" else float(reading.losses(shares[None], truth)[0])
        worst = max(worst, float(np.sqrt(moved)) if read == "quantile" else moved)
    assert reading.gain(part, reading.questions() @ slope, exact=True).gain == pytest.approx(worst, rel=1e-3)


@pytest.mark.parametrize("name", ["k-rr", "oue", "subset", "hadamard", "projective", "sue", "olh"])
def test_no_report_supports_more_than_said(name: str) -> None:
    mechanism = make_mechanism(name, domain=Categories(4), epsilon=1)
    law = support_law(mechanism)
    rows = np.tril(np.ones((4, 4)))[:-1]
    found, reached = supported(rows, law, mechanism)
    single = [supported(row[None], law, mechanism) for row in rows]
    bits = np.array(list(product((0.0, 1.0), repeat=4))).T
    free = np.abs(rows @ (bits - law.q) / law.gap).max(axis=1)
    for row, (alone, exact) in zip(range(3), single, strict=True):
        assert np.abs(alone).max() <= free[row] * (1 + 1e-12)
        if name in ("oue", "sue"):
            assert exact
            assert np.abs(alone).max() == pytest.approx(free[row])
    assert reached == (name in ("k-rr", "subset", "hadamard", "projective"))
    assert np.all(np.abs(found).max(axis=1) <= free * (1 + 1e-12))


def test_fakes_of_a_sampled_record_all_choose_the_same_attribute() -> None:
    found = {one.label: one.poisoning for one in candidates({"task": "frequency", "domain": Categories(5), "attributes": 4}, 4000)}
    alone = {one.label: one.poisoning for one in candidates({"task": "frequency", "domain": Categories(5)}, 4000)}
    ratio = (found["sample-one (k-rr)"] or 0) / (alone["k-rr"] or 1)
    assert ratio == pytest.approx((40 / 1040) / (40 / 4040))


def test_fakes_turn_a_test_around() -> None:
    few, many = (
        min(one.poisoning or 0.0 for one in candidates({"task": "test", "domain": Categories(3), "hypotheses": PAIR}, users))
        for users in (100, 400)
    )
    assert 0 < many < 1
    assert 0 < few < 1
