"""`deniable submit` asks before it spends much of somebody's privacy, and counts nobody twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from deniable.batch import Reports
from deniable.cli.app import main
from deniable.core import Categories, Epsilon, KaryRandomizedResponse
from deniable.errors import NotDelivered
from deniable.surveys import Attribute, HttpTransport, Patience, Survey, decode_batch, survey_from_toml


def test_a_survey_that_costs_too_much_is_not_submitted_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = KaryRandomizedResponse(domain=Categories(["red", "green"]), epsilon=Epsilon(100, allow_large=True))
    survey = Survey(title="T", purpose="P", attributes=(Attribute("colour", "Which?"),), mechanism=mechanism, budget=100)
    path, sent = tmp_path / "answers.csv", []
    path.write_text("colour\nred\n")

    def post(self: HttpTransport, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        sent.append(body)
        return 200, b'{"accepted":1,"known":0}'

    monkeypatch.setattr(HttpTransport, "get", lambda self, url: (200, survey.to_json()))
    monkeypatch.setattr(HttpTransport, "post", post)
    command = ["submit", str(path), "--survey", f"http://127.0.0.1:1/v1/surveys/{survey.hash}"]
    refused = CliRunner().invoke(main, command)
    assert refused.exit_code == 2
    assert "more than --max-epsilon 8" in refused.output
    assert "practically disclosed" in refused.output
    assert not sent
    assert CliRunner().invoke(main, [*command, "--max-epsilon", "100"]).exit_code == 0
    assert len(sent) == 1


RECORD = """
title = "Travel"
purpose = "To plan bus lines."
epsilon = 4
strategy = "sample-one"
[attributes.commute]
question = "How did you get to work today?"
domain = "categories:bike,bus,car,walk"
[attributes.minutes]
question = "How many minutes did it take?"
domain = "interval:0,180,180"
"""
Submit = Callable[..., Result]


class Collector:
    """Takes batches; every key once. `down` says how many requests are lost after they were counted."""

    def __init__(self, survey: Survey) -> None:
        self.survey, self.down = survey, 0
        self.batches: dict[bytes, Reports] = {}
        self.bodies: list[bytes] = []

    def post(self, body: bytes) -> tuple[int, bytes]:
        key, frame = decode_batch(self.survey, body)
        reports = Reports.from_bytes(self.survey.mechanism, bytes(frame))
        new = key not in self.batches
        self.batches.setdefault(key, reports)
        self.bodies.append(body)
        if self.down:
            self.down -= 1
            raise NotDelivered("lost")
        return 200, json.dumps({"accepted": len(reports) * new, "known": len(reports) * (not new)}).encode()

    @property
    def n(self) -> int:
        return sum(map(len, self.batches.values()))


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Collector:
    made = Collector(survey_from_toml(RECORD))
    monkeypatch.setattr(HttpTransport, "get", lambda self, url: (200, made.survey.to_json()))
    monkeypatch.setattr(HttpTransport, "post", lambda self, url, body, kind: made.post(body))
    monkeypatch.setattr(Patience, "wait", lambda self, attempt: None)
    return made


def submitted(there: Collector, path: Path, *options: str) -> dict[str, Any]:
    url = f"http://127.0.0.1:1/v1/surveys/{there.survey.hash}"
    ended = CliRunner().invoke(main, ["submit", str(path), "--survey", url, "--json", *options])
    assert ended.exit_code in (0, 1), ended.output
    document: dict[str, Any] = json.loads(ended.stdout)
    return {**document, "said": ended.stderr, "exit_code": ended.exit_code}


def csv_file(path: Path, rows: list[str]) -> Path:
    path.write_text("\n".join(["id,commute,minutes", *rows]) + "\n")
    return path


def test_the_same_file_counts_once_unless_asked_to_again(there: Collector, tmp_path: Path) -> None:
    path = csv_file(tmp_path / "a.csv", [f"{i},bus,{i}" for i in range(100)])
    assert submitted(there, path)["accepted"] == 100
    second = submitted(there, path)
    assert (second["accepted"], second["submitted_before"], there.n) == (0, 100, 100)
    assert "not sent: 100 of 100 rows, submitted before; --again" in second["said"]
    assert submitted(there, path, "--again")["accepted"] == 100
    assert there.n == 200


def test_a_file_without_names_of_columns_is_refused_and_not_shown(there: Collector, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("walk,57\nbus,31\n")
    ended = CliRunner().invoke(main, ["submit", str(path), "--survey", f"http://127.0.0.1:1/v1/surveys/{there.survey.hash}"])
    assert ended.exit_code == 1
    assert "first line must name its columns" in ended.stderr
    assert "57" not in ended.output
    assert there.n == 0


def test_with_an_identity_only_new_people_are_sent(there: Collector, tmp_path: Path) -> None:
    submitted(there, csv_file(tmp_path / "a.csv", [f"{i},bus,{i}" for i in range(50)]), "--identity", "id")
    more = csv_file(tmp_path / "b.csv", [f"{i},car,{i}" for i in range(40, 60)] + ["59,car,1", ",bus,1"])
    found = submitted(there, more, "--identity", "id")
    assert (found["accepted"], found["submitted_before"], there.n) == (10, 11, 60)
    assert found["refused"] == [{"column": "id", "reason": "is missing", "rows": [23]}]


def test_a_run_that_was_cut_off_goes_on_with_the_same_bytes(there: Collector, tmp_path: Path) -> None:
    path = csv_file(tmp_path / "a.csv", [f"{i},bus,{i % 100}" for i in range(6000)])
    there.down = 8  # every attempt at the first batch is counted, and its answer lost
    url = f"http://127.0.0.1:1/v1/surveys/{there.survey.hash}"
    cut = CliRunner().invoke(main, ["submit", str(path), "--survey", url])
    assert cut.exit_code != 0
    assert "goes on from here" in cut.output
    found = submitted(there, path)
    assert (found["accepted"], found["known"], there.n) == (1000, 5000, 6000)
    assert len(set(there.bodies[:9])) == 1, "the first batch was drawn once"


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_files_of_every_kind_are_read(there: Collector, tmp_path: Path, kind: str) -> None:
    rows = [{"commute": "bus", "minutes": 20.0}, {"commute": "walk", "minutes": 5.0}, {"commute": "rocket", "minutes": 1.0}]
    path = tmp_path / f"answers.{kind}"
    if kind == "parquet":
        arrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(arrow.Table.from_pylist(rows), path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        path.write_text("commute,minutes\nbus,20\nwalk,5\nrocket,1\n")
    found = submitted(there, path)
    assert found["accepted"] == 2
    assert found["refused"] == [
        {"column": "commute", "reason": "is outside the survey's domain", "rows": [4 if kind == "csv" else 3]}
    ]
    assert found["exit_code"] == 1
    assert "rocket" not in found["said"]


def test_a_row_with_a_gap_is_sent_when_another_question_is_picked(there: Collector, tmp_path: Path) -> None:
    path = csv_file(tmp_path / "a.csv", [f"{i},bus," for i in range(400)])
    found = submitted(there, path)
    assert found["accepted"] + found["no_answer_to_the_picked_question"] == 400
    # A fair coin picks the question: outside this range with a chance below 1e-9.
    assert 140 <= found["accepted"] <= 260
    mechanism: Any = there.survey.mechanism
    picked = {name for reports in there.batches.values() for output in reports.ints() for name in mechanism.split_output(output)}
    assert picked == {"commute"}
    assert found["refused"] == []


def test_a_gap_is_refused_where_every_question_is_answered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, there: Collector
) -> None:
    there.survey = survey_from_toml(RECORD.replace("sample-one", "split"))
    found = submitted(there, csv_file(tmp_path / "a.csv", ["1,bus,20", "2,bus,", "3,,20", "4,bus,999"]))
    assert found["accepted"] == 1
    assert [(line["column"], line["reason"], line["rows"]) for line in found["refused"]] == [
        ("commute", "is missing", [4]),
        ("minutes", "is missing", [3]),
        ("minutes", "is outside the survey's domain", [5]),
    ]
    assert "deniable: minutes is missing in 1 of 4 rows, not sent: row 3" in found["said"]


def test_the_journal_holds_no_identity_and_only_its_owner_reads_it(there: Collector, tmp_path: Path) -> None:
    journal = tmp_path / "journal.db"
    path = csv_file(tmp_path / "a.csv", ["somebody@example.org,bus,20"])
    submitted(there, path, "--identity", "id", "--journal", str(journal))
    assert journal.stat().st_mode & 0o077 == 0
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("journal.db*"))
    assert b"somebody" not in stored
    (body,) = there.bodies
    assert body[-8:] not in stored, "an acknowledged batch is forgotten"


SETS = """
title = "Travel"
purpose = "To plan bus lines."
epsilon = 4
[attributes.lines]
question = "Which lines do you use?"
domain = "item-set:2,bus,tram,night train"
"""


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_people_who_have_no_item_are_counted_and_missing_answers_are_not(there: Collector, tmp_path: Path, kind: str) -> None:
    """A cell that was left empty was the only way to write an empty set, and such people were left out."""
    there.survey = survey_from_toml(SETS)
    rows: list[dict[str, Any]] = [{"lines": items} for items in (["bus", "tram"], [], [], None, ["night train"])]
    path = tmp_path / f"answers.{kind}"
    if kind == "parquet":
        arrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(arrow.Table.from_pylist(rows), path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        path.write_text('lines\nbus;tram\n;\n" ; "\n""\nnight train;\n')
    found = submitted(there, path)
    assert found["accepted"] == 4
    assert [(line["column"], line["reason"]) for line in found["refused"]] == [("lines", "is missing")]
    path = tmp_path / "again.csv"
    path.write_text('lines\nbus\n""\n')
    url = f"http://127.0.0.1:1/v1/surveys/{there.survey.hash}"
    said = CliRunner().invoke(main, ["submit", str(path), "--survey", url]).stderr
    assert "an empty cell of lines is a missing answer; write ; if someone has none of them" in said


def test_numbers_by_key_are_read_from_files_of_every_kind(there: Collector, tmp_path: Path) -> None:
    there.survey = survey_from_toml(SETS.replace("item-set:2,bus,tram,night train", "key-value:2,bus,tram;1,5,4"))
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"lines": {"bus": 4, "tram": None}}, {"lines": {"bus": 1, "tram": 5}}, {"lines": {}}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ({"lines": {"bus": 4}}, *rows[1:])))
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("lines\nbus=4\nbus=1;tram=5\n;\n")
    for kind in ("jsonl", "parquet", "csv"):
        found = submitted(there, tmp_path / f"a.{kind}", "--again")
        assert (found["accepted"], found["refused"]) == (3, []), kind
