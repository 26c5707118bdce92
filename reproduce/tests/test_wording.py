"""Words that compare, rank or count are held against the numbers beside them; what cannot be looked up is refused."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from reproduce.tests.recorded import ROOT

from deniable_reproduce.agreement import disagreements
from deniable_reproduce.verdict import Verdict

ERRORS = {
    "TraCS-D at ε = 2": 0.4485,
    "TraCS-D (R-SW) at ε = 2": 0.4428,
    "TraCS-D at ε = 3": 0.3821,
    "TraCS-D (R-SW) at ε = 3": 0.3813,
    "TraCS-D at ε = 4": 0.3001,
    "TraCS-D (R-SW) at ε = 4": 0.3502,
}
LEVELS = {2.0: False, 3.0: False, 4.0: True}
CLAIM = Verdict("claim", "here", "it is so", False, 0.0, "differs", "", evidence=ERRORS, levels=LEVELS)


@pytest.mark.parametrize(
    "why",
    [
        "TraCS-D has the least error at ε = 4.",
        "TraCS-D (R-SW) has the largest error at ε = 4.",
        "TraCS-D falls with ε.",
        "TraCS-D (R-SW) has 0.4428 at ε = 2.",
        "0.3001 is TraCS-D's error at ε = 4.",
        "TraCS-D is at most 0.4485.",
        "All errors lie between 0.30 and 0.4485.",
        "The claim holds at ε = 4 and fails at ε = 2, 3.",
        "About a third is left: TraCS-D (R-SW) has 0.3502 at ε = 4.",
        "It is 0.4485 at ε = 2 and 0.3821 at ε = 3.",
        "See figure-d.5.",
    ],
)
def test_words_that_the_numbers_bear_out_agree(why: str) -> None:
    assert disagreements(replace(CLAIM, why=why, given=(1 / 3,))) == []


@pytest.mark.parametrize(
    ("why", "fault"),
    [
        ("TraCS-D has the least error at ε = 2.", "at ε = 2 it has 0.4485 among 2"),
        ("TraCS-D (R-SW) has the largest error.", "at ε = 2 it has 0.4428"),
        ("TraCS-D is the best at ε = 4.", "say least or largest"),
        ("TraCS-D beats TraCS-D (R-SW) at ε = 2.", "“beats” is said"),
        ("TraCS-D outperforms TraCS-D (R-SW).", "“outperforms” is said"),
        ("TraCS-D falls behind at ε = 4.", "“falls behind” is said"),
        ("TraCS-D (R-SW) exceeds TraCS-D at ε = 3.", "“exceeds” is said"),
        ("TraCS-D does not err more at ε = 2.", "“does not err” is said"),
        ("TraCS-D is not above TraCS-D (R-SW).", "“is not above” is said"),
        ("Both errors are equal at ε = 4.", "“are equal” is said"),
        ("At ε = 4 it is twice as much.", "near 2"),
        ("It is half of it.", "near 0.5"),
        ("One report in four leaves.", "near 0.25"),
        ("Five times as many leave.", "near 5"),
        ("Two of the three levels show it.", "nothing computed counts them"),
        ("TraCS-D grows with ε.", "the numbers do not"),
        ("The utility rises with ε.", "not clear which numbers do"),
        ("TraCS-D (R-SW) has 0.4485 at ε = 2.", "none of its numbers is that"),
        ("TraCS-D (0.4428) is so.", "none of its numbers is that"),
        ("0.4428 is TraCS-D's error at ε = 2.", "none of its numbers is that"),
        ("TraCS-D is above 0.3821.", "not all of its numbers are"),
        ("The share is below 0.3.", "not clear which numbers are"),
        ("All errors lie between 0.3001 and 0.4428.", "do not lie so"),
        ("The claim holds at ε = 2, 3.", "it is so at ε = 4"),
        ("The claim fails at ε = 4.", "it is so at ε = 2, 3"),
        ("The claim holds only at ε = 2.", "it is so at ε = 4"),
        ("The claim holds up to ε = 3.", "the levels say otherwise"),
        ("The claim holds below ε = 4.", "the levels say otherwise"),
        ("At both ε = 2 and ε = 7 it is so.", "no number at ε = 7 is shown"),
        ("It is 0.4485 at ε = 2 and 0.3001 at ε = 3.", "0.3001 at ε = 3 is said"),
        ("See figure-9.9.", "no such artifact"),
    ],
)
def test_a_wrong_or_vague_word_is_noticed(why: str, fault: str) -> None:
    faults = disagreements(replace(CLAIM, why=why))
    assert any(fault in one for one in faults), faults


def test_a_claim_that_holds_is_held_against_its_own_evidence() -> None:
    """A condition that is laxer than its words would let them pass."""
    claim = Verdict("claim", "here", "TraCS-D errs less than TraCS-D (R-SW) from ε = 4 on", True, 0.0, "reproduced", "", {}, ERRORS)
    assert disagreements(claim) == []
    for words in ("TraCS-D errs less than TraCS-D (R-SW) from ε = 3 on", "TraCS-D has the least error", "TraCS-D rises with ε"):
        assert disagreements(replace(claim, published=words)), words
    assert disagreements(replace(claim, published="it errs less than before")) == [], (
        "what cannot be looked up is left to its condition"
    )


def texts(path: Path) -> Iterator[str]:
    """Every string of a program, with the pieces of one that is written in parts put together."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))


def missing(text: str) -> list[str]:
    """Files and tests that a text names and that do not exist."""
    absent = [name for name in re.findall(r"\b(?:proofs|docs)/[\w/-]+\.md", text) if not (ROOT / name).is_file()]
    for name, test in re.findall(r"((?:reproduce/)?tests/[\w/]+\.py)(?:::(\w+))?", text):
        if not (ROOT / name).is_file() or (test and f"def {test}(" not in (ROOT / name).read_text(encoding="utf-8")):
            absent.append(f"{name}::{test}" if test else name)
    return absent


@pytest.mark.parametrize("path", sorted((ROOT / "reproduce" / "src").rglob("*.py")), ids=lambda path: path.stem)
def test_what_a_reason_refers_to_exists(path: Path) -> None:
    assert [name for text in texts(path) for name in missing(text)] == []


def test_a_reference_to_nothing_would_be_noticed() -> None:
    assert missing("see proofs/nothing.md") == ["proofs/nothing.md"]
    assert missing("see proofs/window.md, tests/nothing/test_x.py::test_y") == ["tests/nothing/test_x.py::test_y"]
    assert missing("see reproduce/tests/test_wording.py::test_nothing") == ["reproduce/tests/test_wording.py::test_nothing"]
    assert missing("see reproduce/tests/test_wording.py::test_a_reference_to_nothing_would_be_noticed") == []
