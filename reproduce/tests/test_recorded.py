"""The pages say what a run found: their counts and numbers are those of the record, and the record is that of the artifacts."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import replace

import pytest
from reproduce.tests.recorded import END, PAGE, ROOT, labels, leaves, page_with, recorded, summary, tally

from deniable.core import Epsilon, make_mechanism
from deniable.estimators import worst_case
from deniable.studies import best_likelihood
from deniable_reproduce.agreement import FROM, quoted
from deniable_reproduce.artifact import Artifact
from deniable_reproduce.catalogue import find, names
from deniable_reproduce.figures.figure_6_08 import STATED
from deniable_reproduce.released_data import FIGURE_6_4A, FIGURE_6_4B
from deniable_reproduce.summary import CHAPTERS, chapter_of
from deniable_reproduce.verdict import DIFFERS, NOT_COMPARED, OPEN, REPRODUCED, STANDINGS

RECORD = recorded()
TEXT = PAGE.read_text(encoding="utf-8")
ERRATA = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
WITHOUT_TORCH = {"figure-7.7", "figure-e.7"}
NAME = re.compile(r"`((?:figure|table|example|lecture|poster|beyond|appendix)-[\w.-]+)`")
ROWS = [line for line in TEXT.partition("## What is confirmed")[2].splitlines() if NAME.match(line.removeprefix("| "))]
ENTRIES = {part.partition("\n")[0]: part for part in re.split(r"^### ", ERRATA.partition("\n## Poster")[0], flags=re.MULTILINE)[1:]}
PRINTED_AS_OFTEN = {
    ("best of 4 pieces: pieces after merging", "best of 5 pieces: pieces after merging"),
    ("p at x = 0", "p at x = 0.5"),
    ("mean CD of TraCS-C", "mean CD of TraCS-D"),
    tuple(f"best share at ε = {epsilon}" for epsilon in (2, 4, 6, 8, 10)),
    ("T1 = 1, T2 = 0", "T1 = 0, T2 = 1"),
    ("n, Amazon", "n, Census"),
    ("centre, first", "centre, second"),
}
"""The source states the same number for each of these."""
FEW_DIGITS = {("figure-5.17", "circular, OGPM / PM-C"), ("figure-6.8", "truth of 3600-RR at ε = 2")}
"""2.3 % and 0.2 %: a unit of the last digit is more than a fifth, or nearly."""
ELSEWHERE: dict[str, tuple[float, ...]] = {
    "Up to how many colluders the heuristic is best": (0.853e-1,),
    "Theorem 7 is optimal within its family only": (0.31617, 1 / (math.exp(0.5) + 1)),
    "One bit is optimal for squared error at small ε": (2 * math.asinh(1),),
    "The unbiased OGPM is not optimal": (3.8475,),
    "Theorem 8 is not optimal for squared error": (0.06130, 0.02984),
    "The strawman of the figures is not ε-LDP": (FIGURE_6_4A.size + FIGURE_6_4B.size,),
    "Reports were rounded down": tuple(allowed / 3 for others in STATED.values() for _, _, allowed in others.values()),
    "The utility bound is not a bound": (0.3,),
    "One sample serves every ε": (36.0, 49.0),
}
"""Numbers of errata that no artifact has: the tests below compute them, or the page names where they are measured."""
SETTINGS: dict[str, tuple[float, ...]] = {
    "figure-4.4": (0.05, 1000),
    "figure-d.3": (200,),
    "figure-d.8": (2500,),
    "figure-e.3": (1000,),
    "figure-e.4": (20, 1000),
    "figure-e.5": (500,),
    "figure-e.6": (500,),
    "example-5": (0.25, 4.75),
}
"""Numbers of notes that say how something is run, not what comes out."""
COMMITS = {"JRR": "7e3db98", "Optimal-GPM": "e38cacb", "TraCS": "b386a50", "QCU-LDP": "4acd03e"}


def test_everything_that_is_judged_is_recorded() -> None:
    assert {name for name in names() if name not in RECORD} <= WITHOUT_TORCH
    for name, found in RECORD.items():
        assert list(found["verdicts"]) == labels(find(name)), f"{name}: record it again (reproduce/tests/recorded.py)"


def test_the_summary_of_the_page_is_that_of_the_record() -> None:
    assert page_with(TEXT, summary(RECORD)) == TEXT, "write it again: python -m reproduce.tests.recorded OUTPUT"


@pytest.mark.parametrize("standing", STANDINGS)
def test_another_count_would_change_the_page(standing: str) -> None:
    changed = deepcopy(RECORD)
    changed["figure-5.8"]["verdicts"]["one more"] = [REPRODUCED, standing]
    assert summary(changed) != summary(RECORD)
    assert tally(changed, standing).count == tally(RECORD, standing).count + 1


def test_a_page_without_its_marks_is_refused() -> None:
    with pytest.raises(AssertionError, match="has no"):
        page_with(TEXT.replace(END, ""), "")


def judged_twice(artifact: Artifact) -> list[str]:
    """Printed numbers that are judged under two names: two readings of one number, or one number counted twice."""
    seen: dict[tuple[float, str], list[str]] = {}
    for number in artifact.published:
        if number.value not in (0.0, 1.0):
            seen.setdefault((number.value, number.where), []).append(number.name)
    return [" and ".join(found) for found in seen.values() if len(found) > 1 and tuple(found) not in PRINTED_AS_OFTEN]


@pytest.mark.parametrize("name", names())
def test_a_printed_number_is_judged_once(name: str) -> None:
    assert judged_twice(find(name)) == []


def test_a_number_judged_twice_would_be_noticed() -> None:
    once = find("figure-5.8")
    again = replace(once.published[0], name="the same with another window")
    assert judged_twice(replace(once, published=(*once.published, again))) == [f"{once.published[0].name} and {again.name}"]


@pytest.mark.parametrize("name", names())
def test_no_tolerance_is_wider_than_a_fifth_of_the_number(name: str) -> None:
    for number in find(name).published:
        if number.value and (name, number.name) not in FEW_DIGITS:
            assert number.tolerance <= abs(number.value) / 5, number.name


@pytest.mark.parametrize(("chapter", "words"), [("4", "three printed averages"), ("6", "two ratios")])
def test_a_chapters_sentence_counts_what_is_open(chapter: str, words: str) -> None:
    sentence = next(one.sentence for one in CHAPTERS if one.key == chapter)
    assert words in sentence
    kinds = [kind for name, one in RECORD.items() if chapter_of(name) == chapter for kind in one["verdicts"].values()]
    assert kinds.count([DIFFERS, OPEN]) == {"two": 2, "three": 3}[words.partition(" ")[0]]


def test_what_is_open_has_no_known_cause_or_no_data() -> None:
    for name, found in RECORD.items():
        judged = {one.name: one for one in find(name).published} | {one.text: one for one in find(name).claims}
        for label, (verdict, standing) in found["verdicts"].items():
            if standing == OPEN and verdict != NOT_COMPARED:
                assert judged[label].cause_unknown, f"{name}: {label} differs without a reason"


def unknown(text: str, artifacts: Iterable[str], more: Iterable[float] = ()) -> list[str]:
    """Numbers of a text that none of these artifacts has printed, computed or released."""
    levels = {level for name in artifacts if name in RECORD for level in RECORD[name]["from"]}
    slips = [f"from ε = {level} on" for level in FROM.findall(text) if float(level) not in levels]
    known = [*more, *(number for name in artifacts if name in RECORD for number in RECORD[name]["numbers"])]
    bare = NAME.sub(" ", re.sub(r"\[[^]]*\]\([^)]*\)|`[^`]*`", " ", text))
    return slips + [
        said
        for said, value, half in quoted(bare)
        if not any(abs((one if value < 0 else abs(one)) - value) <= 1.02 * half for one in known)
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: NAME.findall(row)[0])
def test_a_row_of_the_page_quotes_numbers_of_its_artifacts(row: str) -> None:
    assert unknown(row, NAME.findall(row)) == []


@pytest.mark.parametrize("name", RECORD)
def test_a_note_quotes_numbers_of_its_artifact(name: str) -> None:
    artifacts = [name, *(["figure-d.7"] if name == "figure-6.10" else [])]
    assert unknown(find(name).note, artifacts, SETTINGS.get(name, ())) == []


def numbers_of_tests(erratum: str) -> Iterator[float]:
    """The numbers in the tests that an entry names; a test of golden values has all of them."""
    for path, name in re.findall(r"^- Test: `(.+)::(\w+)`$", erratum, re.MULTILINE):
        text = (ROOT / path).read_text(encoding="utf-8")
        body = next(one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.FunctionDef) and one.name == name)
        source = ast.get_source_segment(text, body) or ""
        if "golden" in source.lower():
            golden = json.loads((ROOT / "tests" / "golden" / "golden.json").read_text(encoding="utf-8"))
            yield from (number for row in golden for number in leaves(row["value"]))
        yield from (float(number.replace("_", "")) for number in re.findall(r"-?\d[\d_]*(?:\.\d+)?", source))


def test_numbers_of_errata_that_no_artifact_has_are_right() -> None:
    """The rest of ELSEWHERE is plain arithmetic, a certified bound (tests/planning/designs/test_interval.py) or measured."""
    low, high = 0, 9_999
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if best_likelihood(Epsilon(1), 10_000, middle, 1_000) == 0 else (low, middle)
    assert ELSEWHERE["Up to how many colluders the heuristic is best"] == (low / 10_000,)
    circle = [worst_case(make_mechanism(name, epsilon=8), "squared").error for name in ("circular-ogpm", "circular-window")]
    assert ELSEWHERE["Theorem 8 is not optimal for squared error"] == pytest.approx(circle, rel=1e-3)
    half = math.exp(0.5)
    theorem = (3 * half**3 + 9 * half**2 + 4 * half) / (3 * math.expm1(1) ** 2)
    pm = (1 / (half - 1) + (half + 3) / (3 * (half - 1) ** 2)) / 4
    assert ELSEWHERE["The unbiased OGPM is not optimal"] == pytest.approx([theorem / pm], rel=1e-3)
    assert "| 2 | 0.005 | 36 to" in (ROOT / "docs" / "classifier-utility.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("title", ENTRIES)
def test_an_erratum_quotes_numbers_of_its_artifact(title: str) -> None:
    artifacts = re.findall(r"^- Artifact: `(.+)`$", ENTRIES[title], re.MULTILINE)
    more = [*numbers_of_tests(ENTRIES[title]), *ELSEWHERE.get(title, ())]
    assert unknown(ENTRIES[title].partition("\n- Test:")[0], artifacts, more) == []


def test_what_is_open_is_quoted_rightly() -> None:
    for line in re.findall(r"^- (?:Figure|Example) .*(?:\n  .*)*", ERRATA.partition("\n## Open")[2], re.MULTILINE):
        name = line.removeprefix("- ").split(":")[0].split(",")[0].lower().replace(" ", "-")
        assert unknown(line, [name]) == [], name


def test_a_number_of_another_row_would_be_noticed() -> None:
    row = next(row for row in ROWS if "`figure-6.5`" in row)
    assert unknown(row.replace("55.5 %", "52.6 %"), ["figure-6.5"]) == ["52.6 %"]
    assert unknown(row.replace("55.5 %", "0.555 %"), ["figure-6.5"]) == ["0.555 %"]


def test_another_level_would_be_noticed() -> None:
    row = next(row for row in ROWS if "`figure-7.6`" in row)
    assert unknown(row.replace("from ε = 2 on", "from ε = 1 on"), ["figure-7.6"]) == ["from ε = 1 on"]
    entry = ENTRIES["The redesigned square wave is nearly as good"]
    assert unknown(entry.replace("from ε = 4 on", "from ε = 3 on"), ["figure-d.5"])[0] == "from ε = 3 on"


def test_released_programs_are_named_with_their_commit() -> None:
    files = [PAGE, ROOT / "docs" / "errata.md", *(ROOT / "reproduce" / "src").rglob("*.py")]
    named = [
        pair for path in files for pair in re.findall(r"\b(JRR|Optimal-GPM|TraCS|QCU-LDP)\W{1,3}([0-9a-f]{7})\b", path.read_text())
    ]
    assert {repository for repository, _ in named} == set(COMMITS)
    assert [pair for pair in named if COMMITS[pair[0]] != pair[1]] == []
