"""The planner weighs mechanisms for items and for keys, and predicts what surveys measure."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from deniable.cli.plan import plan_command
from deniable.core import Interval, ItemSet, KeyValue
from deniable.errors import InvalidDomain, OutOfDomain
from deniable.planning import Question, plan
from deniable.privacy import FixedKeystream
from deniable.surveys import parse_domain, parse_value


def test_every_mechanism_for_items_is_weighed() -> None:
    planned = plan(Question(task="items", domain=ItemSet(12, at_most=2), users=10_000, epsilon=1))
    assert {one.mechanism for one in planned.candidates} == {"padding-sampling", "padding-oue", "priv-set", "set-selection"}
    assert planned.pick.mechanism == "priv-set"
    assert all(one.holds for one in planned.candidates)


@pytest.mark.parametrize(
    ("task", "domain"),
    [
        ("items", ItemSet(8, at_most=2)),
        ("key-values", KeyValue(4, Interval(0, 1, cells=16), at_most=2)),
        ("key-values", KeyValue(4, Interval(0, 1, cells=2), at_most=2)),
        ("key-distributions", KeyValue(4, Interval(0, 1, cells=2), at_most=2)),
    ],
)
def test_predicted_errors_are_measured(task: Any, domain: Any) -> None:
    """60 surveys on a fixed keystream; 5 standard errors."""
    for one in plan(Question(task=task, domain=domain, users=4000, epsilon=3)).candidates:
        tried = one.way.simulated(4000, 60, FixedKeystream(7))
        assert tried.error == pytest.approx(one.predicted_error, abs=5 * tried.standard_error)


def test_a_target_finds_the_fewest_people() -> None:
    planned = plan(Question(task="items", domain=ItemSet(20, at_most=3), epsilon=2, half_width=0.02))
    assert planned.found == "users"
    assert planned.pick.interval_half_width is not None
    assert planned.pick.interval_half_width <= 0.02


def test_plans_of_items_are_printed_as_json() -> None:
    run = CliRunner().invoke(plan_command, ["--task", "items", "--domain", "item-set:2,a,b,c", "-n", "1000", "-e", "1", "--json"])
    assert run.exit_code == 0, run.output
    assert json.loads(run.output)["domain"]["kind"] == "item-set"


def test_domains_and_values_are_written_in_one_line() -> None:
    travel = parse_domain("item-set:2,bus,car,bike")
    assert travel == ItemSet(["bus", "car", "bike"], at_most=2)
    assert parse_domain("item-set:3,50") == ItemSet(50, at_most=3)
    assert parse_value(travel, "bus; car") == ["bus", "car"] == parse_value(travel, '["bus", "car"]')
    assert parse_value(travel, "") == []
    assert parse_value(parse_domain("item-set:3,50"), "4;7") == [4, 7]
    apps = parse_domain("key-value:2,mail,maps;0,60,6")
    assert apps == KeyValue(["mail", "maps"], Interval(0, 60, cells=6), at_most=2)
    assert parse_value(apps, "mail=3; maps=4.5") == {"mail": 3, "maps": 4.5} == parse_value(apps, '{"mail": 3, "maps": 4.5}')
    assert parse_value(parse_domain("key-value:1,9;0,1"), "4=0.5") == {4: 0.5}
    for wrong in ("item-set:2", "key-value:2,a,b", "key-value:2,a,b;0", "item-set:x,a,b"):
        with pytest.raises(InvalidDomain):
            parse_domain(wrong)
    for secret in ("mail", "mail=3;mail=4", "mail=three", "{"):
        with pytest.raises(OutOfDomain) as error:
            parse_value(apps, secret)
        assert secret not in str(error.value) or secret == "mail"
