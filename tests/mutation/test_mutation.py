"""The mutation check itself: which faults it plants, how it samples them, and that it sees who notices."""

from __future__ import annotations

import ast
import sys
import textwrap
from pathlib import Path

import pytest
from tests.mutation.__main__ import PARTS, ROOT, judged, places, sample, summary
from tests.mutation.limits import in_a_fork
from tests.mutation.mutants import mutants
from tests.mutation.plant import plant_in_place
from tests.mutation.session import Fault, Seen, run_at_import, run_in_place, touching

SOURCE = '''
"""A docstring with 1 < 2."""

from __future__ import annotations
import math

Either = int | str
LIMIT: int = 8

def least(values: list[int] | None, start: int = 3) -> int:
    """Not 1 + 1."""
    if not values or len(values) > LIMIT:
        raise ValueError(f"at most {LIMIT + 1} values")
    for value in values:
        start = min(start, -value)
    return start if start else math.ceil(0.5)
'''


def test_every_kind_of_fault_is_planted_once() -> None:
    found = {(m.line, m.kind, m.before, m.after) for m in mutants(SOURCE) if m.kind != "constant"}
    test, answer = "not values or len(values) > LIMIT", "return start if start else math.ceil(0.5)"
    assert found == {
        (10, "default", "3", "4"),
        (10, "default", "3", "2"),
        (12, "and/or", test, "not values and len(values) > LIMIT"),
        (12, "comparison", test, "not values or len(values) <= LIMIT"),
        (12, "comparison", test, "not values or len(values) >= LIMIT"),
        (12, "condition negated", test, "not (not values or len(values) > LIMIT)"),
        (12, "sign or not dropped", test, "values or len(values) > LIMIT"),
        (13, "statement removed", "raise ValueError(f'at most {LIMIT + 1} values')", "pass"),
        (14, "loop skipped", "values", "()"),
        (15, "twin function", "start = min(start, -value)", "start = max(start, -value)"),
        (15, "sign or not dropped", "start = min(start, -value)", "start = min(start, value)"),
        (16, "return value", answer, "return (start if start else math.ceil(0.5)) + 1"),
        (16, "condition negated", answer, "return math.ceil(0.5) if start else start"),
        (16, "twin function", answer, "return start if start else math.floor(0.5)"),
    }
    constants = {(m.line, m.after) for m in mutants(SOURCE) if m.kind == "constant"}
    assert {(8, "LIMIT: int = 9"), (8, "LIMIT: int = 7"), (16, "return start if start else math.ceil(1.5)")} < constants


def test_docstrings_annotations_aliases_and_texts_of_errors_are_left_alone() -> None:
    lines = {mutant.line for mutant in mutants(SOURCE)}
    assert lines == {8, 10, 12, 13, 14, 15, 16}


def test_every_fault_compiles_and_differs_from_the_sound_file() -> None:
    sound = ast.dump(ast.parse(SOURCE))
    trees = [ast.dump(mutant.tree()) for mutant in mutants(SOURCE)]
    assert sound not in trees
    assert len(set(trees)) == len(trees)
    assert len({mutant.name for mutant in mutants(SOURCE)}) == len(trees)
    for mutant in mutants(SOURCE):
        compile(mutant.tree(), "faulty", "exec")


@pytest.mark.parametrize("part", PARTS)
def test_samples_repeat_and_reach_every_file_with_code(part: str) -> None:
    chosen, possible = sample(part, 60, seed=1)
    again, _ = sample(part, 60, seed=1)
    other, _ = sample(part, 60, seed=2)
    names = [fault.label for fault in chosen]
    assert names == [fault.label for fault in again]
    assert len(set(names)) == len(names) == min(60, possible)
    assert {fault.path for fault in chosen} == {fault.path for fault in other}
    if possible > 60:
        assert names != [fault.label for fault in other]


def test_what_was_judged_equivalent_is_still_in_the_code() -> None:
    known = {fault.label for part in PARTS for fault in sample(part, 10**6, seed=1)[0]}
    assert set(judged()) <= known
    assert all(len(reason) > 20 for reason in judged().values())


