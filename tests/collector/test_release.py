"""Public numbers move in steps: whoever looks after every report cannot tell what that report was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.collector import Store, estimates
from deniable.surveys import Submission, Survey, batch_head, submission_to_json, survey_from_toml
from deniable.utility import support

from .inside import Inside

TOML = """
title = "Travel"
purpose = "To plan bus lines."
epsilon = 1
[attributes.commute]
question = "How did you get to work today?"
domain = "categories:bike,bus,car,walk"
[attributes.home]
question = "Where do you live?"
domain = "rectangle:0,8,0,8,4"
mechanism = "nearest-cells"
"""
ALONE = TOML.split("[attributes.home]")[0]
LABELS = ["bike", "bus", "car", "walk"]


@pytest.fixture
def fresh_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "FRESH_SECONDS", 0.0)


def served(folder: Path, toml: str) -> tuple[Inside, Survey]:
    survey = survey_from_toml(toml)
    store = Store(f"sqlite:///{folder / 'collector.db'}")
    store.add_survey(survey)
    return Inside(store), survey


def answered(inside: Inside, survey: Survey, value: object) -> int:
    """One person answers; what was in the report."""
    report = survey.mechanism.randomize(value)
    status, _ = inside.post(f"/v1/surveys/{survey.hash}/submissions", submission_to_json(survey, Submission.fresh(report)))
    assert status == 200
    return report.output


def crowd(inside: Inside, survey: Survey, values: object) -> None:
    body = batch_head(survey) + survey.mechanism.randomize_many(values).to_bytes()
    assert inside.post(f"/v1/surveys/{survey.hash}/batches", body, "application/vnd.deniable.batch")[0] == 200


def published_counts(inside: Inside, survey: Survey) -> tuple[int, ...]:
    """How often each answer was reported, worked out from the published estimates."""
    said = inside.json(f"/v1/surveys/{survey.hash}/estimates")
    (attribute,) = said["attributes"]
    if not attribute["views"]:
        return (0, 0, 0, 0)
    law = support(survey.mechanism)
    shares = {row["label"]: row["value"] for row in attribute["views"][0]["rows"]}
    return tuple(round(said["n"] * (shares[label] * float(law.p - law.q) + float(law.q))) for label in LABELS)


def differences(inside: Inside, survey: Survey, count: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Somebody looks after every report: what was reported, and by how much the published counts moved."""
    before = published_counts(inside, survey)
    for number in range(count):
        output = answered(inside, survey, LABELS[number % 4])
        after = published_counts(inside, survey)
        yield output, tuple(b - a for a, b in zip(before, after, strict=True))
        before = after


def isolated(output: int, moved: tuple[int, ...]) -> bool:
    return sum(moved) == 1 and moved[output] == 1


@pytest.mark.usefixtures("fresh_estimates")
def test_looking_after_every_report_recovers_none_of_them(tmp_path: Path) -> None:
    inside, survey = served(tmp_path, ALONE)
    crowd(inside, survey, ["bus"] * 300)
    recovered = sum(isolated(output, moved) for output, moved in differences(inside, survey, 25))
    inside.close()
    assert recovered == 0


@pytest.mark.usefixtures("fresh_estimates")
def test_nothing_that_everyone_can_see_moves_between_steps(tmp_path: Path) -> None:
    inside, survey = served(tmp_path, 'strategy = "split"\n' + TOML)
    people = {"commute": ["bus"] * 300, "home": [(1.0, 1.0)] * 300}
    crowd(inside, survey, people)
    base = f"/v1/surveys/{survey.hash}"
    places = ["/v1/surveys", base, f"{base}/estimates", f"{base}/estimates?window=", "/health", "/metrics"]
    places += [f"/dashboard/surveys/{survey.hash}/{page}" for page in ("privacy", "map?attribute=home")]
    before = {place: inside.get(place) for place in places}
    for _ in range(5):
        answered(inside, survey, {"commute": "car", "home": (7.0, 7.0)})
        inside.app.state.place_maps = None
        assert {place: inside.get(place) for place in places} == before
    inside.close()
    assert all(status == 200 for status, _ in before.values())
    assert json.loads(before[f"{base}/estimates"][1])["n"] == 0
