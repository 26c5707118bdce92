"""The threat model's page: every promise names a test, and every test it names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "threat-model.md"
HEAD = "| who | sees | cannot learn | shown by |"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def rows(text: str) -> list[list[str]]:
    """The cells of every row of every table with this head."""
    found = []
    for table in re.findall(rf"^{re.escape(HEAD)}\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE):
        found += [[cell.strip() for cell in line.strip().strip("|").split(" | ")] for line in table.splitlines()]
    return found


@cache
def names_of_tests(path: Path) -> frozenset[str]:
    return frozenset(node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef))


def problems(text: str) -> list[str]:
    """What is wrong with the page."""
    found = []
    for cells in rows(text):
        if len(cells) != 4 or not all(cells):
            found.append(f"not four cells: {cells[0]}")
            continue
        named = NAMED.findall(cells[3])
        if not named or NAMED.sub("", cells[3]).strip(" ,"):
            found.append(f"no test, or something else than tests: {cells[0]}")
        for file, name in named:
            if not (ROOT / file).is_file() or name not in names_of_tests(ROOT / file):
                found.append(f"no such test: {file}::{name}")
    return found


def test_every_promise_names_tests_that_exist() -> None:
    text = PAGE.read_text()
    assert problems(text) == []
    assert len(rows(text)) >= 20
    assert text.count("| who |") == text.count(HEAD), "a table has another head, and is not looked at"


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("`tests/test_threat_model.py::test_that_is_not_there`", "no such test"),
        ("`tests/test_nothing.py::test_every_promise_names_tests_that_exist`", "no such test"),
        ("see the code", "no test"),
        ("`tests/test_threat_model.py::test_every_promise_names_tests_that_exist` and care", "something else"),
    ],
)
def test_a_promise_without_its_test_is_noticed(cell: str, problem: str) -> None:
    text = f"{HEAD}\n|---|---|---|---|\n| somebody | something | anything | {cell} |\n"
    assert len(rows(text)) == 1
    assert problem in " ".join(problems(text))


def coalition_problems(text: str) -> list[str]:
    """What is wrong with the table of parties that work together: a cell without a letter, a letter without a test or proof."""
    section = text.partition("\n## Who must work together\n")[2].partition("\n## ")[0]
    table = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in section.splitlines() if line.startswith("| ")]
    shown = dict(re.findall(r"^- \(([a-z])\) ((?:.|\n(?!-|\n))+)", section, re.MULTILINE))
    found = []
    for together, *cells in table[1:]:
        found += [f"no letter: {together}: {cell}" for cell in cells if not re.search(r"\(([a-z])\)$", cell)]
        found += [
            f"no such letter: {cell}" for cell in cells for letter in re.findall(r"\(([a-z])\)$", cell) if letter not in shown
        ]
    for letter, words in shown.items():
        named = NAMED.findall(words)
        found += [f"no test: ({letter})"] * (not named)
        found += [f"no such test: {file}::{name}" for file, name in named if name not in names_of_tests(ROOT / file)]
        found += [f"no such proof: {file}" for file in re.findall(r"`(proofs/[\w-]+\.md)`", words) if not (ROOT / file).is_file()]
    return found if len(table) == 15 else [*found, "not all fifteen coalitions of four parties (two share a row) and a head"]


def test_every_cell_about_parties_that_work_together_is_shown() -> None:
    assert coalition_problems(PAGE.read_text()) == []


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("| no (e) |", "| no |", "no letter"),
        ("| no (e) |", "| no (z) |", "no such letter"),
        ("test_nobody_else_opens_a_sealed_report`.", "test_somebody`.", "no such test"),
        ("| relay | yes (c)", "relay | yes (c)", "not all fifteen"),
    ],
)
def test_a_cell_that_nothing_shows_is_noticed(right: str, wrong: str, problem: str) -> None:
    text = PAGE.read_text()
    assert right in text
    assert problem in " ".join(coalition_problems(text.replace(right, wrong)))


def test_the_page_is_linked_from_where_people_look() -> None:
    for name in ("docs/index.md", "docs/deployment.md", "SECURITY.md"):
        assert "threat-model" in (ROOT / name).read_text(), name
