"""submit, watch and the quick start, against a real collector."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .running import Running, collector, counted

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
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with collector(tmp_path_factory.mktemp("commands"), toml=RECORD) as found:
        yield found


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("submit", "FILE", "--survey", "nonsense"), "--survey must be an address"),
        (("submit", "FILE", "--survey", "http://127.0.0.1:1/v1/surveys/" + "0" * 64), "cannot be reached"),
        (("watch", "http://127.0.0.1:1/v1/surveys/x"), "64 hexadecimal digits"),
        (("watch", "http://127.0.0.1:1/"), "is it running?"),
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
