"""Which keys were counted, in parts that are dropped when their windows are long over."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from click.testing import CliRunner
from sqlalchemy import text

from deniable.cli.app import main
from deniable.collector import Arrival, Store
from deniable.collector.receipts import receive
from deniable.collector.warming import warm
from deniable.core import Report
from deniable.surveys import Survey, survey_from_toml

from .postgresql import postgresql
from .running import TOML

DAILY = TOML.replace("epsilon = 1", 'epsilon = 1\nbudget = 100\nrepeat = "each-window"\nwindow = "day"')
DAYS = [f"2026-11-{day:02}" for day in range(1, 31)]


def opened(url: str, toml: str = DAILY) -> tuple[Store, Survey]:
    store, survey = Store(url), survey_from_toml(toml)
    store.add_survey(survey)
    warm(survey)  # as a collector does: a transaction has a deadline, which compiled code should not spend
    return store, survey


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.heavy)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'collector.db'}"
    else:
        with postgresql() as server:
            yield server.url


def arrival(survey: Survey, day: str, key: bytes | None = None) -> Arrival:
    return Arrival(survey, day, key or secrets.token_bytes(16), [Report(survey.mechanism.fingerprint, 1)], 1)


def parts(store: Store) -> list[tuple[str, int]]:
    """The window of each part, and how many keys it has."""
    with store.reading() as connection:
        rows = connection.execute(text("SELECT number, period FROM receipt_parts ORDER BY number")).fetchall()
        count = "SELECT count(*) FROM receipts_{}"
        return [(period, connection.execute(text(count.format(number))).scalar_one()) for number, period in rows]


def test_a_survey_that_is_not_bounded_has_one_part_and_knows_every_key(url: str) -> None:
    store, survey = opened(url)
    keys = [secrets.token_bytes(16) for _ in range(5)]
    for day, key in zip(DAYS, keys, strict=False):
        assert store.count([arrival(survey, day, key)]) == [True]
    assert parts(store) == [("", 5)]
    assert store.count([arrival(survey, DAYS[20], key) for key in keys]) == [False] * 5
    store.close()


def test_parts_are_dropped_with_their_windows_and_keys_of_those_kept_are_known(url: str) -> None:
    store, survey = opened(url)
    before = secrets.token_bytes(16)
    store.count([arrival(survey, DAYS[0], before)])
    store.keep_for(survey.hash, reports=None, receipts=None, windows=2)
    keys = [secrets.token_bytes(16) for _ in range(6)]
    for number, (day, key) in enumerate(zip(DAYS[1:], keys, strict=False)):
        assert store.count([arrival(survey, day, key)]) == [True]
        assert store.count([arrival(survey, day, known) for known in keys[max(0, number - 2) : number + 1]]) == [False] * min(
            number + 1, 3
        )
        if number < 2:
            assert store.count([arrival(survey, day, before)]) == [False], "what came before the bound is known as long"
    assert parts(store) == [(day, 1) for day in DAYS[4:7]]
    assert store.known([arrival(survey, DAYS[6], key) for key in (before, *keys)]) == [False] * 4 + [True] * 3
    assert store.sums(survey).keys() == {*DAYS[:7]}, "the sums stay"
    store.close()


def test_a_clock_that_goes_back_begins_no_part(url: str) -> None:
    store, survey = opened(url)
    store.keep_for(survey.hash, reports=None, receipts=None, windows=1)
    key = secrets.token_bytes(16)
    store.count([arrival(survey, DAYS[9], key)])
    assert store.count([arrival(survey, DAYS[3]), arrival(survey, DAYS[2], key)]) == [True, False]
    assert parts(store) == [(DAYS[9], 2)]
    store.close()


def test_one_transaction_may_hold_several_surveys_and_windows(url: str) -> None:
    store, survey = opened(url)
    other = survey_from_toml(DAILY.replace("Travel", "Other"))
    store.add_survey(other)
    store.keep_for(survey.hash, reports=None, receipts=None, windows=1)
    same = secrets.token_bytes(16)
    group = [
        arrival(survey, DAYS[0], same),
        arrival(other, DAYS[1], same),
        arrival(survey, DAYS[1]),
        arrival(survey, DAYS[1], same),
    ]
    assert store.count(group) == [True, True, True, False]
    assert sorted(parts(store)) == [("", 1), (DAYS[1], 2)]
    assert store.delete_survey(survey.hash)
    assert parts(store) == [("", 1)]
    store.close()


@pytest.mark.heavy
def test_a_key_at_midnight_at_two_workers_counts_once() -> None:
    """One wrote it as of the old day and has not committed yet, when the other one gets it, too, after the new day has begun."""
    with postgresql() as server:
        store, survey = opened(server.url)
        store.keep_for(survey.hash, reports=None, receipts=None, windows=1)
        store.count([arrival(survey, DAYS[0])])
        other, key, answers = Store(server.url), secrets.token_bytes(16), []
        late = threading.Thread(target=lambda: answers.append(other.count([arrival(survey, DAYS[1], key)])))
        with store.writing() as connection:
            assert receive(connection, survey.hash, DAYS[0], [key]) == [key]
            late.start()
            late.join(0.5)
            assert late.is_alive(), "it must wait: it cannot know yet"
        late.join(10)
        assert answers == [[False]]
        assert parts(store) == [(DAYS[0], 2), (DAYS[1], 0)]
        other.close()
        store.close()


def test_the_command_says_what_is_kept_and_refuses_surveys_without_windows(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'collector.db'}"
    store, survey = opened(url)
    once = survey_from_toml(TOML)
    store.add_survey(once)
    store.close()

    def keep(name: str, *options: str) -> tuple[int, str]:
        done = CliRunner().invoke(main, ["survey", "keep", name[:12], "--database", url, *options])
        return done.exit_code, done.output

    assert keep(survey.hash, "--receipt-windows", "2") == (
        0,
        f"{survey.hash[:12]}: kept after closing: receipts 2 earlier windows while it runs\n",
    )
    assert json.loads(keep(survey.hash, "--receipt-windows", "1", "--json")[1])["receipt_windows"] == 1
    code, words = keep(once.hash, "--receipt-windows", "2")
    assert code == 2
    assert "for surveys with windows" in words
