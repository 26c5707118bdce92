"""`deniable reproduce` shows verdicts, keeps results, suggests names, and fails when a number differs without a reason."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from deniable.cli.app import main
from deniable_reproduce import catalogue
from deniable_reproduce import run as frame
from deniable_reproduce.artifact import Published, Run, named


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["reproduce", *arguments])


def test_an_artifact_prints_its_verdicts_and_where_the_picture_is(tmp_path: Path) -> None:
    result = run("figure-5.14", "--output", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "OGPM has the lowest worst-case error" in result.output
    assert "reproduced" in result.output
    picture = next(line for line in result.output.splitlines() if line.startswith("picture: ")).removeprefix("picture: ")
    assert Path(picture).read_text(encoding="utf-8").startswith("<svg")


def test_a_difference_comes_with_its_reason(tmp_path: Path) -> None:
    result = run("lecture-frequency-oracle", "--output", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "differs" in result.output
    assert "artanh" in result.output


def test_json_is_for_programs(tmp_path: Path) -> None:
    result = run("example-3", "--json", "--output", str(tmp_path))
    found = json.loads(result.output)
    assert found["name"] == "example-3"
    assert {verdict["verdict"] for verdict in found["verdicts"]} == {"reproduced"}
    assert found["result"]["numbers"]["epsilon against the partner"] == "inf"


def test_two_runs_print_the_same_and_the_second_is_kept(tmp_path: Path) -> None:
    first, second = (json.loads(run("table-4.3", "--json", "--output", str(tmp_path)).output) for _ in range(2))
    assert (first.pop("kept"), second.pop("kept")) == (False, True)
    assert first == second
    assert not json.loads(run("table-4.3", "--again", "--json", "--output", str(tmp_path)).output)["kept"]


def test_several_names_are_several_documents(tmp_path: Path) -> None:
    found = json.loads(run("example-1", "example-2", "--json", "--output", str(tmp_path)).output)
    assert [one["name"] for one in found] == ["example-1", "example-2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["figure-5.88"], "did you mean"),
        ([], "NAME"),
        (["figure-5.8", "--data", "no-such-directory"], "no-such-directory"),
        (["figure-5.17"], "motionsense/sub_1.csv"),
    ],
)
def test_bad_questions_get_one_line(arguments: list[str], message: str, tmp_path: Path) -> None:
    result = run(*arguments, *(["--output", str(tmp_path)] if arguments else []))
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_list_names_every_artifact() -> None:
    shown = run("list")
    assert shown.exit_code == 0, shown.output
    found = {one["name"] for one in json.loads(run("list", "--json").output)}
    assert found == set(catalogue.names())
    assert all(name in shown.output for name in ("figure-5.8", "beyond-optimal-window"))


def test_all_makes_one_page_and_says_what_was_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "names", lambda: ["example-2", "lecture-frequency-oracle", "figure-5.17"])
    result = run("all", "--output", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "skipped figure-5.17: this artifact needs motionsense/sub_1.csv" in " ".join(result.output.split())
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "example-2" in page
    assert "<svg" in page
    found = json.loads(run("all", "--json", "--output", str(tmp_path)).output)
    assert [one["kept"] for one in found["artifacts"]] == [True, True]
    assert sum(one["corrected"] for one in found["artifacts"]) == 2
    assert [row["chapter"].partition(":")[0] for row in found["chapters"]] == ["Chapter 4", "Lecture notes"]
    assert sum(row["confirmed"] for row in found["chapters"]) == sum(one["confirmed"] for one in found["artifacts"])
    assert "By chapter" in page


def test_a_difference_without_a_reason_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = replace(catalogue.find("example-2"), published=(Published("variance of the count", 3.0, 0.1, "nowhere"),))
    monkeypatch.setattr(frame, "find", lambda name: odd)
    result = run("example-2", "--output", str(tmp_path))
    assert result.exit_code == 1
    assert "differs without explanation: example-2" in result.stderr


def test_a_reason_that_contradicts_its_numbers_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = Published("variance of the count", 3.0, 0.1, "nowhere", "It is 17.3 exactly.", evidence=named("variance of the count"))
    odd = replace(catalogue.find("example-2"), published=(said,))
    monkeypatch.setattr(frame, "find", lambda name: odd)
    result = run("example-2", "--output", str(tmp_path))
    assert result.exit_code == 1
    assert "a reason contradicts its own numbers: example-2" in result.stderr
    assert "17.3 is said, and no computed number is that" in result.output


def test_without_data_counts_are_not_compared(tmp_path: Path) -> None:
    result = run("table-4.3", "--output", str(tmp_path))
    assert result.exit_code == 0
    assert "not compared" in result.output
    assert "reproduced" not in result.output


def _break(run: Run) -> dict[str, Any]:
    raise ZeroDivisionError("planted")


def test_an_artifact_that_breaks_fails_the_whole_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = replace(catalogue.find("example-2"), compute=_break)
    monkeypatch.setattr(frame, "find", lambda name: broken)
    monkeypatch.setattr(catalogue, "names", lambda: ["example-2"])
    result = run("all", "--output", str(tmp_path))
    assert result.exit_code == 1
    assert "example-2 failed" in result.stderr
