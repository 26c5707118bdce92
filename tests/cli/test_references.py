"""Every mechanism says where it comes from, and a reader can find it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable.cli.app import main
from deniable.cli.references import Reference, bibliography, cited, references
from deniable.core import built_in_names, mechanism_class
from deniable.studies import ATP, NGram

ROOT = Path(__file__).parents[2]
UNFINDABLE = {"deniable", "lecture-local-model"}
"""This package, and notes whose copy names no author, year or place."""
YEARS = re.compile(r"[^;(]*? \d{4}[a-z]?")


def unresolved(source: str) -> list[str]:
    """The parts of a source that name a work of some year and have no entry."""
    known = [work.field("shorthand") for work in cited(source)]
    return [part.strip() for part in YEARS.findall(source) if not any(one in part for one in known)]


@pytest.mark.parametrize("name", built_in_names())
def test_every_mechanism_names_works_that_have_an_entry(name: str) -> None:
    source = mechanism_class(name).source
    assert cited(source), f"{source!r} names no shorthand of references.bib"
    assert unresolved(source) == []


@pytest.mark.parametrize("source", [ATP.source, NGram.source])
def test_the_trajectory_baselines_name_theirs(source: str) -> None:
    assert cited(source)


def test_a_work_without_an_entry_would_be_noticed() -> None:
    assert unresolved("Warner 1966") == ["Warner 1966"]
    assert unresolved("Ye, Barg 2018; Nobody et al. 2016") == ["Nobody et al. 2016"]
    assert cited("a plug-in's own idea") == []


@pytest.mark.parametrize("work", references(), ids=lambda work: work.key)
def test_an_entry_has_author_title_year_and_a_place(work: Reference) -> None:
    assert work.field("title")
    if work.key in UNFINDABLE:
        return
    assert work.authors
    assert work.field("year") or work.kind == "phdthesis", "the proposal carries no date"
    assert work.field("journal") or work.field("booktitle") or work.field("school") or work.field("eprint")
    assert work.link or (work.field("volume") and work.field("pages"))
    assert re.fullmatch(r"(10\.\d{4,}/\S+)?", work.field("doi"))
    assert re.fullmatch(r"(\d{4}\.\d{4,5})?", work.field("eprint"))


def test_every_entry_is_read_and_used_once() -> None:
    keys = re.findall(r"^@\w+\{(.+),$", bibliography(), re.MULTILINE)
    assert [work.key for work in references()] == keys
    assert len(set(keys)) == len(keys)
    shorthands = [work.field("shorthand") for work in references()]
    assert len(set(shorthands)) == len(shorthands)
    assert all(shorthands)


def test_show_prints_the_work() -> None:
    shown = CliRunner().invoke(main, ["show", "randomized-response", "-e", "1"]).output
    assert "Source: Stanley L. Warner, Randomized Response: A Survey Technique" in shown
    assert "1965, https://doi.org/10.1080/01621459.1965.10480775" in shown
    assert '"key": "zheng-ogpm"' in CliRunner().invoke(main, ["show", "ogpm", "-e", "1", "--json"]).output


def test_the_citation_file_has_the_sources_of_the_package() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    sources = [work for work in references() if work.key.startswith(("zheng-", "kairouz-", "lecture-"))]
    assert len(sources) == 7
    for work in sources:
        assert work.field("title") in text, work.key
        assert work.field("eprint") in text, work.key
