"""A survey that asks for tables of several answers: planned, answered, and shown on the Results page like any other view."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.batch import accumulator_for, randomize_many
from deniable.collector import planned_survey
from deniable.collector.estimates import views_of
from deniable.core import Marginals
from deniable.errors import InvalidParameter
from deniable.privacy import FixedKeystream
from deniable.surveys import Survey, survey_from_toml

SURVEY = """
title = "Health"
purpose = "To plan."
epsilon = 0.5
respondents = 20_000
[attributes.person]
question = "Do you smoke, where do you live, and what do you do?"
domain = '{"smokes": "binary", "city": "categories:north,south,west", "job": "categories:4"}'
answers = ["marginals:2"]
"""


def test_the_planner_chooses_the_sets_and_every_cell_is_shown() -> None:
    planned = planned_survey(SURVEY)
    mechanism = planned.survey.mechanism
    assert isinstance(mechanism, Marginals)
    assert "over all marginals:2" in planned.reasons["person"]
    assert Survey.from_json(planned.survey.to_json()).mechanism == mechanism
    people = {
        "smokes": np.arange(2400) % 2,
        "city": np.array(["north", "south", "west"])[np.arange(2400) % 3],
        "job": np.zeros(2400, int),
    }
    sums = accumulator_for(mechanism).add(randomize_many(mechanism, people, FixedKeystream(3)))
    (view,) = views_of(mechanism, sums, sums, "person")
    assert view.what == "tables"
    rows = {row.label: row for row in view.rows}
    assert len(rows) == 2 * 3 + 2 * 4 + 3 * 4
    for label, share in (("smokes 1, city south", 1 / 6), ("city west, job 0", 1 / 3), ("smokes 0, job 3", 0.0)):
        assert rows[label].low <= share <= rows[label].high


def test_without_a_planner_every_pair_is_asked() -> None:
    assert survey_from_toml(SURVEY).mechanism.name == "marginals"


@pytest.mark.parametrize("bad", ['["marginals:4"]', '["marginals:0"]', '["marginals:all"]', '["ranges"]', '"marginals:2"'])
def test_tables_that_a_record_does_not_have_are_refused(bad: str) -> None:
    with pytest.raises(InvalidParameter, match="or with marginals:K"):
        survey_from_toml(SURVEY.replace('["marginals:2"]', bad))


def test_tables_of_one_answer_are_refused_with_what_to_write() -> None:
    domain = SURVEY[SURVEY.index("'{") : SURVEY.index("}'") + 2]
    with pytest.raises(InvalidParameter, match="write them as one attribute"):
        survey_from_toml(SURVEY.replace(domain, '"binary"'))
