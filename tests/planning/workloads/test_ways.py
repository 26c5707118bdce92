"""The planner offers designed tables for workloads: predicted as simulated, never behind a baseline, above the bound."""

from __future__ import annotations

import json
import math

import pytest
from click.testing import CliRunner

from deniable.cli.app import main
from deniable.core import Categories
from deniable.errors import InvalidParameter
from deniable.planning import Bound, NoBound, Question, design_workload, plan, workload
from deniable.planning.workloads.ways import designable
from deniable.privacy import FixedKeystream


@pytest.mark.parametrize(("name", "size"), [("prefix", 8), ("ranges", 8), ("histogram", 8), ("marginals:2", 8), ("marginals:3", 8)])
@pytest.mark.parametrize("epsilon", [0.5, 2, 4])
def test_the_pick_is_the_design_and_no_baseline_is_ahead(name: str, size: int, epsilon: float) -> None:
    made = plan(Question(task="workload", workload=name, domain=Categories(size), users=10_000, epsilon=epsilon))
    design = next(one for one in made.candidates if one.way.inner == "designed")
    # Where k-RR or subsets are the best there is, the design may tie with them up to its gap.
    assert design.predicted_error <= made.pick.predicted_error * (1 + 1e-4)
    assert isinstance(made.bound, Bound)
    assert made.bound.error <= made.pick.predicted_error < made.bound.error * (1 + 1e-3)


@pytest.mark.parametrize("name", ["prefix", "marginals:2"])
def test_predictions_are_what_surveys_give(name: str) -> None:
    made = plan(Question(task="workload", workload=name, domain=Categories(8), users=1_000, epsilon=1))
    for one in made.candidates:
        if one.mechanism in ("extremal", "k-rr", "subset", "hierarchical-histogram"):
            tried = one.way.simulated(1_000, 150, FixedKeystream(f"{name} {one.label}"))
            # Fixed coins; five standard errors would be passed by fewer than 1e-6 of them.
            assert abs(tried.error - one.predicted_error) < 5 * tried.standard_error, one.label


def test_many_values_are_planned_by_trees_without_a_bound() -> None:
    made = plan(Question(task="workload", workload="ranges", domain=Categories(128), users=10_000, epsilon=1))
    assert made.pick.mechanism == "hierarchy"
    assert isinstance(made.bound, NoBound)
    assert made.pick.attack is not None


def test_dozens_of_values_are_asked_by_a_table_that_beats_trees_and_the_published_descent() -> None:
    question = Question(task="workload", workload="ranges", domain=Categories(24), users=1_000, epsilon=1)
    made = plan(question)
    tree = next(one for one in made.candidates if one.mechanism == "hierarchy")
    descent = design_workload("ranges", 1, size=24, method="descent")
    published = math.sqrt(descent.error / descent.workload.questions / 1_000)
    assert made.pick.mechanism == "extremal"
    assert made.pick.predicted_error < 0.98 * min(tree.predicted_error, published)
    tried = made.pick.way.simulated(1_000, 150, FixedKeystream("a table of 24 values"))
    # Fixed coins; five standard errors would be passed by fewer than 1e-6 of them.
    assert abs(tried.error - made.pick.predicted_error) < 5 * tried.standard_error
    assert isinstance(made.bound, NoBound)


@pytest.mark.parametrize(("name", "size"), [("histogram", 24), ("marginals:2", 32), ("ranges", 65)])
def test_plans_say_why_they_design_no_table(name: str, size: int) -> None:
    reason = designable(workload(name, size), slow=True)
    assert reason
    made = plan(Question(task="workload", workload=name, domain=Categories(size), users=1_000, epsilon=1))
    assert [left.reason for left in made.left_out if left.mechanism == "extremal"] == [reason]


def test_the_command_plans_workloads() -> None:
    arguments = ["plan", "--task", "workload", "--workload", "prefix", "--size", "6", "--users", "1000", "--epsilon", "1", "--json"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    assert (document["pick"], document["pick_inside"]) == ("extremal", "designed")
    assert document["lower_bound"]["error"] <= document["candidates"][0]["predicted_error"]


def test_the_fewest_users_and_the_smallest_epsilon_are_found() -> None:
    few = plan(Question(task="workload", workload="prefix", domain=Categories(4), epsilon=1, target_error=0.01))
    assert few.pick.predicted_error <= 0.01
    small = plan(Question(task="workload", workload="prefix", domain=Categories(4), users=few.users, target_error=0.01))
    assert float(small.epsilon) == pytest.approx(1, rel=2e-3)


def test_only_the_task_workload_takes_a_workload() -> None:
    for task, name in (("frequency", "prefix"), ("workload", None)):
        with pytest.raises(InvalidParameter, match="needs a workload"):
            Question(task=task, workload=name, domain=Categories(4), users=10, epsilon=1)  # type: ignore[arg-type]
