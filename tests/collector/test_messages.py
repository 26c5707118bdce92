"""What the collector takes as a submission is what the reader of submissions takes: one text, one meaning."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

pytest.importorskip("msgspec", reason="the collector's packages are not installed")

from deniable.collector.messages import Refusal, read_several, read_single
from deniable.collector.submitting import arrival_of
from deniable.core import Report
from deniable.errors import WireError
from deniable.surveys import Submission, submission_from_json, submission_to_json, submissions_from_json, survey_from_toml

from .running import TOML

SURVEY = survey_from_toml(TOML)
GOOD = submission_to_json(SURVEY, Submission(bytes(16), Report(SURVEY.mechanism.fingerprint, 1)))
KEY, REPORT = (json.loads(GOOD)[name].encode() for name in ("key", "report"))
FIELDS = [b'"key":"%s"' % KEY, b'"report":"%s"' % REPORT]


def taken(read: Callable[[], object]) -> bool:
    try:
        read()
    except (Refusal, WireError):
        return False
    return True


def agree(body: bytes) -> bool:
    """Whether a single submission is taken, the same by both."""
    collected = taken(lambda: arrival_of(SURVEY, read_single(body), ""))
    assert collected == taken(lambda: submission_from_json(SURVEY, body))
    return collected


@pytest.mark.parametrize(
    "body",
    [
        b'{"key":"%s\\n",%s}' % (KEY, FIELDS[1]),
        b'{"key":"%s\n",%s}' % (KEY, FIELDS[1]),
        b'{%s,"report":"%s\\n"}' % (FIELDS[0], REPORT),
        b"{%s,%s,%s}" % (FIELDS[0], *FIELDS),
        b"{%s,%s,%s}" % (*FIELDS, FIELDS[1]),
        b'{"key":"%s",%s,%s}' % (b"1" * 32, *FIELDS),
        b'{"k\\u0065y":"%s",%s,%s}' % (KEY, *FIELDS),
        b"{%s}" % FIELDS[0],
        b'{%s,%s,"more":1}' % (*FIELDS,),
        b"[]",
        b"",
    ],
)
def test_neither_takes_what_is_not_one_submission(body: bytes) -> None:
    assert not agree(body)


@pytest.mark.parametrize("body", [GOOD, b" {%s,\n%s} " % (FIELDS[1], FIELDS[0]), GOOD.replace(b"key", b"k\\u0065y")])
def test_both_take_white_space_escapes_and_any_order(body: bytes) -> None:
    assert agree(body)


@given(st.lists(st.sampled_from([*FIELDS, b'"key":"\\n"', b'"x":0', b"{", b"}", b",", b'"', b"\\n", b":"]), max_size=7))
@example(FIELDS)
def test_they_agree_on_everything(parts: list[bytes]) -> None:
    agree(b"{" + b",".join(parts) + b"}")
    agree(b"{" + b"".join(parts) + b"}")


def test_repeated_fields_are_refused_in_several_as_well() -> None:
    other = GOOD.replace(KEY, b"1" * 32)
    good = b'{"submissions":[%s,%s]}' % (GOOD, other)
    assert len(read_several(good)) == len(submissions_from_json(SURVEY, good)) == 2
    for bad in (
        b'{"submissions":[%s],"submissions":[%s]}' % (GOOD, other),
        b'{"submissions":[%s,{%s,%s,%s}]}' % (other, FIELDS[0], *FIELDS),
        b'{"submissions":[]}',
    ):
        with pytest.raises(Refusal):
            read_several(bad)
        with pytest.raises(WireError):
            submissions_from_json(SURVEY, bad)
