"""The page "What is optimal?" is the one that `deniable design --table` writes.

A sample of its lines is designed anew in every run; the others by `make heavy` (a minute or two).
"""

from __future__ import annotations

import importlib.util
import math
import re
from pathlib import Path

import pytest

from deniable.cli.design_page import BOTTOM, LARGE, LARGE_FROM, LEVELS, QUESTIONS, TOP, answer, line
from deniable.planning import limit_of_worst

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "what-is-optimal.md").read_text(encoding="utf-8")
POINT = r'aria-label="ε: ([\d.]+); above the bound: ([\d.,e-]+); mechanism: ([a-z ]+)"'
TITLES = list(QUESTIONS)
EVERY = [(title, level) for title in TITLES for level in LEVELS]
SAMPLE = [(TITLES[0], "0.5"), (TITLES[0], "4"), (TITLES[1], "1"), (TITLES[1], "2"), (TITLES[2], "1"), (TITLES[3], "4")]
SAMPLE += [(TITLES[4], "2"), *((TITLES[5], level) for level in LEVELS)]
WITHIN = 2e-3
"""Solvers differ in the last digits from machine to machine; published errors and closed forms do not."""


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def printed(title: str, level: str) -> str:
    """The line of the page."""
    matched = re.findall(rf"^\| {re.escape(level)} \|.*\n", section(title), re.MULTILINE)
    assert len(matched) == 1, (title, level)
    return str(matched[0])


def numbers(text: str) -> list[float]:
    """Published error, error, bound and gap of a line."""
    return [float(cell.split()[0]) for cell in text.strip().strip("|").split("|")[1:5]]


def check(title: str, level: str) -> None:
    now, then = line(level, answer(title, level)), printed(title, level)
    assert now.split("`")[1::2] == then.split("`")[1::2]  # the names of the two mechanisms
    (published, *found), (was_published, *was) = numbers(now), numbers(then)
    assert published == was_published
    assert found == pytest.approx(was, rel=WITHIN)


def test_the_words_around_the_tables_are_the_commands() -> None:
    assert PAGE.startswith(TOP)
    assert PAGE.endswith(BOTTOM)
    limits = {"absolute": limit_of_worst(1).constant, "squared": limit_of_worst(2).constant}
    assert LARGE.format(**limits) in PAGE
    titles = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    assert titles == [*TITLES, "As ε grows", "How it is done"]


@pytest.mark.parametrize("title", TITLES)
def test_every_level_has_one_line_whose_numbers_fit_together(title: str) -> None:
    assert len(re.findall(r"^\| [\d.]+ \|", section(title), re.MULTILINE)) == len(LEVELS)
    for level in LEVELS:
        published, best, bound, gap = numbers(printed(title, level))
        assert published >= best >= bound
        assert gap == pytest.approx(best / bound, abs=1.2e-4)


def test_multiples_are_those_of_the_tables() -> None:
    for level in (level for level in LEVELS if float(level) >= LARGE_FROM):
        cells = printed("As ε grows", level).strip().strip("|").split("|")[1:]
        for cell, title, rate in zip(cells, TITLES[:2], (1 / 2, 2 / 3), strict=True):
            _, best, bound, _ = numbers(printed(title, level))
            grown = math.exp(rate * float(level))
            assert [float(number) for number in cell.split(",")] == pytest.approx([best * grown, bound * grown], rel=3e-4)


def test_the_picture_shows_the_tables() -> None:
    where = importlib.util.spec_from_file_location("gap_chart", DOCS / "gap_chart.py")
    assert where is not None
    assert where.loader is not None
    drawing = importlib.util.module_from_spec(where)
    where.loader.exec_module(drawing)
    rows = drawing.gaps(PAGE)
    assert len(rows) == 2 * len(EVERY)
    picture = (DOCS / "images" / "what-is-left.svg").read_text(encoding="utf-8")
    drawn = [(float(a), float(b.replace(",", "")), c) for a, b, c in re.findall(POINT, picture)]
    for row, (title, level) in zip(rows[1::2], EVERY, strict=True):
        _, best, bound, _ = numbers(printed(title, level))
        assert row["left"] == pytest.approx(max(100 * (best / bound - 1), drawing.LEAST))
    for row in rows:
        assert any(
            at == row["epsilon"] and name == row["mechanism"] and left == pytest.approx(row["left"], rel=1e-6)
            for at, left, name in drawn
        )


@pytest.mark.slow
@pytest.mark.parametrize(("title", "level"), SAMPLE)
def test_a_sample_of_lines_is_still_what_the_command_prints(title: str, level: str) -> None:
    check(title, level)


@pytest.mark.heavy
@pytest.mark.parametrize(("title", "level"), [each for each in EVERY if each not in SAMPLE])
def test_the_other_lines_are_too(title: str, level: str) -> None:
    check(title, level)
