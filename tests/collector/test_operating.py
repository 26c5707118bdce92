"""The commands of whoever runs a collector: surveys, tokens, retention, ingesting files, the page to publish."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.cli.app import main
from deniable.collector import Arrival, Store
from deniable.collector.retention import DAY, expire
from deniable.core import Report
from deniable.surveys import BATCH_TYPE, Submission, Survey, encode_batch, submission_to_json, survey_from_toml

from .inside import Inside
from .limited import limited
from .running import TOML, call, receipts

KEEPING = TOML.replace("epsilon = 1", "epsilon = 1\nkeep_reports = true")


@pytest.fixture
def database(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'collector.db'}"


def deniable(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def said(*arguments: str) -> Any:
    ended = deniable(*arguments, "--json")
    assert ended.exit_code == 0, ended.output
    return json.loads(ended.stdout)


def opened(database: str, toml: str = TOML, reports: int = 3) -> Survey:
    store, survey = Store(database), survey_from_toml(toml)
    store.add_survey(survey)
    some = [Report(survey.mechanism.fingerprint, 1)]
    store.count([Arrival(survey, "", secrets.token_bytes(16), some, 1) for _ in range(reports)])
    store.close()
    return survey


def one(survey: Survey) -> bytes:
    return submission_to_json(survey, Submission.fresh(survey.mechanism.randomize("bus")))


def test_surveys_are_listed_closed_reopened_and_deleted(database: str) -> None:
    survey = opened(database)
    (line,) = said("survey", "list", "--database", database)
    assert (line["hash"], line["open"], line["reports"]) == (survey.hash, True, 3)
    assert deniable("survey", "close", survey.hash[:8], "--database", database).output == f"{survey.hash[:12]} is closed\n"
    assert not said("survey", "list", "--database", database)[0]["open"]
    said("survey", "reopen", survey.hash[:8], "--database", database)
    assert said("survey", "list", "--database", database)[0]["open"]
    assert deniable("survey", "close", survey.hash[:7], "--database", database).exit_code == 2
    assert said("survey", "delete", survey.hash[:8], "--yes", "--database", database)["deleted_reports"] == 3
    assert said("survey", "list", "--database", database) == []
    file = sqlite3.connect(database.removeprefix("sqlite:///"))
    assert [file.execute(f"SELECT count(*) FROM {name}").fetchone() for name in ("receipt_parts", "sums", "steps")] == [(0,)] * 3
    assert file.execute("SELECT count(*) FROM sqlite_master WHERE name LIKE 'receipts%'").fetchone() == (0,)


def test_deleting_asks_first(database: str) -> None:
    survey = opened(database)
    asked = CliRunner().invoke(main, ["survey", "delete", survey.hash[:8], "--database", database], input="n\n")
    assert asked.exit_code == 130
    assert said("survey", "list", "--database", database)[0]["reports"] == 3


def test_the_next_round_has_another_hash_and_closes_this_one(database: str) -> None:
    survey = opened(database)
    found = said("survey", "next", survey.hash[:8], "--closes", "2099-12-31", "--database", database)
    assert found["title"] == "Travel (round 2)"
    lines = {line["hash"]: line for line in said("survey", "list", "--database", database)}
    assert not lines[survey.hash]["open"]
    assert lines[survey.hash]["next_round"] == found["survey"]
    assert lines[found["survey"]]["open"]
    assert said("survey", "next", found["survey"][:8], "--database", database)["title"] == "Travel (round 3)"


@pytest.mark.slow
def test_a_running_collector_follows_at_once(tmp_path: Path, database: str) -> None:
    with limited(tmp_path) as running:
        survey = Survey.from_json(call(running.survey)[1])
        assert call(f"{running.survey}/submissions", one(survey))[0] == 200
        said("survey", "close", survey.hash[:8], "--database", database)
        patience = time.monotonic() + 10
        while call(f"{running.survey}/submissions", one(survey))[0] != 410:
            assert time.monotonic() < patience


@pytest.mark.slow
def test_a_token_that_is_revoked_or_over_is_worth_nothing(tmp_path: Path, database: str) -> None:
    with limited(tmp_path, submit_needs_token=True) as running:
        survey = Survey.from_json(call(running.survey)[1])

        def status(token: str) -> int:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            return call(f"{running.survey}/submissions", one(survey), headers)[0]

        kiosk = deniable("token", "kiosk", "--role", "submit", "--expires", "30", "--database", database).stdout.strip()
        assert status(kiosk) == 200
        assert deniable("token", "revoke", "kiosk", "--database", database).output == "kiosk is revoked\n"
        patience = time.monotonic() + 10
        while status(kiosk) != 403:
            assert time.monotonic() < patience
        store = Store(database)
        over = store.add_token("over", "submit", int(time.time()) - 1)
        store.close()
        assert status(over) == 403
    names = {line["name"]: line["expires"] for line in said("token", "list", "--database", database)}
    assert set(names) == {"over", "reader of metrics"}
    assert names["reader of metrics"] is None


@pytest.mark.parametrize("expires", ["0", "soon", "2027-02-30", "-1"])
def test_a_wrong_end_of_a_token_is_refused(database: str, expires: str) -> None:
    ended = deniable("token", "alice", f"--expires={expires}", "--database", database)
    assert ended.exit_code == 2
    assert "--expires must be" in ended.output


def test_reports_and_receipts_are_deleted_when_they_are_due(database: str) -> None:
    survey = opened(database, KEEPING)
    assert (
        said("survey", "keep", survey.hash[:8], "--reports", "7", "--receipts", "30", "--database", database)["reports_days"] == 7
    )
    assert "reports 7 days, receipts 30 days" in " ".join(deniable("survey", "list", "--database", database).output.split())
    store = Store(database)

    def counts() -> list[int]:
        file = sqlite3.connect(database.removeprefix("sqlite:///"))
        incoming, sums = (int(file.execute(f"SELECT count(*) FROM {name}").fetchone()[0]) for name in ("incoming", "sums"))
        return [incoming, len(receipts(Path(database.removeprefix("sqlite:///")))), sums]

    assert expire(store, time.time() + 100 * DAY) == {}, "it is still open"
    store.close_survey(survey.hash)
    assert expire(store, time.time() + 6 * DAY) == {}
    assert counts()[1:] == [3, 1]
    assert counts()[0] > 0
    expire(store, time.time() + 8 * DAY)
    assert counts() == [0, 3, 1]
    expire(store, time.time() + 31 * DAY)
    assert counts() == [0, 0, 1]
    store.keep_for(survey.hash, reports=None, receipts=0)
    store.close()
    refused = deniable("survey", "reopen", survey.hash[:8], "--database", database)
    assert refused.exit_code == 2
    assert "could count twice" in refused.output


def test_files_of_batches_count_once(tmp_path: Path, database: str) -> None:
    survey, folder = opened(database, reports=0), tmp_path / "batches"
    folder.mkdir()
    reports = [survey.mechanism.randomize("bus") for _ in range(20)]
    batch, bare = encode_batch(survey, reports), survey.mechanism.randomize_many(["car"] * 30).to_bytes()
    for name, data in {"a": batch, "b": bare, "copy of a": batch, "copy of b": bare, "c": b"nonsense"}.items():
        (folder / name).write_bytes(data)
    ended = deniable("ingest", str(folder), "--survey", survey.hash[:8], "--database", database, "--json")
    document = json.loads(ended.stdout)
    assert (document["accepted"], document["known"], sum(document["refused"].values()), ended.exit_code) == (50, 50, 1, 1)
    again = json.loads(deniable("ingest", str(folder), "--survey", survey.hash, "--database", database, "--json").stdout)
    assert (again["accepted"], again["known"]) == (0, 100)
    # What was ingested is known to the collector, too.
    inside = Inside(Store(database))
    assert inside.post(f"/v1/surveys/{survey.hash}/batches", batch, BATCH_TYPE)[0] == 200
    assert inside.store.sums(survey)[""].n == 50
    inside.close()


@pytest.mark.parametrize("command", [("survey", "close", "HASH"), ("ingest", "FOLDER", "--survey", "HASH")])
def test_a_database_that_cannot_be_written_is_said_so_in_one_line(tmp_path: Path, database: str, command: tuple[str, ...]) -> None:
    survey, folder = opened(database, reports=0), tmp_path / "batches"
    folder.mkdir()
    (folder / "a").write_bytes(encode_batch(survey, [survey.mechanism.randomize("bus")]))
    with closing(sqlite3.connect(database.removeprefix("sqlite:///"))) as file:
        for table in ("surveys", "receipt_parts"):
            for what in ("INSERT", "UPDATE"):
                file.execute(f"CREATE TRIGGER {what}_{table} BEFORE {what} ON {table} BEGIN SELECT RAISE(ABORT, 'no room'); END")
        file.commit()
    words = [{"HASH": survey.hash, "FOLDER": str(folder)}.get(word, word) for word in command]
    ended = deniable(*words, "--database", database)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr == "deniable: --database: no room; once that is repaired, run the command again\n"


def test_files_that_cannot_be_read_are_named_and_the_others_count(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey, folder = opened(database, reports=0), tmp_path / "batches"
    folder.mkdir()
    for name in ("a", "vanishes", "z"):
        (folder / name).write_bytes(encode_batch(survey, [survey.mechanism.randomize("bus")]))
    (folder / "empty").write_bytes(b"")
    (folder / "link").symlink_to(folder / "nowhere")
    (folder / "folder").mkdir()
    before = Path.read_bytes

    def read(path: Path) -> bytes:
        if path.name == "a":  # meanwhile somebody tidies up
            (folder / "vanishes").unlink()
        return before(path)

    monkeypatch.setattr(Path, "read_bytes", read)
    ended = deniable("ingest", str(folder), "--survey", survey.hash, "--database", database)
    assert ended.exit_code == 1
    assert ended.stdout == "2 reports counted, 0 counted before, from 5 files\n"
    assert "1 of 5 files: a report begins with 19 bytes of header, got 0 bytes in all (empty)" in ended.stderr
    assert "2 of 5 files: the file cannot be read: No such file or directory (link, vanishes)" in ended.stderr


def test_a_closed_survey_ingests_nothing(tmp_path: Path, database: str) -> None:
    survey, folder = opened(database, reports=0), tmp_path / "batches"
    folder.mkdir()
    (folder / "a").write_bytes(encode_batch(survey, [survey.mechanism.randomize("bus")]))
    assert deniable("survey", "close", survey.hash, "--database", database).exit_code == 0
    closed = deniable("ingest", str(folder), "--survey", survey.hash, "--database", database)
    assert closed.exit_code == 2
    assert f"the survey is closed; `deniable survey reopen {survey.hash[:12]}`" in closed.stderr
    assert deniable("survey", "reopen", survey.hash, "--database", database).exit_code == 0
    assert said("ingest", str(folder), "--survey", survey.hash, "--database", database)["accepted"] == 1


def test_the_page_to_publish_says_what_the_document_says(tmp_path: Path) -> None:
    survey, source, output = survey_from_toml(KEEPING), tmp_path / "survey.json", tmp_path / "privacy.html"
    source.write_bytes(survey.to_json())
    facts = said("disclose", str(source), "--output", str(output), "--steward", "The town <hall>")
    assert (facts["epsilon_per_answer"], facts["epsilon_per_person_for_life"], facts["delta"]) == ("1", "1", "0")
    assert facts["certificate"]["holds"] is True
    assert facts["certificate"]["fingerprint"] == survey.mechanism.fingerprint
    assert facts["single_reports_are_kept"] is True
    page = output.read_text()
    for words in ("How did you get to work today?", survey.hash, "Unit of privacy", "The town &lt;hall&gt;", survey.release_words):
        assert words in page
    assert "<script" not in page
    # The command it names checks this very document.
    command = facts["check_it_again"].replace("survey.json", str(source)).split()[1:]
    assert deniable(*command).exit_code == 0


def test_a_survey_says_whether_it_is_open_and_what_follows(database: str) -> None:
    survey = opened(database)
    inside = Inside(Store(database))
    path = f"/v1/surveys/{survey.hash}/state"
    assert inside.json(path) == {"open": True, "next_round": None}
    following = said("survey", "next", survey.hash[:8], "--database", database)["survey"]
    time.sleep(0.3)  # what is known of surveys may be a quarter of a second old
    assert inside.json(path) == {"open": False, "next_round": following}
    assert inside.get(f"/v1/surveys/{'0' * 64}/state")[0] == 404
    inside.close()


def test_the_list_of_surveys_comes_in_pages(tmp_path: Path, database: str) -> None:
    store = Store(database)
    surveys = [survey_from_toml(TOML.replace("Travel", f"Travel {number}")) for number in range(7)]
    for survey in surveys:
        store.add_survey(survey)
    inside = Inside(store)
    seen: list[str] = []
    after = ""
    while True:
        page = inside.json(f"/v1/surveys?limit=3{after}")
        assert len(page["surveys"]) <= 3
        seen += [line["hash"] for line in page["surveys"]]
        if page["after"] is None:
            break
        after = f"&after={page['after']}"
    assert seen == sorted(survey.hash for survey in surveys)
    for wrong in ("0", "1001", "x", "-1"):
        assert inside.get(f"/v1/surveys?limit={wrong}")[0] == 400
    inside.close()


def test_estimates_are_worked_out_once_for_each_step(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers share the same bytes, whether they read them or not."""
    monkeypatch.setattr("deniable.collector.estimate_cache.FRESH_SECONDS", 0.0)
    survey = opened(database)
    worked: list[int] = []
    inside = Inside(Store(database))
    cache = inside.app.state.collector.estimates

    def work(*_: object) -> list[object]:
        worked.append(1)
        return []

    monkeypatch.setattr("deniable.collector.estimates.views_of", work)
    first = cache.get(survey, "")
    assert all(cache.get(survey, "") is first for _ in range(20))
    assert len(worked) == 1
    inside.store.count([Arrival(survey, "", secrets.token_bytes(16), [Report(survey.mechanism.fingerprint, 2)], 1)])
    assert cache.get(survey, "") is not first
    assert len(worked) == 2
    inside.close()


def test_the_operator_sees_what_is_not_public_and_everyone_how_long_it_is_kept(tmp_path: Path, database: str) -> None:
    with limited(tmp_path) as running:
        survey = survey_from_toml(TOML)
        assert call(f"{running.survey}/submissions", one(survey))[0] == 200
        address = f"{running.address}/v1/admin/surveys/{survey.hash}"
        assert call(address)[0] == 401
        assert call(address, headers={"Authorization": "Bearer guessed"})[0] == 403
        assert deniable("survey", "keep", survey.hash, "--receipts", "90", "--database", database).exit_code == 0
        view = json.loads(call(address, headers={"Authorization": f"Bearer {running.token}"})[1])
        assert (view["open"], view["stored"], view["next_round"]) == (True, 1, None)
        assert view["kept"].startswith("Single reports are not kept. The random keys")
        assert "deleted 90 days after the survey closes" in view["kept"]
