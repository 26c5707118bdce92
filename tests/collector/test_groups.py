"""Groups that are compared: each has a survey of its own, and a difference is claimed only where the reports show one."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable import estimators
from deniable.batch import accumulator_for, randomize_many
from deniable.cli.survey_commands import following_round
from deniable.collector import Arrival, Store, opened, planned_survey
from deniable.collector.groups import MOST_ROWS, compared
from deniable.collector.steps import Published
from deniable.core import Report
from deniable.errors import InvalidParameter
from deniable.privacy import FixedKeystream
from deniable.surveys import Survey, survey_from_toml, surveys_from_toml

from .inside import Inside

TOML = """
title = "Travel"
purpose = "To plan bus lines."
epsilon = 3
release = "live"
groups = ["north", "south"]
[attributes.commute]
question = "How did you get to work today?"
domain = "categories:bike,bus,car"
mechanism = "k-rr"
"""


def of_groups(survey: Survey, answers: dict[str, list[Any]], seed: int = 0) -> Any:
    """What is said when these people answered, with fixed coins."""
    shown = {}
    for place, (name, values) in enumerate(answers.items()):
        sums = accumulator_for(survey.mechanism)
        if values:
            sums.add(randomize_many(survey.mechanism, values, FixedKeystream(100 * seed + place)))
        shown[name] = (survey, Published({}, sums, "" if values else "3 of 100 reports"))
    return compared(survey, shown)


def test_each_group_has_a_survey_of_its_own_that_says_so() -> None:
    surveys = surveys_from_toml(TOML)
    assert list(surveys) == ["north", "south"]
    north, south = surveys.values()
    assert north.title == "Travel: north"
    assert north.purpose.endswith("Your group, north, is not hidden; your answer is.")
    assert north.hash != south.hash
    assert north.mechanism == south.mechanism
    for alone in (survey_from_toml, planned_survey):
        with pytest.raises(InvalidParameter, match="each group is a survey of its own"):
            alone(TOML)


@pytest.mark.parametrize("groups", ['["north"]', '["north", "north"]', '"north"', '["a", 1]', '["a", " b"]', '["a", ""]', "[]"])
def test_groups_that_are_no_groups_are_refused(groups: str) -> None:
    with pytest.raises(InvalidParameter, match="groups must be 2 to 12 different names"):
        surveys_from_toml(TOML.replace('["north", "south"]', groups))


def test_a_file_stays_the_surveys_it_was_and_they_know_each_other(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
    first = opened(store, TOML)
    hashes = {name: planned.survey.hash for name, (planned, _) in first.items()}
    assert [created for _, created in first.values()] == [True, True]
    assert {name: (planned.survey.hash, created) for name, (planned, created) in opened(store, TOML).items()} == {
        name: (survey_hash, False) for name, survey_hash in hashes.items()
    }
    assert store.groups(hashes["south"]) == store.groups(hashes["north"]) == hashes
    # The next rounds of all groups are compared with each other, and with nobody else.
    later = {}
    for name, survey_hash in hashes.items():
        before = store.survey(survey_hash)
        assert before is not None
        later[name] = following_round(before)
        assert store.add_round(survey_hash, later[name])
        assert not store.add_round(survey_hash, later[name])
    assert store.groups(later["south"].hash) == {name: survey.hash for name, survey in later.items()}
    assert store.groups(hashes["south"]) == hashes
    assert not store.open_hashes()[hashes["north"]]
    store.delete_survey(hashes["north"])
    assert list(store.groups(hashes["south"])) == ["south"]
    assert store.groups("0" * 64) == {}
    store.close()


def test_intervals_hold_together_for_all_answers_and_groups() -> None:
    survey = surveys_from_toml(TOML)["north"]
    people = {"north": ["bus"] * 300, "south": ["car"] * 200}
    said = of_groups(survey, people)
    (attribute,) = said.attributes
    assert [(row.label, row.group) for row in attribute.rows[:3]] == [("bike", "north"), ("bike", "south"), ("bus", "north")]
    sums = accumulator_for(survey.mechanism)
    sums.add(randomize_many(survey.mechanism, people["south"], FixedKeystream(1)))
    low, high = estimators.shares(sums).interval(1 - 0.05 / 6)
    rows = [row for row in attribute.rows if row.group == "south"]
    assert [(row.low, row.high) for row in rows] == list(zip(low.tolist(), high.tolist(), strict=True))


@pytest.mark.slow
def test_equal_groups_are_rarely_said_to_differ() -> None:
    """At most 1 in 20 of all such surveys may say so about any answer; 400 of them with fixed coins."""
    survey = surveys_from_toml(TOML)["north"]
    wrong = 0
    for seed in range(400):
        people = ["bike"] * (5 + seed % 7) + ["bus"] * 30 + ["car"] * 20
        rows = of_groups(survey, {"north": people, "south": people}, seed).attributes[0].rows
        pairs = [(rows[i], rows[i + 1]) for i in range(0, len(rows), 2)]
        wrong += any(a.low > b.high or b.low > a.high for a, b in pairs)
    assert wrong <= 20


def test_a_plain_difference_is_found_and_few_reports_claim_none() -> None:
    survey = surveys_from_toml(TOML)["north"]

    def differs(count: int) -> bool:
        rows = of_groups(survey, {"north": ["bus"] * count, "south": ["car"] * count}).attributes[0].rows
        north, south = (row for row in rows if row.label == "bus")
        return bool(north.low > south.high)

    assert differs(300)
    assert not differs(2)


def test_a_group_without_numbers_is_named_and_one_alone_is_not_compared() -> None:
    survey = surveys_from_toml(TOML)["north"]
    said = of_groups(survey, {"north": ["bus"] * 50, "south": []})
    assert [(line.name, line.n, line.waiting) for line in said.groups] == [("north", 50, ""), ("south", 0, "3 of 100 reports")]
    assert said.attributes[0].rows == []
    assert said.attributes[0].note == "Fewer than two groups have numbers yet."
    three = of_groups(survey, {"north": ["bus"] * 50, "south": ["car"] * 50, "west": []})
    assert {row.group for row in three.attributes[0].rows} == {"north", "south"}


@pytest.mark.parametrize(
    ("domain", "mechanism", "what", "values"),
    [
        ("interval:0,10,100", "pm", "mean", [2.0, 3.0] * 40),
        ("interval:0,10,100", "window", "median", [2.0, 3.0] * 40),
        ("binary", "auto", "frequency", [1, 0] * 40),
        ("circle:24,24", "purkayastha", "", [3.0] * 80),
    ],
)
def test_numbers_are_compared_by_means_or_medians(domain: str, mechanism: str, what: str, values: list[Any]) -> None:
    text = TOML.replace("categories:bike,bus,car", domain).replace("k-rr", mechanism)
    survey = surveys_from_toml(text)["north"]
    (attribute,) = of_groups(survey, {"north": values, "south": values}).attributes
    assert attribute.what == what
    assert bool(attribute.rows) == bool(what)
    assert bool(attribute.note) == (not what)


def test_many_answers_are_listed_by_how_frequent_they_are() -> None:
    survey = surveys_from_toml(TOML.replace("bike,bus,car", "40"))["north"]
    people = list(np.repeat(np.arange(10, 40), 20))
    rows = of_groups(survey, {"north": people, "south": people}).attributes[0].rows
    assert len({row.label for row in rows}) == MOST_ROWS
    assert len(rows) == 2 * MOST_ROWS


def test_the_collector_says_what_is_public_of_each_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.collector.estimate_cache.FRESH_SECONDS", 0.0)
    store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
    text = TOML.replace('release = "live"', "release = { reports = 10, minutes = 0 }")
    surveys = {name: planned.survey for name, (planned, _) in opened(store, text).items()}
    alone = survey_from_toml(TOML.replace('groups = ["north", "south"]\n', ""))
    store.add_survey(alone)

    def count(name: str, reports: int) -> None:
        survey = surveys[name]
        for _ in range(reports):
            store.count([Arrival(survey, "", secrets.token_bytes(16), [Report(survey.mechanism.fingerprint, 1)], 1)])

    inside = Inside(store)
    count("north", 12)
    count("south", 4)
    said = inside.json(f"/v1/surveys/{surveys['north'].hash}/groups")
    assert [(line["name"], line["n"], line["waiting"]) for line in said["groups"]] == [
        ("north", 12, ""),
        ("south", 0, "4 of 10 reports"),
    ]
    admin = store.add_token("alice", "admin")
    said = inside.json(f"/v1/surveys/{surveys['north'].hash}/groups", admin)
    assert [(line["name"], line["n"], line["waiting"]) for line in said["groups"]] == [("north", 12, ""), ("south", 4, "")]
    count("south", 6)
    said = inside.json(f"/v1/surveys/{surveys['south'].hash}/groups")
    assert [line["n"] for line in said["groups"]] == [12, 10]
    assert len(said["attributes"][0]["rows"]) == 6
    assert inside.json(f"/v1/surveys/{alone.hash}/groups")["groups"] == []
    assert inside.get(f"/v1/surveys/{'0' * 64}/groups")[0] == 404
    inside.close()
