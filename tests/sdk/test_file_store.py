"""The JavaScript client's ledger in a file: one winner in every race, and one draw however a process dies."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

SDK = Path(__file__).parents[2] / "sdk" / "js"
RACER = Path(__file__).parent / "racer.mjs"
NODE = shutil.which("node")
PROCESSES, RACES = 8, 100
pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(NODE is None, reason="Node is not installed: the JavaScript client is not tested here"),
]


def racer(*arguments: str) -> list[str]:
    return [str(NODE), str(RACER), str(SDK), *arguments]


def test_a_stale_lock_has_one_heir(tmp_path: Path) -> None:
    """100 races of 8 processes for a ledger whose holder was killed: all send what one of them drew."""
    racers = [subprocess.Popen(racer("race"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)]
    try:
        assert [one.stdout.readline() for one in racers if one.stdout] == ["ready\n"] * PROCESSES
        doubles = 0
        for race in range(RACES):
            path = tmp_path / f"ledger{race}.json"
            held = subprocess.run(racer("hold", str(path)), capture_output=True, check=False, timeout=60)
            assert held.returncode == -signal.SIGKILL
            doubles += _reports_of_a_race(racers, path) - 1
        assert doubles == 0
    finally:
        for one in racers:
            one.kill()
            one.communicate()


def _reports_of_a_race(racers: list[subprocess.Popen[str]], path: Path) -> int:
    for one in racers:
        assert one.stdin is not None
        one.stdin.write(f"{path}\n")
        one.stdin.flush()
    sent: list[dict[str, Any]] = []
    for one in racers:
        assert one.stdout is not None
        sent += json.loads(one.stdout.readline())
    ledger = json.loads(path.read_text())
    assert [len(draws) for draws in ledger["spent"].values()] == [1]
    return len({(item["key"], item["report"]) for item in sent})


def test_a_death_between_any_two_file_operations_leads_to_no_second_draw(tmp_path: Path) -> None:
    deaths = 0
    while True:
        path = tmp_path / f"ledger{deaths}.json"
        first = subprocess.run(racer("die", str(path), str(deaths + 1), "0"), capture_output=True, check=False, timeout=60)
        after = subprocess.run(racer("die", str(path), "0", "1"), capture_output=True, text=True, check=False, timeout=60)
        assert after.returncode == 0, after.stderr
        sent = [json.loads(line) for line in Path(f"{path}.sent").read_text().splitlines()]
        assert len({(item["key"], item["report"]) for item in sent}) == 1, (
            f"two reports after a death before operation {deaths + 1}"
        )
        ledger = json.loads(path.read_text())
        assert [len(draws) for draws in ledger["spent"].values()] == [1]
        assert [answer["state"] for answers in ledger["answers"].values() for answer in answers.values()] == ["sent"]
        if first.returncode == 0:
            break
        assert first.returncode == -signal.SIGKILL, first.stderr
        deaths += 1
    assert deaths > 40


def test_permanent_answers_survive_restarts(tmp_path: Path) -> None:
    """A new process a day; reports hold a seed of 32 bits, so three are equal by chance with probability 2**-64."""
    path = tmp_path / "ledger.json"
    for day, value in enumerate((0, 0, 1, 0), start=1):
        subprocess.run(racer("day", str(path), str(day), str(value)), capture_output=True, check=True, timeout=60)
    sent = [json.loads(line) for line in Path(f"{path}.sent").read_text().splitlines()]
    reports = [item["report"] for item in sent]
    assert len({item["key"] for item in sent}) == 4
    assert (len(set(reports)), reports[0], reports[0]) == (2, reports[1], reports[3])
    assert [len(draws) for draws in json.loads(path.read_text())["spent"].values()] == [2]
