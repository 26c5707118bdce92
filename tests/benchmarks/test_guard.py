"""The regression guard accuses what became slower, by name, and nothing else."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

check: Any = importlib.import_module("check")
hot_paths: Any = importlib.import_module("speed.hot_paths")


STEPS = [0]
"""Work done so far. It stands in for the clock, so that other work on the machine changes nothing here."""


def counting(steps: int) -> Callable[[], None]:
    def work() -> None:
        STEPS[0] += steps

    return work


@pytest.fixture(autouse=True)
def _steps_for_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    by_the_clock = check.best_of_turns
    monkeypatch.setattr(check, "best_of_turns", lambda works, repeats: by_the_clock(works, repeats, lambda: STEPS[0]))


def path(name: str, steps: int = 20_000) -> Any:
    return hot_paths.HotPath(name, "a loop", counting(steps), counting(20_000), 30)


def test_a_path_as_fast_as_recorded_is_left_alone() -> None:
    assert check.check([path("steady")], {"steady": check.SLACK}) == []


def test_a_planted_slowdown_is_caught_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    paths = [path("steady"), path("planted").slowed(4)]
    assert check.check(paths, {"steady": check.SLACK, "planted": check.SLACK}) == ["planted"]
    printed = capsys.readouterr().out
    assert "SLOWER" in printed
    assert printed.count("SLOWER") == 1


def test_a_path_without_a_bound_is_not_passed_over() -> None:
    assert check.check([path("new")], {}) == ["new"]


def test_one_slow_measurement_accuses_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = iter([9.0, 9.0, 1.0])
    monkeypatch.setattr(check, "ratio", lambda _: next(tries))
    assert not check.judge(path("disturbed"), 1.6)["slower"]


def test_recorded_bounds_leave_the_stated_slack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "bounds.json"
    check.record([path("steady")], place)
    entry = json.loads(place.read_text())["steady"]
    assert entry["at_most"] == pytest.approx(check.SLACK * entry["measured"], abs=0.002)
    assert check.recorded(place) == {"steady": entry["at_most"]}
    assert "steady" in capsys.readouterr().out


def test_the_command_fails_and_names_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "hot_paths", lambda: [path("planted").slowed(4)])
    monkeypatch.setattr(check, "recorded", lambda: {"planted": check.SLACK})
    monkeypatch.setattr("sys.argv", ["check.py"])
    with pytest.raises(SystemExit, match="planted") as caught:
        check.main()
    assert caught.value.code not in (0, None)


def test_every_hot_path_has_a_bound_and_every_bound_a_path() -> None:
    assert {one.name for one in hot_paths.hot_paths()} == set(check.recorded())
