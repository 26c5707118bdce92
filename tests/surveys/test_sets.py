"""Surveys that ask for several answers at once: planned, answered by a device, and shown by the collector."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from deniable.collector.estimates import views_of
from deniable.collector.planned import planned_survey
from deniable.errors import OutOfDomain
from deniable.surveys import Ledger, MockTransport, Session, Survey, survey_from_toml

TEXT = """
title = "Apps"
purpose = "To see what is used."
epsilon = 2
respondents = 5000
[attributes.apps]
question = "Which of these do you use?"
domain = "item-set:2,mail,maps,chat,news"
"""
BOTH = (
    TEXT
    + """
[attributes.stars]
question = "How many stars?"
domain = "key-value:1,tea,milk;1,5,8"
"""
)


def test_the_planner_chooses_for_sets_and_for_keys() -> None:
    planned = planned_survey(TEXT)
    assert planned.survey.mechanism.name in ("priv-set", "padding-sampling")
    assert "share of an item" in planned.reasons["apps"]
    stars = planned_survey(BOTH)
    assert stars.survey.parts["stars"].name in ("pckv-grr", "pckv-ue")
    assert Survey.from_json(stars.survey.to_json()) == stars.survey


def test_a_device_reports_a_set_and_refuses_what_is_none(tmp_path: Path) -> None:
    survey = survey_from_toml(TEXT)
    device = Session(survey, Ledger(tmp_path / "ledger.db"), "http://localhost", transport=MockTransport())
    for wrong in (["mail", "mail"], ["mail", "maps", "chat"], "mail", ["secret-918273645"]):
        with pytest.raises(OutOfDomain) as error:
            device.answer({"apps": wrong})
        assert "918273645" not in str(error.value)
    assert device.ledger.spent() == 0
    receipt = device.answer({"apps": ["maps", "mail"]})
    assert (receipt.delivered, receipt.spent) == (True, Fraction(2))


def test_every_report_of_a_survey_has_one_length_whatever_the_size_of_the_set() -> None:
    mechanism = survey_from_toml(TEXT).mechanism
    frames = {len(mechanism.randomize_many([value]).to_bytes()) for value in ([], ["mail"], ["mail", "chat"])}
    assert len(frames) == 1


def test_the_collector_shows_items_sizes_keys_and_means() -> None:
    mechanism = survey_from_toml(BOTH).mechanism
    answers = [{"apps": ["mail"], "stars": {"tea": 4}}, {"apps": [], "stars": {}}] * 200
    whole = mechanism.accumulator().add(mechanism.randomize_many(answers))
    shown = {name: [view.what for view in views_of(part.mechanism, part, whole, name)] for name, part in whole.parts.items()}
    assert shown == {"apps": ["items", "sizes"], "stars": ["keys", "key-means"]}
    rows = views_of(whole.parts["stars"].mechanism, whole.parts["stars"], whole, "stars")[1].rows
    assert all(1 <= row.low <= row.value <= row.high <= 5 for row in rows)
    assert np.isfinite([row.value for row in rows]).all()
