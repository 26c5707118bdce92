"""A token admits one report: once, in two collectors on one database, and after kill -9."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from tests.collector.anonymous import ISSUER, key_text, submission, survey_with, token_for, toml_with
from tests.collector.inside import Inside
from tests.collector.running import call, counted, start

from deniable.collector import Store
from deniable.collector.messages import Refusal
from deniable.collector.spending import nonce_of
from deniable.collector.warming import warm_all
from deniable.errors import InvalidParameter
from deniable.privacy import BlindPrivateKey, PublicTokenIssuer, Token, token_header
from deniable.surveys import Admission, Survey, survey_from_toml


def _inside(folder: Path, **how: object) -> tuple[Inside, Survey]:
    store = Store(f"sqlite:///{folder}/collector.db")
    survey = survey_with(**how)
    store.add_survey(survey)
    warm_all(store)  # as a collector does before it is ready
    return Inside(store), survey


def _send(inside: Inside, survey: Survey, key: bytes, token: Token | None) -> tuple[int, dict[str, object]]:
    header = None if token is None else token_header(token)
    path = f"/v1/surveys/{survey.hash}/submissions"
    status, data = inside.post(path, submission(key, survey), "application/json", authorization=header)
    return status, json.loads(data)


def test_tokens_and_a_shuffler_are_for_surveys_that_are_answered_once() -> None:
    text = toml_with(tokens=3, reports=100)
    assert survey_from_toml(text).shuffle is not None
    with pytest.raises(InvalidParameter, match="answered once"):
        survey_from_toml('repeat = "each-window"\nwindow = "week"\nbudget = 5\n' + text)


def test_the_document_says_who_admits_and_other_hashes_stay() -> None:
    survey = survey_with(tokens=2, reports=50)
    assert Survey.from_json(survey.to_json(), hash=survey.hash) == survey
    assert survey.document()["admission"] == {"issuer": ISSUER, "key": key_text(), "tokens": 2}
    plain = replace(survey, admission=None, shuffle=None)
    assert not {"admission", "shuffle"} & set(plain.document())
    assert len({plain.hash, survey.hash, replace(survey, shuffle=None).hash}) == 3


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({"issuer": "ftp://x", "key": ""}, "url must begin"),
        ({"issuer": ISSUER, "key": "AAAA"}, "admission.key"),
        ({"issuer": ISSUER}, "admission must be a table"),
        ({"issuer": ISSUER, "key": "", "more": 1}, "admission must be a table"),
        ("yes", "admission must be a table"),
    ],
)
def test_a_wrong_table_is_refused_with_words(table: object, why: str) -> None:
    with pytest.raises(InvalidParameter, match=why):
        replace(survey_with(), admission=table)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"admission\.tokens"):
        Admission(ISSUER, key_text(), tokens=0)


def test_a_token_admits_one_report_and_a_retry_is_no_second_one(tmp_path: Path) -> None:
    inside, survey = _inside(tmp_path)
    token, first, second = token_for(survey), os.urandom(16), os.urandom(16)
    assert _send(inside, survey, first, token) == (200, {"accepted": 1, "known": 0})
    assert _send(inside, survey, first, token) == (200, {"accepted": 0, "known": 1})
    for _ in range(3):
        status, answer = _send(inside, survey, second, token)
        assert status == 409
        assert "already spent" in str(answer["error"])
    assert json.loads(inside.get(f"/v1/surveys/{survey.hash}/estimates")[1])["n"] == 1
    assert _send(inside, survey, second, token_for(survey))[0] == 200
    inside.close()


def test_without_a_good_token_nothing_is_counted(tmp_path: Path) -> None:
    inside, survey = _inside(tmp_path)
    other = survey_with(tokens=2)
    stranger = PublicTokenIssuer(BlindPrivateKey.generate())
    good = token_for(survey)
    for token, status in (
        (None, 401),
        (token_for(other), 403),
        (token_for(survey, "2026-W46"), 403),
        (token_for(survey, key=stranger), 403),
        (replace(good, nonce=bytes(32)), 403),
        (replace(good, authenticator=bytes(256)), 403),
    ):
        assert _send(inside, survey, os.urandom(16), token)[0] == status
    path = f"/v1/surveys/{survey.hash}"
    for header in ("PrivateToken token=???", "PrivateToken token=AAAA"):
        body = submission(os.urandom(16), survey)
        assert inside.post(f"{path}/submissions", body, "application/json", authorization=header)[0] == 400
    batch = b'{"submissions":[' + submission(os.urandom(16), survey) + b"]}"
    assert inside.post(f"{path}/batches", batch, "application/json")[0] == 401
    assert json.loads(inside.get(f"{path}/estimates")[1])["n"] == 0
    assert _send(inside, survey, os.urandom(16), good)[0] == 200  # what was refused has spent nothing
    inside.close()


def test_a_token_is_good_in_its_window_and_a_day_longer() -> None:
    survey = survey_from_toml('repeat = "each-window"\nwindow = "week"\nbudget = 5\n' + toml_with(tokens=3))
    token = token_for(survey, "2026-W46").to_bytes()
    for day in (date(2026, 11, 9), date(2026, 11, 15), date(2026, 11, 16)):
        assert nonce_of(survey, token, day)
    for day in (date(2026, 11, 8), date(2026, 11, 17)):
        with pytest.raises(Refusal, match="another window"):
            nonce_of(survey, token, day)


def test_two_collectors_on_one_database_count_a_token_once(tmp_path: Path) -> None:
    """Twenty tokens, each tried with eight reports at once through two stores."""
    survey = survey_with()
    stores = [Store(f"sqlite:///{tmp_path}/collector.db") for _ in range(2)]
    stores[0].add_survey(survey)
    from deniable.collector import Arrival

    nonces = [os.urandom(16) for _ in range(20)]
    fresh: list[bool | None] = []

    def count(store: Store, number: int) -> None:
        report = [survey.mechanism.randomize("bus")]
        mine = [Arrival(survey, "", os.urandom(16), report, 1, nonce) for nonce in nonces]
        fresh.extend(store.count(mine))

    threads = [threading.Thread(target=count, args=(stores[number % 2], number)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert fresh.count(True) == 20
    assert stores[0].counted() == {survey.hash: 20}
    for store in stores:
        store.close()


def test_a_deleted_survey_leaves_no_tokens(tmp_path: Path) -> None:
    inside, survey = _inside(tmp_path)
    assert _send(inside, survey, os.urandom(16), token_for(survey))[0] == 200
    inside.store.delete_survey(survey.hash)
    inside.close()
    with closing(sqlite3.connect(tmp_path / "collector.db")) as file:
        assert file.execute("SELECT count(*) FROM spent_tokens").fetchone() == (0,)


@pytest.mark.heavy
def test_kill_minus_nine_spends_no_token_twice(tmp_path: Path) -> None:
    """Two collectors on one database are killed again and again while forty tokens are each sent with two reports."""
    spend_while_killed(tmp_path, f"sqlite:///{tmp_path}/collector.db", kills=6)


@pytest.mark.heavy
def test_two_collectors_on_postgresql_spend_no_token_twice(tmp_path: Path) -> None:
    """The same on a PostgreSQL server, where both collectors' transactions really run at the same time."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: PostgreSQL is not tested")
    from tests.collector.postgresql import postgresql

    with postgresql() as server:
        spend_while_killed(tmp_path, server.url, kills=3)


