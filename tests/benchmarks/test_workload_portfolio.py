"""The portfolio of ways to ask for linear answers: what counts as wrong, and what its table says."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

portfolio: Any = importlib.import_module("workload_portfolio")
ROOT = Path(__file__).parents[2]


def setting(**changed: float) -> dict[str, Any]:
    """The pick with an error of 2, and a baseline with one of 3; some numbers changed."""
    pick = {"way": "hierarchy (fan-outs 2, 2)", "predicted": 2.0, "simulated": 2.01, "spread": 0.007, "runs": 100}
    other = {"way": "oue", "predicted": 3.0, "simulated": 2.98, "spread": 0.007, "runs": 100, "baseline": "oue"}
    for name, value in changed.items():
        whose, _, what = name.partition("_")
        (pick if whose == "pick" else other)[what] = value
    return {"workload": "ranges", "size": 64, "epsilon": "1", "ways": [pick, other], "seconds": 1.0}


def test_a_good_setting_has_nothing_to_complain_about() -> None:
    assert list(portfolio.complaints(setting())) == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"pick_predicted": 3.1, "pick_simulated": 3.1}, "oue is predicted ahead of the pick"),
        ({"pick_simulated": 2.07}, "3.5 % off its prediction"),
        ({"other_simulated": 2.9}, "oue is 3.3 % off"),
        ({"pick_simulated": 3.2}, "oue is ahead of the pick when simulated"),
    ],
)
def test_what_is_wrong_is_said(changed: dict[str, float], words: str) -> None:
    assert any(words in complaint for complaint in portfolio.complaints(setting(**changed)))


def test_what_few_surveys_cannot_tell_is_no_complaint() -> None:
    assert list(portfolio.complaints(setting(pick_simulated=2.07, pick_spread=0.02))) == []


def test_the_later_of_two_lines_counts_and_a_setting_with_an_unsimulated_baseline_is_not_complete(tmp_path: Path) -> None:
    lines = tmp_path / "lines.jsonl"
    bare = setting()
    bare["ways"][1] = {"way": "oue", "predicted": 3.0, "baseline": "oue"}
    lines.write_text("".join(json.dumps(row) + "\n" for row in (bare, setting())), encoding="utf-8")
    (row,) = portfolio.known(lines).values()
    assert portfolio.complete(row)
    assert not portfolio.complete(bare)


def test_the_table_names_the_pick_and_the_best_baseline_with_their_errors() -> None:
    page = f"before {portfolio.BEGIN} old {portfolio.END} after"
    told = portfolio.written(
        page, [setting(pick_predicted=0.002, pick_simulated=0.00201, other_predicted=0.003, other_simulated=0.003)]
    )
    assert "| ranges | 64 | tree 2; oue 3 |" in told
    assert "1.50 to 1.50 times" in told
    assert "the largest difference from a prediction is 0.5 %" in told
    assert " old " not in told
    assert told.startswith("before ")
    assert told.endswith(" after")


def test_the_kept_settings_have_nothing_wrong() -> None:
    rows = portfolio.known(portfolio.RESULTS)
    assert rows
    assert [complaint for row in rows.values() for complaint in portfolio.complaints(row)] == []


def test_the_page_shows_the_kept_settings() -> None:
    page = (ROOT / "docs" / "workloads.md").read_text(encoding="utf-8")
    assert portfolio.written(page, list(portfolio.known(portfolio.RESULTS).values())) == page
