"""Verdicts: what is reproduced, what only with the released setting, what cannot be compared, and how easily readings fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from deniable_reproduce.artifact import Artifact, AsReleased, Claim, Published, Result, Run
from deniable_reproduce.run import compute
from deniable_reproduce.verdict import CONFIRMED, CORRECTED, IMPROVED, OPEN, Chance, Verdict

SETTING = AsReleased("as released", "another start", "a repository")
NUMBER = Published("ours", 1.0, 0.1, "here", "because", released=SETTING)


def judged(number: Published, **numbers: float) -> Verdict:
    return number.verdict({"numbers": {"ours": 2.0, "as released": 1.05, **numbers}})


def test_a_number_that_needs_the_released_setting_says_so() -> None:
    verdict = judged(NUMBER)
    assert (verdict.verdict, verdict.released, verdict.explained) == ("reproduced as released", 1.05, True)
    assert "another start; a repository" in verdict.finding
    assert "the printed number within its tolerance" in verdict.finding
    assert judged(NUMBER, ours=1.0).verdict == "reproduced"
    neither = judged(NUMBER, **{"as released": 3.0})
    assert (neither.verdict, neither.explained) == ("differs", True)
    assert "not the printed number either" in neither.finding


def test_a_released_setting_confirms_only_when_it_is_fair() -> None:
    assert judged(NUMBER).standing == CORRECTED
    assert judged(replace(NUMBER, released=replace(SETTING, fair=True))).standing == CONFIRMED


def test_standings_follow_from_verdicts() -> None:
    assert judged(NUMBER, ours=1.0).standing == CONFIRMED
    assert judged(replace(NUMBER, where="this project"), ours=1.0).standing == IMPROVED
    away = {"as released": 3.0}
    assert judged(NUMBER, **away).standing == CORRECTED
    assert judged(replace(NUMBER, cause_unknown=True), **away).standing == OPEN
    assert judged(replace(NUMBER, why="", released=None)).standing == OPEN, "differs without a word"


def test_chance_counts_readings_that_meet_a_number_drawn_between_them() -> None:
    found = Chance.of([0.0, 1.0], 0.1)
    assert found.tried == 2
    assert [found.met, found.any] == pytest.approx([0.2, 0.2])
    crowded = Chance.of([0.0, 0.5, 0.55, 1.0], 0.1)
    assert crowded.met == pytest.approx(0.1 + 0.2 + 0.2 + 0.1)
    assert crowded.any == pytest.approx(0.1 + 0.25 + 0.1), "overlaps are counted once"
    assert Chance.of([0.0, 1.0], 2.0).any == 1
    assert Chance.of([0.3, 0.3], 0.1) == Chance(2, 2.0, 1.0)


def test_a_search_over_readings_says_how_easily_it_succeeds() -> None:
    many = {f"reading {i}": i / 71 for i in range(72)}
    verdict = Verdict("x", "here", 0.5, 3.0, 0.02, "differs", "because", many)
    assert "with 3 of 72 other readings" in verdict.finding or "with 2 of 72 other readings" in verdict.finding
    assert "would be met by 2.8 of the 72 on average, and by at least one of them in 100 % of draws" in verdict.finding
    assert "a hint, not a proof" in verdict.finding


def test_readings_that_are_all_the_same_have_no_range() -> None:
    same = Verdict("x", "here", 7.0, 3.0, 0.0, "differs", "because", {"a": 7.0, "b": 7.0})
    assert same.finding == "All 2 other readings give the printed number: a; b."
    assert replace(same, published=8.0).finding == "All 2 other readings give 7, not the printed number: a; b."


def test_a_count_is_met_by_the_same_count() -> None:
    """Of 34 counts from 967 to 1000 three are met; with a tolerance of nothing none ever would be."""
    counts = Verdict("x", "here", 1000, 913, 0.0, "differs", "because", {"a": 967.0, "b": 990.0, "c": 1000.0})
    assert "would be met by 0.1 of the 3 on average, and by at least one of them in 6 % of draws" in counts.finding


def without_data(run: Run) -> Result:
    """Compares printed numbers with themselves, as an artifact may that has lost its data."""
    if run.has("counts.csv"):
        run.file("counts.csv", "a museum")
    return {"numbers": {"ones": 659.0}}


COUNTED = Artifact(
    name="table-0.0",
    title="A test",
    source="nowhere",
    compute=without_data,
    published=(Published("ones", 659, 0, "here"),),
    claims=(Claim("there are many", "here", lambda result: result["numbers"]["ones"] > 0),),
    data=("counts.csv",),
)


def test_nothing_is_reproduced_from_data_that_was_not_read() -> None:
    verdicts = COUNTED.verdicts(compute(COUNTED, Run()))
    assert [verdict.verdict for verdict in verdicts] == ["not compared", "not compared"]
    assert [verdict.ours for verdict in verdicts] == [None, None]
    assert {verdict.standing for verdict in verdicts} == {OPEN}
    assert "counts.csv is not here" in verdicts[0].why
    assert [verdict.verdict for verdict in COUNTED.verdicts(without_data(Run()))] == ["not compared"] * 2, "nor outside of a run"


def test_what_was_read_is_compared(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text("1\n", encoding="utf-8")
    result = compute(COUNTED, Run(data=tmp_path))
    assert result["files"] == ["counts.csv"]
    assert [verdict.verdict for verdict in COUNTED.verdicts(result)] == ["reproduced", "reproduced"]


def test_a_number_may_need_a_file_of_its_own() -> None:
    alone = replace(COUNTED, published=(Published("ones", 659, 0, "here", needs=()),), claims=())
    assert [verdict.verdict for verdict in alone.verdicts(compute(alone, Run()))] == ["reproduced"]


def test_a_setting_is_told_once_among_several() -> None:
    told: set[str] = set()
    first, second = (judged(NUMBER).finding_after(told) for _ in range(2))
    assert "another start" in first
    assert "(as above) ours is 1.05" in second


def test_a_file_that_an_artifact_does_not_name_is_refused(tmp_path: Path) -> None:
    """Without its name nothing would say that the verdicts rest on it, and they would pass without it."""
    (tmp_path / "counts.csv").write_text("1\n", encoding="utf-8")
    hidden = replace(COUNTED, data=())
    with pytest.raises(ValueError, match=r"rests on counts\.csv, which it does not name"):
        compute(hidden, Run(data=tmp_path))
