"""Plans: bounds that hold and are reached, inverse questions that are the inverse, and bad questions."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from deniable.core import (
    Binary,
    Categories,
    Circle,
    Disc,
    Epsilon,
    Interval,
    Points,
    PrefixExtendingMethod,
    Record,
    Rectangle,
    TreeHist,
    Whole,
    encode_report,
    make_mechanism,
)
from deniable.errors import DeniableError, InvalidParameter, NotSupported
from deniable.estimators import histogram
from deniable.planning import Bound, Impossible, Question, Way, lower_bound, plan, ways
from deniable.planning.bounds import bit_bound, share_bound
from deniable.planning.heavy_hitters import found_by_trying, found_chance, word_ways
from deniable.planning.places import GAUSS, predicted
from deniable.privacy import FixedKeystream, count_gain

THOUSAND: dict[str, Any] = {"task": "frequency", "domain": Categories(1000)}
PAIR = (["0.5", "0.3", "0.2"], ["0.35", "0.3", "0.35"])


def test_candidates_come_best_first_with_all_they_promise() -> None:
    planned = plan(Question(**THOUSAND, users=100_000, epsilon=1))
    errors = [one.predicted_error for one in planned.candidates]
    assert errors == sorted(errors)
    assert planned.pick is planned.candidates[0]
    assert len(errors) == 9
    document = json.loads(json.dumps(planned.to_dict()))
    assert document["pick"] == document["candidates"][0]["mechanism"] == "subset"
    for row in document["candidates"]:
        assert row["certificate"]["holds"]
        assert row["interval_half_width"] == pytest.approx(1.96 * row["predicted_error"], rel=1e-4)


def test_bytes_are_those_on_the_wire() -> None:
    for one in plan(Question(**THOUSAND, users=1000, epsilon=1)).candidates:
        (recipe,) = one.recipes
        assert len(encode_report(recipe, recipe.randomize(7))) == 19 + one.bytes_per_report


def test_a_limit_of_bytes_is_kept_and_said() -> None:
    planned = plan(Question(**THOUSAND, users=100_000, epsilon=1, max_bytes=4))
    assert {one.mechanism for one in planned.candidates} == {"k-rr", "hadamard", "projective"}
    assert ("oue", "a report takes 125 bytes, more than 4") in planned.left_out


def test_the_gain_of_fakes_is_the_auditors() -> None:
    planned = plan(Question(**THOUSAND, users=10_000, epsilon=1))
    for one in planned.candidates:
        assert one.poisoning == count_gain(one.recipes[0], users=10_000, fakes=100).gain


@pytest.mark.parametrize("size", [2, 5, 30, 1000])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_no_mechanism_passes_the_bound_of_shares_and_subset_selection_reaches_it(size: int, epsilon: float) -> None:
    planned = plan(Question(task="frequency", domain=Categories(size), users=1000, epsilon=epsilon))
    least = share_bound(size, epsilon, 1000)
    assert all(one.predicted_error >= least * (1 - 1e-9) for one in planned.candidates)
    assert planned.pick.predicted_error == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_no_candidate_passes_the_bounds_of_means_quantiles_and_tests(epsilon: float) -> None:
    questions = [
        Question(task="mean", domain=Interval(0, 3), users=500, epsilon=epsilon, data="worst"),
        Question(task="quantile", domain=Interval(0, 3, cells=4096), users=5000, epsilon=epsilon, bins=4),
        Question(task="distribution", domain=Interval(0, 3, cells=4096), users=5000, epsilon=epsilon, bins=4),
        Question(task="test", domain=Categories(3), users=200, epsilon=epsilon, hypotheses=PAIR),
        Question(task="mean", domain=Interval(0, 3), users=500, epsilon=min(epsilon, 3.0)),
        Question(task="mean", domain=Interval(0, 3, cells=1024), users=500, epsilon=min(epsilon, 3.0), attributes=3),
        Question(task="frequency", domain=Record({"a": Binary(), "b": Categories(7)}), users=500, epsilon=epsilon),
        Question(task="distribution", domain=Circle(cells=720), users=5000, epsilon=epsilon, bins=8),
        Question(task="heavy-hitters", domain=Whole(32), users=50_000, epsilon=epsilon),
    ]
    for question in questions:
        assert question.users is not None
        assert isinstance(question.epsilon, Epsilon)
        bound = lower_bound(question, question.epsilon, question.users)
        assert isinstance(bound, Bound)
        predicted = [
            way.predict(question.users).error for way in ways(question, question.epsilon, slow=False) if isinstance(way, Way)
        ]
        # Subset selection reaches the bound of shares: only rounding may be below it.
        assert min(predicted) >= bound.error * (1 - 1e-9)


@pytest.mark.parametrize(
    ("question", "what"),
    [
        ({"task": "location", "domain": Points([(0, 0), (1, 2), (3, 1)]), "epsilon": 1}, "places of a list"),
        ({"task": "mean", "domain": Interval(0, 1), "epsilon": 4}, "means of evenly spread values"),
        ({"task": "mean", "domain": Interval(0, 1, cells=1024), "epsilon": 4, "attributes": 2}, "several attributes"),
    ],
)
def test_where_no_bound_is_known_the_answer_says_so(question: dict[str, Any], what: str) -> None:
    planned = plan(Question(**question, users=300))
    assert f"No lower bound is known for {what}" in planned.why
    told = planned.to_dict()["lower_bound"]
    assert told["error"] is None
    assert "No lower bound is known" in told["why"]


def test_the_bound_of_even_means_holds_along_its_direction() -> None:
    """No likelihood in {1, E} learns more than 1 about the move that the bound is made of."""
    ratio = math.e
    cells = 400
    g = np.concatenate([-np.ones(cells // 2), np.ones(cells // 2)]) / cells
    g[0] -= 1 / (ratio - 1)
    g[-1] += 1 / (ratio - 1)
    assert abs(float(g @ ((np.arange(cells) + 0.5) / cells)) - (1 / (ratio - 1) + 1 / 4)) < 3 / cells
    for raised in range(1, cells):
        # The most for a likelihood that is E on so many cells: the largest parts of g.
        top = np.sort(g)[-raised:].sum()
        assert (ratio - 1) * top / (1 + (ratio - 1) * raised / cells) <= 1 + 1e-9


def test_a_bit_is_estimated_as_well_as_can_be() -> None:
    planned = plan(Question(task="frequency", domain=Binary(), users=400, epsilon=1))
    assert planned.pick.predicted_error == pytest.approx(bit_bound(1.0, 400), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "question",
    [
        {**THOUSAND, "target_error": 0.01},
        {"task": "mean", "domain": Interval(18, 90), "half_width": 2.0},
        {"task": "mean", "domain": Interval(18, 90), "target_error": 1.0, "data": "worst"},
        {"task": "distribution", "domain": Interval(0, 1, cells=4096), "target_error": 0.02, "bins": 4},
        {"task": "test", "domain": Categories(3), "target_error": 0.05, "hypotheses": PAIR},
        {"task": "heavy-hitters", "domain": Whole(32), "target_error": 0.05},
    ],
)
def test_inverse_questions_find_the_smallest(question: dict[str, Any]) -> None:
    enough = plan(Question(**question, users=20_000))
    assert enough.found == "epsilon"
    assert enough.met
    less = plan(
        Question(**{**question, "target_error": None, "half_width": None}, users=20_000, epsilon=0.99 * float(enough.epsilon))
    )
    asked = Question(**question, users=20_000)
    assert less.pick.value(asked) > (asked.aim or 0)
    fewest = plan(Question(**question, epsilon=2))
    assert fewest.found == "users"
    assert fewest.met
    one_less = [way.predict(fewest.users - 1) for way in ways(asked, Epsilon(2)) if isinstance(way, Way)]
    values = [one.error if asked.half_width is None else one.half_width or math.inf for one in one_less]
    assert min(values) > (asked.aim or 0)


@pytest.mark.slow
def test_impossible_targets_are_refused_with_the_bound() -> None:
    with pytest.raises(Impossible, match=r"lower bound for every mechanism is 0\.06062"):
        plan(Question(**THOUSAND, users=1000, epsilon=1, target_error=0.05))
    with pytest.raises(Impossible, match="lower bound"):
        plan(Question(**THOUSAND, users=10, target_error=1e-9))
    square = Rectangle(Interval(0, 1, cells=16), Interval(0, 1, cells=16))
    with pytest.raises(Impossible, match="proved by a linear program"):
        plan(Question(task="location", domain=square, epsilon=2, target_error=0.01))


def test_a_target_between_bound_and_candidates_is_not_met_but_not_called_impossible() -> None:
    planned = plan(Question(task="mean", domain=Interval(0, 1), users=1000, epsilon=1, target_error=0.0305, data="worst"))
    assert planned.met is False
    assert isinstance(planned.bound, Bound)
    assert planned.bound.error < 0.0305
    assert "not met" in planned.why


def test_repeats_share_epsilon_unless_the_answer_is_kept() -> None:
    fresh = plan(Question(task="frequency", domain=Categories(9), users=1000, epsilon=4, repeats=4))
    once = plan(Question(task="frequency", domain=Categories(9), users=1000, epsilon=1))
    assert fresh.pick.predicted_error == once.pick.predicted_error
    kept = plan(Question(task="frequency", domain=Categories(9), users=1000, epsilon=4, repeats=4, changing=False))
    assert kept.pick.predicted_error < once.pick.predicted_error
    (rappor,) = [one for one in kept.candidates if one.mechanism == "rappor"]
    assert rappor.recipes[0].lifetime == 4


def test_several_attributes_are_certified_for_the_whole_record() -> None:
    planned = plan(Question(task="mean", domain=Interval(0, 1, cells=1024), users=1000, epsilon=1, attributes=3))
    assert planned.pick.mechanism == "sample-one"
    assert all(one.holds and one.recipes[0].privacy == 1 for one in planned.candidates)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [PrefixExtendingMethod, TreeHist])
def test_words_of_the_predicted_share_are_found_as_often_as_promised(kind: Any) -> None:
    # 200 surveys at 5 % more and less than the predicted share: binomial, so bounds five deviations (1e-6) away.
    mechanism = kind(domain=Whole(12), epsilon=3, step_bits=6)
    (way,) = [
        w
        for w in word_ways(Question(task="heavy-hitters", domain=Whole(12), users=6000, epsilon=3, words=1), Epsilon(3))
        if isinstance(w, Way) and w.name == mechanism.name
    ]
    assert way.name == mechanism.name
    for factor in (0.7, 1.0):
        share = factor * _smallest(mechanism, 6000)
        chance = found_chance(mechanism, 1, 6000, share)
        seen, _, _ = found_by_trying(mechanism, 6000, share, 200, FixedKeystream(f"{mechanism.name} {factor}"))
        assert abs(seen - chance) < 5 * math.sqrt(max(chance * (1 - chance), 0.02) / 200) + 0.02


def _smallest(mechanism: Any, n: int) -> float:
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if found_chance(mechanism, 1, n, middle) >= 0.95 else (middle, high)
    return high


def test_the_inversion_is_that_of_histogram() -> None:
    from deniable.batch import accumulator_for, randomize_many
    from deniable.estimators import binned, gathered
    from deniable.planning.shape import inversion

    mechanism = make_mechanism("sw", domain=Interval(0, 1, cells=4096), epsilon=2)
    sums = accumulator_for(mechanism).add(randomize_many(mechanism, [0.1, 0.5, 0.9] * 100, FixedKeystream(1)))
    _, slope = inversion(mechanism, 8)
    mine = slope @ (gathered(sums.sums, binned(mechanism, 8).cuts) / sums.n)
    assert mine == pytest.approx(histogram(sums, bins=8).value)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({**THOUSAND}, "give two of users"),
        ({**THOUSAND, "users": 10}, "give two of users"),
        ({**THOUSAND, "users": 0, "epsilon": 1}, "users must be a whole number"),
        ({**THOUSAND, "users": True, "epsilon": 1}, "users must be a whole number"),
        ({**THOUSAND, "users": 10, "epsilon": -1}, "epsilon must be positive"),
        ({**THOUSAND, "users": 10, "target_error": 1, "half_width": 1}, "not both"),
        ({**THOUSAND, "users": 10, "target_error": math.nan}, "target_error must be a positive number"),
        ({"task": "guess", "domain": Binary(), "users": 10, "epsilon": 1}, "task must be one of"),
        ({"task": "mean", "domain": Binary(), "users": 10, "epsilon": 1}, "needs the domain Interval"),
        ({"task": "location", "domain": Circle(), "users": 10, "epsilon": 1}, "needs the domain Rectangle"),
        ({**THOUSAND, "users": 10, "epsilon": 1, "data": "nice"}, "data must be"),
        ({**THOUSAND, "users": 10, "half_width": "0.1"}, "half_width must be a positive number"),
        ({"task": "quantile", "domain": Interval(), "users": 10, "epsilon": 1, "level": 1.0}, "level must lie"),
        ({"task": "quantile", "domain": Interval(), "users": 10, "epsilon": 1, "attributes": 2}, "several attributes"),
        ({"task": "test", "domain": Categories(3), "users": 10, "epsilon": 1}, "needs hypotheses"),
        ({"task": "test", "domain": Categories(4), "users": 10, "epsilon": 1, "hypotheses": PAIR}, "one share for each"),
        ({"task": "mean", "domain": Record({"x": Binary()}), "users": 10, "epsilon": 1}, "fields that are Interval"),
        ({**THOUSAND, "users": 10, "epsilon": 1, "max_bytes": 1}, "no mechanism is left"),
        ({"task": "heavy-hitters", "domain": Whole(32), "users": 10, "epsilon": 1}, "no mechanism is left"),
    ],
)
def test_bad_questions_say_what_to_do(question: dict[str, Any], message: str) -> None:
    with pytest.raises(DeniableError, match=message) as caught:
        plan(Question(**question))
    assert isinstance(caught.value, InvalidParameter | NotSupported)


@pytest.mark.parametrize("users", [1000, 100_000, 10**9])
def test_a_test_of_many_users_has_a_bound_however_small(users: int) -> None:
    made = plan(Question(task="test", domain=Categories(2), hypotheses=(["1", "0"], ["0", "1"]), users=users, epsilon=3))
    assert made.bound is not None
    assert isinstance(made.bound, Bound)
    assert 0 <= made.bound.error <= made.pick.predicted_error


def test_words_so_few_that_even_the_rarest_is_found() -> None:
    for question in (
        Question(task="heavy-hitters", domain=Whole(1), words=1, epsilon=1, half_width=1),
        Question(task="heavy-hitters", domain=Whole(8), words=256, epsilon=16, users=10**12),
    ):
        made = plan(question)
        assert 0 <= made.pick.predicted_error < 1


def test_a_test_whose_reports_tell_nothing_is_a_coin() -> None:
    pair = (["1/3", "1/3", "1/3"], ["1/5", "2/5", "2/5"])
    made = plan(Question(task="test", domain=Categories(3), hypotheses=pair, users=1000, epsilon=0.1, repeats=10**6))
    assert made.pick.predicted_error == 0.5


@pytest.mark.slow
def test_places_on_fine_grids_are_weighed_too() -> None:
    coarse, fine = (plan(Question(task="location", domain=Disc(cells=cells), users=100, epsilon=3)) for cells in (64, 256))
    assert {one.mechanism for one in fine.candidates} == {"nearest-cells", "l-srr", "exponential-cells"}
    assert fine.pick.mechanism == "nearest-cells"
    assert fine.pick.predicted_error == pytest.approx(coarse.pick.predicted_error, rel=0.01)
    listed = plan(Question(task="location", domain=Points([(i % 20, i // 20) for i in range(200)]), users=100, epsilon=3))
    assert {one.mechanism: one.reason for one in listed.left_out}["l-srr"].endswith("at most 144 places")


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_cells_equally_near_have_their_share(epsilon: float) -> None:
    """On a few cells many are tied: the prediction beside the channel's own weights, place by place."""
    grid = Rectangle(Interval(0, 1, cells=5), Interval(0, 1, cells=5))
    mechanism = make_mechanism("nearest-cells", domain=grid, epsilon=epsilon)
    channel, middles = mechanism.channel, np.array([grid.decode(cell) for cell in range(25)], float)
    weights = np.array([[channel.weight(x, y) for y in range(25)] for x in range(25)]) / channel.total
    moved = [middles + way * 0.2 for way in GAUSS]
    away = np.mean([np.linalg.norm(true[:, None] - middles, axis=2) for true in moved], axis=0)
    assert predicted(mechanism).error == pytest.approx((weights * away).sum() / 25, rel=0.005)


