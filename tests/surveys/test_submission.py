"""Submissions: strict both ways, one key per report, no crash on garbage."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.core import decode_reports
from deniable.errors import DeniableError, Malformed, UnknownVersion, WrongRecipe
from deniable.surveys import (
    Submission,
    Survey,
    decode_batch,
    encode_batch,
    submission_from_json,
    submission_to_json,
    submissions_from_json,
    submissions_to_json,
    survey_from_toml,
)

TOML = 'title="t"\npurpose="p"\nepsilon=1\n[attributes.colour]\nquestion="Which?"\ndomain="categories:red,green,blue"\n'
SURVEY = survey_from_toml(TOML)
OTHER = survey_from_toml(TOML.replace('"t"', '"u"'))


def fresh(survey: Survey = SURVEY) -> Submission:
    return Submission.fresh(survey.mechanism.randomize("green"))


def test_one_submission_returns_from_json() -> None:
    submission = fresh()
    assert submission_from_json(SURVEY, submission_to_json(SURVEY, submission)) == submission
    assert len(submission.key) == 16
    assert fresh().key != submission.key


def test_several_return_in_order_and_keys_must_differ() -> None:
    several = [fresh() for _ in range(5)]
    assert submissions_from_json(SURVEY, submissions_to_json(SURVEY, several)) == several
    with pytest.raises(Malformed, match="twice"):
        submissions_from_json(SURVEY, submissions_to_json(SURVEY, [several[0], several[0]]))
    with pytest.raises(Malformed, match="1 to"):
        submissions_from_json(SURVEY, b'{"submissions":[]}')


def test_a_batch_has_one_key() -> None:
    reports = [SURVEY.mechanism.randomize("red") for _ in range(9)]
    data = encode_batch(SURVEY, reports, key=b"k" * 16)
    key, body = decode_batch(SURVEY, data)
    assert key == b"k" * 16
    assert decode_reports(SURVEY.mechanism, bytes(body)) == reports


def test_a_batch_of_another_survey_or_version_is_refused() -> None:
    data = encode_batch(SURVEY, [])
    with pytest.raises(WrongRecipe):
        decode_batch(OTHER, data)
    with pytest.raises(UnknownVersion):
        decode_batch(SURVEY, data[:2] + b"\x02" + data[3:])
    for size in range(0, 51, 7):
        with pytest.raises(Malformed):
            decode_batch(SURVEY, data[:size])


@pytest.mark.parametrize(
    "change", [{"key": "00"}, {"key": "G" * 32}, {"report": "ABCD"}, {"report": "abc"}, {"more": 1}, {"key": 5}]
)
def test_bad_fields_are_refused(change: dict[str, object]) -> None:
    document = json.loads(submission_to_json(SURVEY, fresh())) | change
    with pytest.raises(DeniableError):
        submission_from_json(SURVEY, json.dumps(document).encode())


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=300))
def test_garbage_never_crashes(data: bytes) -> None:
    for read in (submission_from_json, submissions_from_json):
        with pytest.raises(DeniableError):
            read(SURVEY, data)
    with pytest.raises(DeniableError):
        decode_batch(SURVEY, data)
