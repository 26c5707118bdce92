"""A row for every chapter: what is confirmed, corrected, improved and open, and what that means to a reader of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deniable_reproduce.run import Done, Skipped
from deniable_reproduce.verdict import STANDINGS


@dataclass(frozen=True)
class Chapter:
    """A part of the sources and one sentence about all of its artifacts."""

    key: str
    title: str
    sentence: str


CHAPTERS = (
    Chapter(
        "1",
        "Chapters 1 to 3: foundations",
        "The foundations are right. Whether more pieces could lower the worst error, which is left open, is answered: they could "
        "not.",
    ),
    Chapter(
        "4",
        "Chapter 4: joint randomized response",
        "Joint randomized response lowers the error as its theorem says, and its guarantee without colluders is right. Against two "
        "or more colluders the printed bound is too small, and a partner at the least correlation can learn everything; the "
        "bounded variant repairs that. Where three printed averages come from is open.",
    ),
    Chapter(
        "5",
        "Chapter 5: numbers and directions",
        "OGPM, its densities and its absolute errors are right, and the released theoretical results are reproduced. “Optimal” "
        "holds within its family, and on the circle for absolute error among all mechanisms; for squared error another window is "
        "better, and the comparison on the circle measured its baselines on the line.",
    ),
    Chapter(
        "6",
        "Chapter 6: places and paths",
        "TraCS works as described, and with the released settings the printed comparisons are reproduced, except for two ratios. "
        "Some baselines in them are not ε-LDP, averages are not always taken alike, and the paths are sorted lists of places. "
        "Compared fairly TraCS mostly keeps its lead, and one disc in the plane does better still.",
    ),
    Chapter(
        "7",
        "Chapter 7: classifiers",
        "PM is on average the best of the mechanisms compared, except for forests at the smallest ε, and probabilities of a proved "
        "box are right. Laplace comes out behind Exponential because its reports outside the range were counted as failures; the "
        "printed bound needs a correction, and for the usual models the utility can be computed exactly.",
    ),
    Chapter(
        "poster",
        "Poster: extremal mechanisms",
        "The regimes of the extremal mechanisms are right; ties between the two distributions need a rule of their own.",
    ),
    Chapter(
        "lecture",
        "Lecture notes: the local model",
        "The local and central errors are right; the frequency oracle spends more than it says.",
    ),
)
APPENDICES = {"b": "4", "c": "5", "d": "6", "e": "7"}
EXAMPLES = ((1, "1"), (3, "4"), (9, "5"), (10, "6"), (15, "7"))
"""The last example of each chapter."""
BEYOND = {"optimal-window": "5", "disc": "6", "joint-three-epsilons": "4", "classifier-exact": "7"}


def chapter_of(name: str) -> str:
    """The chapter that an artifact belongs to."""
    kind, _, rest = name.partition("-")
    if kind in ("poster", "lecture"):
        return kind
    if kind == "beyond":
        return BEYOND[rest]
    if kind == "example":
        return next(key for last, key in EXAMPLES if int(rest) <= last)
    first = re.split(r"[.-]", rest)[0]
    return APPENDICES.get(first) or ("1" if first in "123" else first)


@dataclass(frozen=True)
class Row:
    """A chapter's counts by standing, how many of them hold with the released setting only, and how much was skipped."""

    chapter: Chapter
    counts: dict[str, int]
    as_released: dict[str, int]
    skipped: int = 0

    @property
    def sentence(self) -> str:
        """What the chapter's reader wants to know; it rests on all of its artifacts, so it says when some are missing."""
        if not self.skipped:
            return self.chapter.sentence
        some = "1 artifact was" if self.skipped == 1 else f"{self.skipped} artifacts were"
        return f"{self.chapter.sentence} (This rests on the whole chapter; {some} skipped in this run.)"


def rows(done: Iterable[Done], skipped: Iterable[Skipped] = ()) -> list[Row]:
    """The chapters that something was computed of."""
    missing = [chapter_of(one.name) for one in skipped]
    by_chapter: dict[str, list[Done]] = {}
    for one in done:
        by_chapter.setdefault(chapter_of(one.artifact.name), []).append(one)
    return [
        Row(
            chapter,
            {standing: sum(one.count(standing) for one in artifacts) for standing in STANDINGS},
            {standing: sum(one.as_released(standing) for one in artifacts) for standing in STANDINGS},
            missing.count(chapter.key),
        )
        for chapter in CHAPTERS
        if (artifacts := by_chapter.get(chapter.key))
    ]


def totals(done: Sequence[Done]) -> dict[str, int]:
    """All of it together."""
    return {standing: sum(one.count(standing) for one in done) for standing in STANDINGS}
