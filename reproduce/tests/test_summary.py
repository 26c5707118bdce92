"""Every artifact belongs to a chapter, and a chapter's row counts what its artifacts found."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from deniable_reproduce.artifact import AsReleased, Published, Run
from deniable_reproduce.catalogue import find, names
from deniable_reproduce.run import Done, Skipped, compute
from deniable_reproduce.summary import CHAPTERS, chapter_of, rows, totals

PAGE = Path(__file__).parents[2] / "docs" / "reproduce.md"


@pytest.mark.parametrize("name", names())
def test_every_artifact_has_a_chapter(name: str) -> None:
    assert chapter_of(name) in {chapter.key for chapter in CHAPTERS}


@pytest.mark.parametrize(
    ("name", "chapter"),
    [
        ("figure-2.1", "1"),
        ("table-1.1", "1"),
        ("example-1", "1"),
        ("example-3", "4"),
        ("example-9", "5"),
        ("example-10", "6"),
        ("example-15", "7"),
        ("figure-b.1", "4"),
        ("appendix-c-2-5", "5"),
        ("figure-d-split", "6"),
        ("figure-e.7", "7"),
        ("beyond-disc", "6"),
        ("poster-regimes", "poster"),
        ("lecture-one-bit", "lecture"),
    ],
)
def test_an_artifact_is_counted_where_a_reader_looks_for_it(name: str, chapter: str) -> None:
    assert chapter_of(name) == chapter


def done(name: str, published: tuple[Published, ...]) -> Done:
    artifact = replace(find(name), published=published, claims=())
    result = compute(artifact, Run())
    return Done(artifact, result, artifact.verdicts(result), 0.0, False)


def test_a_row_counts_by_standing_and_the_released_apart() -> None:
    name = "variance of the count"
    ours = compute(find("example-2"), Run())["numbers"][name]
    setting = AsReleased("x", "another setting", "a repository", of=lambda result: 3.0)
    found = done(
        "example-2",
        (Published(name, ours, 0.1, "here"), Published(name, 3.0, 1e-3, "here", "because", released=setting)),
    )
    (row,) = rows([found])
    assert row.chapter.key == "4"
    assert row.counts == {"confirmed": 1, "corrected": 1, "improved": 0, "open": 0} == totals([found])
    assert row.as_released == {"confirmed": 0, "corrected": 1, "improved": 0, "open": 0}


def test_a_sentence_says_when_its_chapter_was_not_whole() -> None:
    """Without data a chapter's sentence would otherwise pass for a result of the run."""
    found = done("example-2", ())
    (whole,), (part,) = (
        rows([found]),
        rows([found], [Skipped("figure-4.6", "no data", True), Skipped("figure-6.9", "no data", True)]),
    )
    assert whole.sentence == whole.chapter.sentence
    assert part.sentence == f"{whole.sentence} (This rests on the whole chapter; 1 artifact was skipped in this run.)"


def test_sentences_quote_no_numbers_that_nobody_checks() -> None:
    for chapter in CHAPTERS:
        assert not re.search(r"\d", chapter.sentence), chapter.key


def test_the_page_has_every_chapter_with_the_same_sentence() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for chapter in CHAPTERS:
        assert chapter.title in text
        assert chapter.sentence in text, f"{chapter.title}: the page says something else"