@pytest.mark.slow
def test_a_child_that_loops_or_dies_does_not_stop_the_rest() -> None:
    def loop() -> None:
        while True:
            pass

    assert in_a_fork(lambda: [1, "two"], seconds=5) == ("done", [1, "two"])
    assert in_a_fork(loop, seconds=0) == ("time", None)
    assert in_a_fork(lambda: sys.exit(3), seconds=5) == ("crash", None)


def test_tests_of_the_function_come_fastest_first() -> None:
    mutant = next(m for m in mutants("def f(x):\n    return x < 1\n"))
    fault = Fault("a", Path("room/a.py"), mutant)
    seen = {
        "slow": Seen({("a.py", "f")}, 2.0),
        "fast": Seen({("a.py", "f"), ("b.py", "g")}, 0.1),
        "elsewhere": Seen({("b.py", "f")}, 0.1),
    }
    assert touching(seen, fault) == ["fast", "slow"]


MODULE = """
LIMIT = 3

def inside(x):
    return 0 <= x < LIMIT

def unused(x):
    return x + 1
"""
TESTS = """
from planted_house.room import inside

def test_inside():
    assert inside(0) and inside(2) and not inside(3)
"""


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with one function that is tested and one that is not."""
    folder = tmp_path / "planted_house"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "room.py").write_text(MODULE)
    (tmp_path / "test_room.py").write_text(textwrap.dedent(TESTS))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "modules", {name: m for name, m in sys.modules.items() if not name.startswith("planted_house")})
    return folder


@pytest.mark.slow
def test_faults_are_noticed_where_tests_look_and_nowhere_else(house: Path) -> None:
    path, places = house / "room.py", [str(house.parent / "test_room.py"), f"--rootdir={house.parent}", "-c", "/dev/null"]
    faults = [Fault("planted_house.room", path, mutant) for mutant in mutants(MODULE)]
    found = run_in_place(house, places, faults, lambda fault, outcome: None)
    by_name = {fault.mutant.name: found[fault.label] for fault in faults}
    assert by_name["inside: return 0 <= x < LIMIT  ->  return 0 < x < LIMIT"] == "killed"
    assert by_name["inside: return 0 <= x < LIMIT  ->  return 0 <= x <= LIMIT"] == "killed"
    assert by_name["inside: return 0 <= x < LIMIT  ->  return -1 <= x < LIMIT"] == "survived"
    assert by_name["unused: return x + 1  ->  return x - 1"] == "untouched"
    assert by_name["module: LIMIT = 3  ->  LIMIT = 4"] == "import"
    early = {fault.mutant.name: run_at_import(places, fault) for fault in faults if fault.mutant.scope == "module"}
    assert early == {"module: LIMIT = 3  ->  LIMIT = 4": "killed", "module: LIMIT = 3  ->  LIMIT = 2": "killed"}
    sound = faults[0]._replace(mutant=faults[0].mutant._replace(change=lambda node: None))
    assert run_at_import(places, sound) == "survived"
    assert path.read_text() == MODULE


def test_a_function_gets_its_faulty_code_in_place(house: Path) -> None:
    import importlib

    module = importlib.import_module("planted_house.room")
    fault = next(m for m in mutants(MODULE) if m.after == "return 0 <= x <= LIMIT")
    assert not module.inside(3)
    assert plant_in_place(module, fault)
    assert module.inside(3)


def test_the_rate_counts_what_cannot_be_noticed_as_alive() -> None:
    rows = [
        {"fault": "a", "outcome": "killed"},
        {"fault": "b", "outcome": "killed (time)"},
        {"fault": "c", "outcome": "survived"},
        {"fault": "d", "outcome": "untouched"},
    ]
    told = summary({"part": "exact", "possible": 9, "seed": 1, "results": rows}, {"c": "nobody could tell the difference"})
    assert (told["tried"], told["killed"], told["survived"], told["rate"]) == (4, 2, 2, 0.5)
    assert (told["of them equivalent"], told["alive"]) == (1, ["d"])


@pytest.mark.parametrize("part", PARTS)
def test_a_parts_own_tests_are_where_they_are_looked_for(part: str) -> None:
    assert all((ROOT / place).is_dir() for place in places(part))
