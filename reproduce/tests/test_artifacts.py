"""Every artifact computes, twice the same, and what it finds is reproduced or explained."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from reproduce.tests.promised import REQUIRED
from reproduce.tests.recorded import changed, label

import deniable_reproduce
from deniable_reproduce.agreement import disagreements
from deniable_reproduce.artifact import UNREAD, Artifact, Claim, MissingData, Result, Run
from deniable_reproduce.catalogue import find, names
from deniable_reproduce.run import compute, draw
from tests.outside_data import FOLDER, absent

QUICK = ["figure-2.1", "figure-3.2", "figure-5.4", "figure-5.6", "figure-5.7", "figure-5.8", "figure-5.9", "figure-5.10"]
QUICK += ["figure-5.12", "figure-5.13", "figure-5.14", "figure-5.15", "figure-b.1", "figure-c.1", "figure-c.2", "figure-c.3"]
QUICK += ["table-1.1", "table-4.1", "table-4.2", "table-4.3", "example-1", "example-2", "example-3", "example-8"]
QUICK += ["appendix-c-2-5", "poster-total-variation", "lecture-frequency-oracle", "beyond-joint-three-epsilons"]
SIMULATED = ["figure-4.3", "figure-4.4", "figure-5.17", "lecture-central-and-local", "lecture-one-bit"]
HEAVY = ["figure-4.1", "figure-4.2", "figure-4.5", "figure-4.6", "figure-5.2", "figure-5.11", "figure-5.16", "poster-regimes"]
HEAVY += ["table-5.1", "table-5.2", "example-4", "example-5", "example-6", "example-7", "example-9", "beyond-optimal-window"]
ALL = [*QUICK, *SIMULATED, *(pytest.param(name, marks=pytest.mark.heavy) for name in HEAVY)]
TWICE = [*SIMULATED, *(pytest.param(name, marks=pytest.mark.heavy) for name in [*QUICK, *HEAVY])]


def run_for(name: str) -> Run:
    artifact = find(name)
    if reason := absent(*artifact.data):
        pytest.skip(reason)
    return Run(data=FOLDER)


@cache
def computed(name: str) -> Result:
    return compute(find(name), run_for(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_an_artifact_is_reproduced_or_explained(name: str, tmp_path: Path) -> None:
    artifact, result = find(name), computed(name)
    for verdict in artifact.verdicts(result):
        assert verdict.explained, f"{verdict.name}: published {verdict.published}, ours {verdict.ours}"
        assert disagreements(verdict) == [], verdict.name
        assert verdict.why != UNREAD, verdict.name
    assert changed(artifact, result) == []
    for path in draw(artifact, result, tmp_path).values():
        assert path.read_text(encoding="utf-8").startswith("<svg")
    if artifact.table is not None:
        assert artifact.table(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", TWICE)
def test_an_artifact_is_the_same_every_time(name: str) -> None:
    assert json.dumps(compute(find(name), run_for(name))) == json.dumps(computed(name))


def test_every_promised_artifact_is_tested() -> None:
    assert sorted([*QUICK, *SIMULATED, *HEAVY]) == sorted(REQUIRED)


@pytest.mark.slow
def test_other_words_give_other_surveys() -> None:
    artifact = find("figure-4.4")
    first, second = (compute(artifact, Run(randomness=words)) for words in ("one", "two"))
    assert first != second
    assert all(verdict.explained for verdict in artifact.verdicts(second))


def test_a_data_file_that_is_not_there_is_asked_for() -> None:
    with pytest.raises(MissingData, match=r"motionsense/sub_1\.csv \(MotionSense"):
        compute(find("figure-5.17"), Run())


def test_the_joint_figures_need_no_data() -> None:
    for name in ("figure-4.3", "figure-4.4"):
        assert compute(find(name), Run())["numbers"]


def passing_without_data(artifact: Artifact) -> list[str]:
    """What an artifact that rests on files says without them: it must ask for them, or compare nothing."""
    try:
        result = compute(artifact, Run())
    except MissingData:
        return []
    return [label(verdict) for verdict in artifact.verdicts(result) if verdict.verdict != "not compared"]


@pytest.mark.parametrize("name", [name for name in names() if find(name).data or find(name).optional])
def test_no_verdict_passes_without_data(name: str) -> None:
    assert passing_without_data(find(name)) == []


def printed_counts(run: Run) -> Result:
    """The printed counts themselves, as if they had been counted."""
    del run
    return {"numbers": {number.name: number.value for number in find("table-4.3").published}}


def test_a_verdict_that_passes_without_data_would_be_noticed() -> None:
    """Two ways to lose the data: a number that forgets which file it needs, and a table that forgets that it rests on any."""
    counted = replace(find("table-4.3"), compute=printed_counts)
    assert passing_without_data(counted) == []
    forgotten = replace(counted, published=tuple(replace(number, needs=()) for number in counted.published))
    assert len(passing_without_data(forgotten)) == 12
    one = replace(counted, published=(replace(counted.published[0], needs=None), *counted.published[1:]))
    assert passing_without_data(one) == [counted.published[0].name]
    blind = Claim("there are more zeros than ones", "here", lambda result: True, needs=())
    assert passing_without_data(replace(counted, claims=(blind,))) == [], "a claim that looks at nothing is not compared"


@pytest.mark.parametrize("path", sorted(Path(deniable_reproduce.__file__).parent.rglob("*.py")), ids=lambda path: path.stem)
def test_data_is_read_by_the_one_door_that_notes_it(path: Path) -> None:
    """A file that is opened past `run.file` is not noted, and a verdict on it would not be missed without it."""
    if path.name not in ("artifact.py", "run.py", "command.py", "report_page.py"):
        assert "run.data" not in path.read_text(encoding="utf-8")


def test_counts_without_files_are_not_compared_with_themselves() -> None:
    verdicts = find("table-4.3").verdicts(compute(find("table-4.3"), Run()))
    assert len(verdicts) == 12
    assert {verdict.verdict for verdict in verdicts} == {"not compared"}


def test_only_the_counted_file_is_compared(tmp_path: Path) -> None:
    (tmp_path / "kosarak_target_clicks.csv").write_text("1\n" * 659 + "0\n" * 19_341, encoding="utf-8")
    scipy_io = pytest.importorskip("scipy.io")
    scipy_io.savemat(tmp_path / "EC.mat", {"EC": [[1]] * 4 + [[0]] * 2})
    artifact = find("table-4.3")
    verdicts = {verdict.name: verdict for verdict in artifact.verdicts(compute(artifact, Run(data=tmp_path)))}
    assert verdicts["n₁, Kosarak"].verdict == "reproduced"
    assert (verdicts["n₁, E-commerce"].verdict, verdicts["n₁, E-commerce"].ours) == ("differs", 4)
    assert verdicts["n₁, Census"].verdict == "not compared"
