"""submit, watch and the quick start, against a real collector."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .running import Running, call, collector, counted

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

RECORD = """
title = "Travel"
release = "live"
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


def deniable(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "deniable.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("commands")


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Running]:
    with collector(folder, toml=RECORD) as found:
        yield found


@pytest.mark.slow
def test_a_file_is_submitted_and_watched(running: Running, tmp_path: Path) -> None:
    rows = [f"{('bike', 'bus', 'car')[i % 3]},{20 + i % 40}" for i in range(6000)]
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(["commute,minutes", *rows, "rocket,30", "bus,9999"]) + "\n")
    ended = deniable("submit", str(path), "--survey", running.survey, "--json")
    found = json.loads(ended.stdout)
    assert (found["accepted"], found["known"]) == (6000, 0)
    assert found["refused_rows"] == [6002, 6003]
    assert ended.returncode == 1
    assert "rocket" not in ended.stdout + ended.stderr
    assert counted(running) == 6000
    shown = deniable("watch", running.survey, "--once")
    assert shown.returncode == 0, shown.stderr
    assert "How did you get to work today?" in shown.stdout
    assert "mean" in shown.stdout
    document = json.loads(deniable("watch", running.survey, "--json").stdout)
    assert document["n"] == 6000
    shares = {row["label"]: row for row in document["attributes"][0]["views"][0]["rows"]}
    assert shares["walk"]["low"] < 0.05
    mean = document["attributes"][1]["views"][0]["rows"][0]
    # Three intervals wide, which is nearly six standard errors, and half a cell: whole minutes lie at the lower ends of cells.
    assert abs(mean["value"] - 40) < 1.5 * (mean["high"] - mean["low"])


@pytest.mark.slow
def test_the_operator_watches_what_is_not_public_yet(running: Running, folder: Path, tmp_path: Path) -> None:
    database = f"sqlite:///{folder / 'collector.db'}"
    tokens = {role: deniable("token", role, "--role", role, "--database", database).stdout for role in ("admin", "submit")}
    headers = {"Authorization": f"Bearer {tokens['admin'].strip()}", "Content-Type": "application/toml"}
    in_steps = RECORD.replace('release = "live"', "")
    name = json.loads(call(f"{running.address}/v1/admin/surveys", in_steps.encode(), headers)[1])["hash"]
    path = tmp_path / "answers.csv"
    path.write_text("commute,minutes\n" + "bus,30\n" * 23)
    url = f"{running.address}/v1/surveys/{name}"
    assert deniable("submit", str(path), "--survey", url).returncode == 0
    shown = deniable("watch", url, "--once").stdout
    assert "23 of 100 reports" in shown
    assert "New numbers are published after at least 100 new reports and at least 60 minutes" in " ".join(shown.split())
    for role, text in tokens.items():
        (tmp_path / role).write_text(text)
    seen = deniable("watch", url, "--json", "--live", "--token-file", str(tmp_path / "admin"))
    assert json.loads(seen.stdout)["n"] == 23
    refused = deniable("watch", url, "--json", "--live", "--token-file", str(tmp_path / "submit"))
    assert refused.returncode != 0
    assert "does not take this token" in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("submit", "FILE", "--survey", "nonsense"), "--survey must be an address"),
        (("submit", "FILE", "--survey", "http://127.0.0.1:1/v1/surveys/" + "0" * 64), "cannot be reached"),
        (("watch", "http://127.0.0.1:1/v1/surveys/x"), "64 hexadecimal digits"),
        (("watch", "http://127.0.0.1:1/"), "is it running?"),
        (("watch", "http://127.0.0.1:1/", "--token-file", "FILE"), "--token-file is for --live"),
        (("serve", "FILE", "--port", "0"), "answers.csv: the survey lacks"),
    ],
)
def test_what_goes_wrong_is_said_in_one_line(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("commute = 1\n")
    database = ("--database", f"sqlite:///{tmp_path / 'x.db'}") if arguments[0] == "serve" else ()
    ended = deniable(*(str(path) if part == "FILE" else part for part in arguments), *database)
    assert ended.returncode != 0
    assert message in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
