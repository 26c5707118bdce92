"""The errata page names tests and artifacts that exist, and every entry has its parts."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from deniable_reproduce.catalogue import names

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "errata.md"
TEXT = PAGE.read_text(encoding="utf-8")
TESTS = sorted(set(re.findall(r"^- Test: `(.+)`$", TEXT, re.MULTILINE)))
ENTRIES = {part.partition("\n")[0]: part for part in re.split(r"^### ", TEXT, flags=re.MULTILINE)[1:]}


@cache
def functions(path: Path) -> frozenset[str]:
    return frozenset(
        node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)
    )


def missing(named: str) -> str:
    """What is wrong with path::name, or nothing."""
    path, _, name = named.partition("::")
    if not (ROOT / path).is_file():
        return f"there is no file {path}"
    return "" if name.startswith("test_") and name in functions(ROOT / path) else f"{path} has no test {name}"


@pytest.mark.parametrize("named", TESTS)
def test_named_tests_exist(named: str) -> None:
    assert not missing(named)


def test_a_test_that_does_not_exist_would_be_noticed() -> None:
    assert missing("reproduce/tests/test_errata.py::test_nothing")
    assert missing("reproduce/tests/nowhere.py::test_named_tests_exist")
    assert missing("reproduce/tests/test_errata.py::missing")
    assert not missing("reproduce/tests/test_errata.py::test_named_tests_exist")


@pytest.mark.parametrize("title", ENTRIES)
def test_every_entry_has_claim_right_statement_reason_and_test(title: str) -> None:
    for part in ("- Claim: ", "- Right: ", "- Why: ", "- Test: `"):
        assert f"\n{part}" in ENTRIES[title], f"{title} lacks {part}"


def test_there_are_no_fewer_entries_than_known_errors() -> None:
    assert len(ENTRIES) >= 40
    assert len(TESTS) >= 35


def test_named_artifacts_exist() -> None:
    named = set(re.findall(r"^- Artifact: `(.+)`$", TEXT, re.MULTILINE))
    assert named
    assert named <= set(names())


def test_linked_pages_exist() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert links
    assert [link for link in links if not (PAGE.parent / link).is_file()] == []


def test_every_part_says_what_was_confirmed() -> None:
    parts = {part.partition("\n")[0]: part for part in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]}
    about = [title for title, part in parts.items() if "\n### " in part]
    assert len(about) == 6
    for title in about:
        assert "\nConfirmed: " in parts[title].partition("### ")[0], title


BANNED = re.compile(
    r"made again|makes? again|comes? out again|\bis got with|told apart"
    r"|(?:^|[.;:] )Who \w+s\b|\bis no (?:density|distance|bound)\b"
)
"""Phrases that CONTRIBUTING.md and a reader's ear advise against."""
PAGES = [PAGE, PAGE.with_name("reproduce.md"), *(ROOT / "reproduce" / "src").rglob("*.py")]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_pages_and_reasons_use_plain_words(path: Path) -> None:
    text = re.sub(r"::\w+", "", path.read_text(encoding="utf-8"))
    assert BANNED.findall(text) == []


def test_a_banned_phrase_would_be_noticed() -> None:
    assert BANNED.findall("It is no density. Who knows it. They are made again.") == ["is no density", ". Who knows", "made again"]
