"""What a survey, a device and their files refuse, and in which words."""

from __future__ import annotations

import io
import sqlite3
import ssl
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from deniable.core import Categories, KaryRandomizedResponse, Rappor, make_mechanism
from deniable.errors import InvalidParameter, Malformed, NotDelivered, WrongRecipe
from deniable.surveys import Client, Ledger, Memo, Repeated, Session, Steps, period_of, submission, survey_from_toml, transport

QUESTION = KaryRandomizedResponse(domain=Categories(["yes", "no"]), epsilon=1)
HEAD = 'title = "T"\npurpose = "P."\nepsilon = 1\n'
ONE = '[attributes.a]\nquestion = "Q?"\ndomain = "categories:yes,no"\n'


def test_a_client_refuses_another_recipe_than_the_promised_one() -> None:
    with pytest.raises(WrongRecipe, match="not the recipe you were promised"):
        Client(QUESTION.recipe(), max_epsilon=1, fingerprint="0" * 64)
    assert Client(QUESTION.recipe(), max_epsilon=1, fingerprint=QUESTION.fingerprint).certificate.holds


@pytest.mark.parametrize("delta", [-1, "x", float("nan")])
def test_a_client_refuses_a_delta_that_is_not_one(delta: Any) -> None:
    with pytest.raises(InvalidParameter, match="max_delta"):
        Client(QUESTION.recipe(), max_epsilon=1, max_delta=delta)


def test_a_client_shows_its_mechanism_and_nothing_else() -> None:
    client = Client(QUESTION.recipe(), max_epsilon=1)
    assert repr(client) == f"Client({QUESTION!r})"
    client.randomize("yes")
    assert repr(client) == f"Client({QUESTION!r})"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("attributes = 3\n", "attributes must be tables"),
        ("[attributes]\na = 3\n", "attributes.a must be a table"),
        (ONE + "mechanism = 3\n", "must be a name or 'auto'"),
        ('[attributes.a]\nquestion = "Q?"\ndomain = 3\n', "domain must be text such as"),
        (ONE + "epsilon = 0.25\n", "only the strategy 'split'"),
        (ONE + "epsilon = 1\n" + ONE.replace("attributes.a", "attributes.b"), "only the strategy 'split'"),
    ],
)
def test_a_survey_file_is_refused_with_the_place(text: str, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        survey_from_toml(HEAD + text)


def test_several_attributes_have_all_their_own_epsilon_or_none() -> None:
    two = ONE.rstrip() + "\nepsilon = 0.5\n" + ONE.replace("attributes.a", "attributes.b")
    with pytest.raises(InvalidParameter, match="either every attribute has an epsilon or none has"):
        survey_from_toml(HEAD + 'strategy = "split"\n' + two)


def test_the_strategy_fake_data_has_one_epsilon() -> None:
    two = ONE + "epsilon = 0.25\n" + ONE.replace("attributes.a", "attributes.b")
    with pytest.raises(InvalidParameter, match="only the strategy 'split'"):
        survey_from_toml(HEAD + 'strategy = "fake-data"\n' + two)


def test_the_strategy_fake_data_brings_its_own_mechanism() -> None:
    two = ONE + 'mechanism = "k-rr"\n' + ONE.replace("attributes.a", "attributes.b")
    with pytest.raises(InvalidParameter, match="'fake-data' brings its own mechanism"):
        survey_from_toml(HEAD + 'strategy = "fake-data"\n' + two)


def test_a_domain_may_be_written_as_a_table() -> None:
    table = '[attributes.a]\nquestion = "Q?"\n[attributes.a.domain]\n'
    recipe = Categories(["yes", "no"]).recipe()
    for name, value in recipe.items():
        table += f"{name} = {str(value).replace(chr(39), chr(34))}\n" if not isinstance(value, str) else f'{name} = "{value}"\n'
    assert survey_from_toml(HEAD + table).mechanism.domain == Categories(["yes", "no"])


def test_surveys_with_the_same_hash_are_one_in_a_set() -> None:
    first, second = survey_from_toml(HEAD + ONE), survey_from_toml(HEAD + ONE)
    assert len({first, second}) == 1
    assert hash(first) == hash(second)


def test_a_session_needs_a_survey_and_a_ledger(tmp_path: Path) -> None:
    survey = survey_from_toml(HEAD + ONE)
    with pytest.raises(InvalidParameter, match="a Survey and a Ledger"):
        Session(survey, "ledger.db", "http://127.0.0.1")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="a Survey and a Ledger"):
        Session("survey", Ledger(tmp_path / "ledger.db"), "http://127.0.0.1")  # type: ignore[arg-type]