def spend_while_killed(tmp_path: Path, url: str, kills: int) -> None:
    from tests.collector.running import Running, free_port

    survey = survey_with()
    ports = [free_port(), free_port()]
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    running: list[Running] = [
        start(folder, port=port, database=url, toml=toml_with()) for folder, port in zip(folders, ports, strict=True)
    ]
    assert running[0].hash == survey.hash
    tokens = [token_for(survey) for _ in range(40)]
    answers: dict[int, set[int]] = {number: set() for number in range(40)}
    stop = threading.Event()

    def device(copy: int) -> None:
        for number, token in enumerate(tokens):
            body = submission(os.urandom(16), survey)
            headers = {"Content-Type": "application/json", "Authorization": token_header(token)}
            for _ in range(400):
                status, _ = call(
                    f"http://127.0.0.1:{ports[(copy + number) % 2]}/v1/surveys/{survey.hash}/submissions", body, headers
                )
                if status in (200, 409):
                    answers[number].add(status if status == 200 else -copy - 1)
                    break
                stop.wait(0.05)
            stop.wait(0.03)

    threads = [threading.Thread(target=device, args=(copy,)) for copy in range(2)]
    for thread in threads:
        thread.start()
    for turn in range(kills):
        stop.wait(0.4)
        place = turn % 2
        running[place].kill()
        running[place] = start(folders[place], port=ports[place], database=url, toml=toml_with())
    for thread in threads:
        thread.join(120)
    assert all(200 in got and len(got) == 2 for got in answers.values())  # one report counted, the other one refused
    assert counted(running[0]) == 40
    for one in running:
        one.stop()
