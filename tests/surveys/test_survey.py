"""A survey has one text and one hash, and checks itself when it arrives."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.core import Categories, Epsilon, canonical_json, make_mechanism
from deniable.errors import DeniableError, InvalidParameter, Malformed, OutOfDomain, UnknownVersion, WrongRecipe
from deniable.surveys import Asked, Attribute, Steps, Survey, survey_from_toml

ROOT = Path(__file__).parents[2]

TRAVEL = """
title = "Travel to work"
purpose = "The city plans bus lines and cycle paths."
epsilon = 2
budget = 4
strategy = "STRATEGY"
repeat = "each-window"
window = "month"
opens = 2026-11-15
closes = 2026-12-15

[attributes.commute]
question = "How did you get to work today?"
domain = "categories:bike,bus,car,walk"

[attributes.minutes]
question = "How many minutes did it take?"
domain = "interval:0,180,180"
mechanism = "window"
parameters = { loss_exponent = 2 }
"""


def travel(strategy: str = "sample-one") -> Survey:
    return survey_from_toml(TRAVEL.replace("STRATEGY", strategy))


@pytest.mark.parametrize("strategy", ["split", "sample-one", "fake-data"])
def test_a_survey_survives_its_own_text(strategy: str) -> None:
    if strategy == "fake-data":
        text = TRAVEL.replace("STRATEGY", strategy).split("[attributes.minutes]")[0]
        survey = survey_from_toml(text + '[attributes.bike]\nquestion = "Do you own a bike?"\ndomain = "categories:yes,no"\n')
    else:
        survey = travel(strategy)
    again = Survey.from_json(survey.to_json(), hash=survey.hash)
    assert again == survey
    assert again.hash == survey.hash
    assert again.mechanism.certificate().holds
    assert survey.strategy == strategy


def test_split_divides_epsilon_and_sampling_does_not() -> None:
    assert [part.privacy for part in travel("split").parts.values()] == [Epsilon(1), Epsilon(1)]
    assert [part.privacy for part in travel("sample-one").parts.values()] == [Epsilon(2), Epsilon(2)]
    own = TRAVEL.replace("STRATEGY", "split").replace('walk"', 'walk"\nepsilon = 0.1') + "epsilon = 1.9\n"
    assert [part.privacy.exact for part in survey_from_toml(own).parts.values()] == [Fraction(1, 10), Fraction(19, 10)]


def test_one_value_per_answer() -> None:
    survey = travel()
    assert survey.mechanism.encode(survey.value({"minutes": 30, "commute": "bus"})) >= 0
    with pytest.raises(OutOfDomain, match="exactly the attributes"):
        survey.value({"commute": "bus"})
    alone = survey_from_toml('title="t"\npurpose="p"\nepsilon=1\n[attributes.smokes]\nquestion="Do you smoke?"\ndomain="binary"\n')
    assert alone.value({"smokes": 1}) == 1
    assert alone.lifetime == 1


def asked_in(text: str) -> list[Asked]:
    asked: list[Asked] = []

    def choose(question: Asked) -> str:
        asked.append(question)
        return "hadamard" if isinstance(question.domain, Categories) else "sw"

    survey_from_toml(text, choose=choose)
    return asked


def test_auto_asks_the_chooser_and_tells_it_how_many_will_answer() -> None:
    sampled = TRAVEL.replace("STRATEGY", "sample-one")
    commute = Categories(["bike", "bus", "car", "walk"])
    assert asked_in(sampled) == [Asked("commute", commute, Epsilon(2), 5000)]
    assert asked_in("respondents = 1001\n" + sampled) == [Asked("commute", commute, Epsilon(2), 501)]
    assert asked_in("respondents = 1001\n" + TRAVEL.replace("STRATEGY", "split")) == [Asked("commute", commute, Epsilon(1), 1001)]


def test_a_chooser_may_give_the_mechanism_itself() -> None:
    made = make_mechanism("hadamard", domain=Categories(["bike", "bus", "car", "walk"]), epsilon=2)
    survey = survey_from_toml(TRAVEL.replace("STRATEGY", "sample-one"), choose=lambda asked: made)
    assert survey.parts["commute"] is made


def test_respondents_and_learn_are_not_in_the_document() -> None:
    text = 'title="t"\npurpose="p"\nepsilon=1\n{}[attributes.age]\nquestion="Age?"\ndomain="interval:0,100,100"\n'
    plain = survey_from_toml(text.format(""))
    assert survey_from_toml(text.format("respondents = 77\n")).hash == plain.hash
    means = survey_from_toml(text.format("") + 'learn = "mean"\n')
    assert (plain.mechanism.name, means.mechanism.name) == ("sw", "hm")
    assert asked_in(text.format("") + 'learn = "mean"\n')[0].learn == "mean"
    assert set(means.document()) == set(plain.document())


CHANGES = {
    "title": "Another title",
    "purpose": "Another purpose",
    "budget": "5",
    "repeat": "once",
    "window": "week",
    "opens": "2026-11-14",
    "closes": None,
    "keep_reports": True,
    "release": "live",
}


@pytest.mark.parametrize("field", CHANGES)
def test_any_change_is_another_hash(field: str) -> None:
    survey = travel()
    document = survey.document() | {field: CHANGES[field]} | ({"window": "survey"} if field == "repeat" else {})
    changed = canonical_json(document)
    assert Survey.from_json(changed).hash != survey.hash
    with pytest.raises(WrongRecipe, match="another survey"):
        Survey.from_json(changed, hash=survey.hash)


def test_numbers_are_published_in_steps_unless_the_author_says_otherwise() -> None:
    text = TRAVEL.replace("STRATEGY", "sample-one")
    assert travel().document()["release"] == {"reports": 100, "minutes": 60}
    assert survey_from_toml("release = { reports = 500 }\n" + text).release == Steps(reports=500, minutes=60)
    live = survey_from_toml('release = "live"\n' + text)
    assert live.document()["release"] == "live"
    assert "learns that report" in live.release_words
    assert Survey.from_json(live.to_json(), hash=live.hash) == live


@pytest.mark.parametrize(
    "written",
    ['"sometimes"', "{ reports = 1 }", "{ reports = 2.5 }", "{ minutes = -1 }", "{ days = 1 }", "100"],
)
def test_other_ways_to_publish_are_refused(written: str) -> None:
    with pytest.raises(InvalidParameter, match=r"^release"):
        survey_from_toml(f"release = {written}\n" + TRAVEL.replace("STRATEGY", "sample-one"))


def test_a_document_says_its_steps_in_full() -> None:
    for release in ({"reports": 100}, {"reports": 100, "minutes": 60, "more": 1}, "sometimes", None):
        with pytest.raises((Malformed, InvalidParameter)):
            Survey.from_json(canonical_json(travel().document() | {"release": release}))


def test_a_channel_that_is_not_the_mechanisms_is_refused() -> None:
    document = travel().document()
    document["channel"]["parts"][0]["inner"]["high"] += 1
    with pytest.raises(Malformed, match="channel"):
        Survey.from_json(canonical_json(document))
    for field, value in (("epsilon", "1"), ("fingerprint", "0" * 32), ("strategy", "split")):
        with pytest.raises(Malformed, match="canonical"):
            Survey.from_json(canonical_json(travel().document() | {field: value}))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"version": 2}, UnknownVersion),
        ({"format": "x"}, Malformed),
        ({"budget": 4}, Malformed),
        ({"budget": "1"}, InvalidParameter),
        ({"extra": 1}, Malformed),
        ({"attributes": []}, InvalidParameter),
        ({"attributes": "x"}, Malformed),
        ({"opens": "tomorrow"}, InvalidParameter),
        ({"opens": "2027-01-01"}, InvalidParameter),
        ({"repeat": "often"}, InvalidParameter),
        ({"window": "survey"}, InvalidParameter),
        ({"title": " "}, InvalidParameter),
        ({"keep_reports": 1}, InvalidParameter),
    ],
)
def test_bad_documents_are_refused(change: dict[str, object], error: type[DeniableError]) -> None:
    with pytest.raises(error):
        Survey.from_json(canonical_json(travel().document() | change))


def test_a_survey_with_spaces_is_not_canonical() -> None:
    with pytest.raises(Malformed, match="canonical"):
        Survey.from_json(json.dumps(travel().document()))


def test_only_pure_privacy_within_budget() -> None:
    question = (Attribute("x", "What is x?"),)
    rough = make_mechanism("gaussian", epsilon=1, delta="1e-6")
    with pytest.raises(InvalidParameter, match="purely private"):
        Survey(title="t", purpose="p", attributes=question, mechanism=rough, budget=2)
    with pytest.raises(InvalidParameter, match="budget"):
        Survey(title="t", purpose="p", attributes=question, mechanism=make_mechanism("window", epsilon=2), budget=1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "Travel to work"', "", "lacks title"),
        ('title = "Travel to work"', 'titel = "Travel to work"', "lacks title and has the unknown entry titel"),
        ('window = "month"', 'window = "month"\ncolour = 1', "unknown entry colour"),
        ("epsilon = 2", "epsilon = 0", "epsilon"),
        ('strategy = "STRATEGY"', 'strategy = "all"', "strategy must be one of"),
        ("loss_exponent = 2", "loss = 2", "other parameters"),
        ('"window"\nparameters', '"wondow"\nparameters', "did you mean window"),
        ("[attributes.minutes]", "[attributes.Minutes]", "name"),
        ("title =", "title", "not TOML"),
        ("epsilon = 2", "epsilon = 2\nrespondents = 0", "respondents must be"),
        ("epsilon = 2", "epsilon = 2\nrespondents = true", "respondents must be"),
        ('walk"', 'walk"\nlearn = "mean"', "learn must be"),
        ('"interval:0,180,180"\n', '"interval:0,180,180"\nlearn = "mean"\n', "whose mechanism is 'auto'"),
        ('walk"', 'walk"\nparameters = { subset = 2 }', "parameters need a mechanism that is named"),
    ],
)
def test_a_file_that_is_wrong_says_where(old: str, new: str, message: str) -> None:
    assert old in TRAVEL
    with pytest.raises(DeniableError, match=message):
        survey_from_toml(TRAVEL.replace(old, new).replace("STRATEGY", "sample-one"))


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_bytes_crash_the_reader(data: bytes) -> None:
    with pytest.raises(DeniableError):
        Survey.from_json(data)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_no_damaged_survey_is_taken_for_another(data: st.DataObject) -> None:
    text = bytearray(travel().to_json())
    place = data.draw(st.integers(0, len(text) - 1))
    text[place] ^= data.draw(st.integers(1, 255))
    try:
        found = Survey.from_json(bytes(text))
    except DeniableError:
        return
    assert found.hash != travel().hash