class Answers:
    """A collector that says the same to everyone."""

    def __init__(self, status: int, data: bytes = b"") -> None:
        self.status, self.data = status, data

    def get(self, url: str) -> tuple[int, bytes]:
        return self.status, self.data

    def post(self, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        return self.status, self.data


def test_a_survey_that_is_not_given_out_is_not_answered(tmp_path: Path) -> None:
    with pytest.raises(NotDelivered, match="does not give out this survey"):
        Session.open("http://127.0.0.1", "0" * 64, Ledger(tmp_path / "ledger.db"), transport=Answers(404))


def test_weeks_are_those_of_the_calendar() -> None:
    assert period_of(date(2026, 1, 1), "week") == "2026-W01"
    assert period_of(date(2027, 1, 1), "week") == "2026-W53"


@pytest.mark.parametrize(("minutes", "words"), [(0, ""), (1, " and at least 1 minute"), (60, " and at least 60 minutes")])
def test_a_release_says_when_numbers_move(minutes: int, words: str) -> None:
    expected = f"New numbers are published after at least 100 new reports{words}; nothing moves in between."
    assert Steps(reports=100, minutes=minutes).words == expected


def test_a_memo_of_another_release_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memo.db"
    memo = Memo(path)
    mechanism = make_mechanism("rappor", domain=Categories(4), epsilon=1)
    assert isinstance(mechanism, Rappor)
    assert memo.path == path
    assert repr(memo) == f"Memo({str(path)!r})"
    assert repr(Repeated(mechanism, memo, question="q")).startswith(f"Repeated({mechanism!r}, Memo(")
    Repeated(mechanism, memo, question="q").randomize(0)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(InvalidParameter, match="got version 99"):
        Repeated(mechanism, Memo(path), question="q").randomize(0)


def test_a_ledger_of_another_release_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    survey = survey_from_toml(HEAD + ONE)
    Session(survey, Ledger(path), "http://127.0.0.1", transport=Answers(200, b'{"accepted":1,"known":0}')).answer({"a": "yes"})
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(InvalidParameter, match="this is another database"):
        Session(survey, Ledger(path), "http://127.0.0.1", transport=Answers(200)).answer({"a": "yes"})


@pytest.mark.parametrize("key", [b"", b"x" * 3, "0" * 16])
def test_a_key_has_one_length(key: Any) -> None:
    with pytest.raises(Malformed, match="a key has"):
        submission._checked_key(key)


class Broken(io.BytesIO):
    def read(self, size: int | None = -1, /) -> bytes:
        raise OSError("gone")


def test_an_answer_that_breaks_off_or_never_ends_is_no_answer() -> None:
    with pytest.raises(NotDelivered, match="cut off"):
        transport._body(Broken())
    with pytest.raises(NotDelivered, match="too long"):
        transport._body(io.BytesIO(bytes(transport.MOST_BYTES + 1)))
    assert transport._body(io.BytesIO(b"{}")) == b"{}"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (18, "self-signed"),
        (20, "an authority that this machine does not know"),
        (10, "not valid today"),
        (62, "another name"),
        (7, "cannot be believed"),
    ],
)
def test_a_certificate_that_is_not_believed_says_why(code: int, words: str) -> None:
    error = ssl.SSLCertVerificationError()
    error.verify_code, error.verify_message = code, "certificate signature failure"
    assert words in transport._distrusted(error)[0]