@pytest.mark.parametrize(
    ("task", "domain", "few", "more"),
    [
        ("frequency", Categories(4), 1, {}),
        ("mean", Interval(0, 100), 1, {}),
        ("test", Categories(2), 5, {"hypotheses": (("1/2", "1/2"), ("3/5", "2/5"))}),
    ],
)
def test_a_plan_with_too_few_users_says_how_many_would_do(task: Any, domain: Any, few: int, more: dict[str, Any]) -> None:
    planned = plan(Question(task=task, domain=domain, users=few, epsilon=1, **more))
    needed = planned.users_needed
    assert needed is not None
    assert planned.warning is not None
    assert f"About {needed:,} would be enough" in planned.warning
    assert planned.to_dict()["users_needed"] == needed
    enough = plan(Question(task=task, domain=domain, users=needed, epsilon=1, **more))
    assert enough.warning is None
    width = enough.pick.interval_half_width or enough.pick.predicted_error
    span = float(domain.width) if task == "mean" else 1.0
    assert 0.09 < width / span <= 0.1001
    assert "too few" in planned._repr_html_()


def test_a_plan_for_places_never_asks_for_more_users() -> None:
    planned = plan(Question(task="location", domain=Rectangle(), users=1, epsilon=1))
    assert planned.users_needed is None
