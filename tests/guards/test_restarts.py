"""Permanent answers stay the same over restarts and crashes, and a crash never leads to a second draw."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.guards.crashes import Arm, at_a_line, at_a_step_of_the_database, check_one_draw, check_one_permanent_draw
from tests.guards.device import FAULT, check_permanent

from deniable.surveys import Ledger, Memo

ROOT = Path(__file__).parents[2]
DAYS = {"2026-03-01": 7, "2026-03-02": 7, "2026-03-03": 8, "2026-03-04": 7}
"""The last of them is a day after another answer."""
SURROUNDINGS: list[dict[str, str]] = [
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LANG": "C"},
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo", "LANG": "de_DE.UTF-8", "HOME": "/nowhere", "USER": "other"},
    {"PYTHONHASHSEED": "2", "TMPDIR": "/tmp"},
    {"PYTHONHASHSEED": "random", "PYTHONOPTIMIZE": "1", "COLUMNS": "3"},
]
ARMS = pytest.mark.parametrize("arm", [at_a_line, at_a_step_of_the_database])


def switched_on(folder: Path, fault: str = "") -> dict[str, tuple[int, dict[str, Any]]]:
    """One new interpreter a day, each in other surroundings."""
    found = {}
    for place, (day, value) in enumerate(DAYS.items()):
        # The same files under another name: a path must not matter either.
        files = [os.path.relpath(folder / name, ROOT) if place % 2 else str(folder / name) for name in ("ledger.db", "memo.db")]
        environment = {**os.environ, **SURROUNDINGS[place], FAULT: fault}
        command = [sys.executable, "-m", "tests.guards.device", *files, str(value), day]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        found[day] = value, json.loads(done.stdout)
    return found


def test_permanent_answers_survive_restarts(tmp_path: Path) -> None:
    check_permanent(switched_on(tmp_path))


@ARMS
def test_a_death_between_two_steps_leads_to_no_second_draw(arm: Arm, folder: Path) -> None:
    folder.mkdir()
    assert check_one_draw(arm, folder, stride=7 if arm is at_a_line else 23) > 10


@pytest.mark.slow
@ARMS
def test_a_death_between_two_steps_changes_no_permanent_answer(arm: Arm, folder: Path) -> None:
    folder.mkdir()
    assert check_one_permanent_draw(arm, folder, stride=17 if arm is at_a_line else 61) > 10


@pytest.mark.slow
@ARMS
def test_a_death_between_any_two_steps_leads_to_no_second_draw(arm: Arm, folder: Path) -> None:
    folder.mkdir()
    assert check_one_draw(arm, folder, stride=1 if arm is at_a_line else 3) > 100


@pytest.mark.slow
@ARMS
def test_a_death_between_any_two_steps_changes_no_permanent_answer(arm: Arm, folder: Path) -> None:
    folder.mkdir()
    assert check_one_permanent_draw(arm, folder, stride=1 if arm is at_a_line else 3) > 100


@pytest.mark.parametrize("kind", [Ledger, Memo])
def test_what_is_written_is_flushed_and_what_is_deleted_is_overwritten(kind: type[Ledger | Memo], tmp_path: Path) -> None:
    """A power cut cannot be staged here; these are the settings under which SQLite promises to survive one."""
    with kind(tmp_path / "file.db")._file.reading() as connection:
        asked = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "secure_delete", "journal_mode")]
    assert asked == [3, 1, "delete"]
