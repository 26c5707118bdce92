"""Reports as JSON: one text for one report, up to what JSON itself leaves free."""

from __future__ import annotations

import json

import pytest

from deniable.core import Categories, KaryRandomizedResponse, parse_json, report_from_json, report_to_json
from deniable.errors import Malformed, UnknownVersion, WrongRecipe

MECHANISM = KaryRandomizedResponse(domain=Categories(40), epsilon=1)
GOOD = {"version": 1, "recipe": MECHANISM.fingerprint, "output": "1f"}


def test_round_trip() -> None:
    for value in range(40):
        report = MECHANISM.randomize(value)
        assert report_from_json(MECHANISM, report_to_json(MECHANISM, report)) == report
    assert report_from_json(MECHANISM, json.dumps(GOOD, indent=2)).output == 31
    assert report_to_json(MECHANISM, report_from_json(MECHANISM, json.dumps(GOOD))) == json.dumps(GOOD, separators=(",", ":"))


@pytest.mark.parametrize(
    "change",
    [
        {"output": "1F"},
        {"output": "01"},
        {"output": ""},
        {"output": "-1"},
        {"output": "0x1"},
        {"output": "1_0"},
        {"output": " 1"},
        {"output": "٣"},
        {"output": 1},
        {"output": None},
        {"output": "28"},
        {"output": "f" * 10000},
        {"version": True},
        {"version": 1.0},
        {"version": "1"},
        {"recipe": 5},
        {"recipe": MECHANISM.fingerprint.upper()},
        {"extra": 1},
    ],
    ids=str,
)
def test_every_other_text_is_refused(change: dict[str, object]) -> None:
    with pytest.raises((Malformed, WrongRecipe)):
        report_from_json(MECHANISM, json.dumps({**GOOD, **change}))


def test_version_and_recipe() -> None:
    with pytest.raises(UnknownVersion):
        report_from_json(MECHANISM, json.dumps({**GOOD, "version": 2}))
    with pytest.raises(WrongRecipe):
        report_from_json(MECHANISM, json.dumps({**GOOD, "recipe": "0" * 32}))


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"version":1}', '{"a":1,"a":1}', "[NaN]", "[" * 100_000, "\ud800"])
def test_text_that_is_no_report_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        report_from_json(MECHANISM, text)


def test_repeated_fields_have_no_meaning() -> None:
    with pytest.raises(Malformed, match="twice"):
        parse_json('{"epsilon": "1", "epsilon": "9"}')
