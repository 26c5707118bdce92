"""The tree over ordered categories: its law, its estimates, and the shares of people at its levels."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from deniable.batch import randomize_many
from deniable.collector import planned_survey
from deniable.core import Categories, Hierarchy, Mixture
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import answers, counts, shares, tree_sums
from deniable.planning import best_hierarchy, workload
from deniable.planning.workloads.structured import _blocks, hierarchy_covariance, hierarchy_error
from deniable.privacy import FixedKeystream, audit_mechanism


def test_a_level_sees_the_leading_digits_only() -> None:
    tree = Hierarchy(domain=Categories(12), epsilon=1, fan_outs=[3, 4], shares=[2, 1])
    channel = tree.channel
    assert isinstance(channel, Mixture)
    first = range(channel.parts[0].outputs)
    for x in range(12):
        assert [channel.weight(x, y) for y in first] == [channel.weight(x // 4 * 4, y) for y in first]
    assert sum(channel.weight(5, y) for y in first) * 3 == 2 * channel.total


@pytest.mark.parametrize(
    "bad",
    [
        {"fan_outs": [5]},
        {"fan_outs": [3, 3]},
        {"fan_outs": []},
        {"fan_outs": [3, 4], "shares": [1]},
        {"fan_outs": [3, 4], "shares": [0, 1]},
        {"fan_outs": [3, 4], "oracles": ["oue", "oue"]},
        {"fan_outs": "34"},
    ],
)
def test_trees_that_do_not_fit_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        Hierarchy(domain=Categories(12), epsilon=1, **bad)  # type: ignore[arg-type]


def test_predicted_errors_are_those_of_simulated_surveys() -> None:
    """60 surveys: the mean squared error of all ranges lies within 6 of its standard errors (false alarms below 1e-6)."""
    tree = best_hierarchy("ranges", 2, size=16).mechanism
    questions, people = workload("ranges", 16), np.arange(1600) % 16
    off = []
    for run in range(60):
        leaves = shares(randomize_many(tree, people, FixedKeystream(run))).value - 1 / 16
        off.append(float(leaves @ questions.products @ leaves))
    predicted = hierarchy_error("ranges", tree) / 1600
    assert abs(np.mean(off) - predicted) < 6 * np.std(off) / math.sqrt(60)


def test_estimates_add_up_and_their_covariance_is_the_predicted_one() -> None:
    tree = Hierarchy(domain=Categories(16), epsilon=4, fan_outs=[4, 4])
    reports = randomize_many(tree, np.arange(32_000) % 16, FixedKeystream(7))
    estimated = shares(reports)
    assert float(estimated.value.sum()) == pytest.approx(1)
    assert estimated.covariance is not None
    assert np.allclose(estimated.covariance, hierarchy_covariance(tree) / 32_000, atol=0.15 * float(estimated.variance.max()))
    low, high = estimated.interval()
    assert ((low <= 1 / 16) & (high >= 1 / 16)).sum() >= 11  # 16 intervals of 95 %: fewer than 11 hold in one run of a million
    with pytest.raises(NotSupported, match="has shares"):
        counts(reports)


def test_all_ranges_at_once_are_the_single_ones() -> None:
    tree = Hierarchy(domain=Categories(12), epsilon=3, fan_outs=[3, 4], shares=[1, 2])
    reports = randomize_many(tree, np.arange(6000) % 12, FixedKeystream(11))
    value, error = tree_sums(reports).ranges()
    questions = workload("ranges", 12)
    each = answers(reports, questions, target="population")
    place = [(int(row.argmax()), int(11 - row[::-1].argmax())) for row in questions.matrix]
    assert np.allclose(each.value, [value[i, j] for i, j in place])
    assert np.allclose(each.standard_error, [error[i, j] for i, j in place], atol=1e-9)
    assert value[5, 3] == 0


@pytest.mark.parametrize("name", ["prefix", "ranges", "histogram"])
def test_closed_sums_over_blocks_are_those_of_the_table(name: str) -> None:
    for width in (1, 2, 4, 8, 16):
        assert _blocks(name, 16, width) == pytest.approx(_blocks(workload(name, 16), 16, width))


@pytest.mark.parametrize("name", ["prefix", "ranges"])
@pytest.mark.parametrize("epsilon", ["0.5", "1", "4"])
def test_no_other_shares_are_better(name: str, epsilon: str) -> None:
    best = best_hierarchy(name, epsilon, size=16)
    assert best.error <= best.equal_shares * (1 + 1e-9)
    assert best.mechanism.shares is not None
    for level in range(len(best.mechanism.shares)):
        changed = [share * (3 if place == level else 2) for place, share in enumerate(best.mechanism.shares)]
        assert hierarchy_error(name, replace(best.mechanism, shares=changed)) > best.error * 0.99


def test_a_hundred_thousand_values_take_a_moment() -> None:
    best = best_hierarchy("prefix", 1, size=100_000, fan_outs=[10] * 5)
    assert best.mechanism.certificate().holds
    assert best.error < best.equal_shares


def test_a_level_without_reports_counts_for_nothing() -> None:
    tree = Hierarchy(domain=Categories(12), epsilon=3, fan_outs=[3, 4], shares=[1, 1 << 30])
    reports = randomize_many(tree, np.arange(1200) % 12, FixedKeystream(4))
    sums = tree_sums(reports)
    assert [part.n for part in sums.parts] == [0, 1200]
    alone = randomize_many(tree, np.arange(1200) % 12, FixedKeystream(4))
    estimated = shares(alone)
    raw = sums.node_shares()[-1]
    assert np.allclose(estimated.value, raw + (1 - raw.sum()) / 12, atol=1e-6)
    assert np.isfinite(estimated.interval()[0]).all()


def test_audits_do_not_accuse_it() -> None:
    tree = Hierarchy(domain=Categories(12), epsilon=1, fan_outs=[3, 4], shares=[1, 3], oracles=["k-rr", "projective"])
    assert audit_mechanism(tree, samples=40_000, keystream=FixedKeystream(2)).violated is False


SURVEY = """
title = "Age"
purpose = "To plan."
epsilon = 1
respondents = 20_000
[attributes.age]
question = "How old are you?"
domain = "categories:64"
answers = ["ranges"]
"""


@pytest.mark.slow
def test_surveys_that_ask_for_ranges_get_a_tree_and_its_views() -> None:
    from deniable.batch import accumulator_for
    from deniable.collector.estimates import views_of

    planned = planned_survey(SURVEY)
    mechanism = planned.survey.mechanism
    assert mechanism.name == "hierarchy"
    assert "over all ranges" in planned.reasons["age"]
    sums = accumulator_for(mechanism).add(randomize_many(mechanism, np.arange(6400) % 64, FixedKeystream(3)))
    views = {view.what: view for view in views_of(mechanism, sums, sums, "age")}
    assert set(views) == {"frequency", "cumulative"}
    middle = views["cumulative"].rows[31]
    assert middle.label == "up to 31"
    assert middle.low <= 0.5 <= middle.high


@pytest.mark.parametrize("bad", ['"ranges"', '["everything"]', '["ranges", "prefix"]', "3"])
def test_other_answers_are_refused(bad: str) -> None:
    with pytest.raises(InvalidParameter, match="answers must be a list"):
        planned_survey(SURVEY.replace('["ranges"]', bad))
