"""A reason that says something else than the numbers beside it is noticed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deniable_reproduce.agreement import disagreements, quoted
from deniable_reproduce.verdict import Verdict

BELOW = {2.0: False, 3.0: False, 4.0: True, 5.0: True}
ERRORS = {
    "TraCS-D at ε = 2": 0.4485,
    "TraCS-D (R-SW) at ε = 2": 0.4428,
    "TraCS-D at ε = 3": 0.3821,
    "TraCS-D (R-SW) at ε = 3": 0.3813,
}
SLIP = "TraCS-D (R-SW) errs less than TraCS-D at ε = 2; from ε = 3 on the claim holds."
CLAIM = Verdict("claim", "here", "TraCS-D errs less at every ε", False, 0.0, "differs", SLIP, evidence=ERRORS, levels=BELOW)


def test_a_sentence_that_its_own_evidence_refutes_is_noticed() -> None:
    """0.3821 > 0.3813 at ε = 3, and the sentence said that the claim holds there."""
    assert disagreements(CLAIM) == ["“from ε = 3 on” is said, and it does not hold at ε = 3"]
    assert disagreements(replace(CLAIM, why=SLIP.replace("ε = 3", "ε = 4"))) == []
    assert disagreements(replace(CLAIM, why=SLIP.replace("ε = 3", "ε = 5"))) == [
        "“from ε = 5 on” is said, and it holds at ε = 4 already"
    ]


def test_a_range_of_epsilon_needs_something_computed() -> None:
    assert disagreements(replace(CLAIM, levels={})) == ["“from ε = 3 on” is said, and nothing computed says at which ε it holds"]
    assert disagreements(replace(CLAIM, why="So at ε = 7.")) == ["“at ε = 7” is said, and no number at ε = 7 is shown"]
    assert disagreements(replace(CLAIM, why="So at ε = 2.", evidence={"error at ε = 20": 1.0}, levels={}))


NUMBER = Verdict("x", "here", 0.898, 0.512, 0.02, "differs", "", variants={"other start": 0.1234}, evidence={"share": 0.9181})


@pytest.mark.parametrize(
    "why",
    [
        "Ours is 0.51, not 0.898.",
        "It is 92 % of it; with another start 0.123.",
        "By Definition 22 and Theorems 7, 8 of Section 6.3.1 (tests/a/test_b.py::test_c) it falls in six sectors.",
        "At 0.5181 of the way.",
    ],
)
def test_numbers_that_are_computed_printed_or_references_agree(why: str) -> None:
    assert disagreements(replace(NUMBER, why=why, given=(0.5181,))) == []


@pytest.mark.parametrize(
    "why", ["Ours is 0.53.", "It is 93 % of it.", "There are 734 counts.", "The level is 3.94.", "1,234 places"]
)
def test_a_number_that_nothing_computed_is_noticed(why: str) -> None:
    assert len(disagreements(replace(NUMBER, why=why))) == 1


def test_numbers_are_read_with_their_digits() -> None:
    assert list(quoted("it is 0.50, 19 %, −87.9 and 7,798")) == [
        ("0.50", 0.5, 0.005),
        ("19 %", pytest.approx(0.19), pytest.approx(0.005)),
        ("−87.9", -87.9, 0.05),
        ("7,798", 7798.0, 0.5),
    ]


def test_a_claim_may_repeat_its_own_words() -> None:
    claim = replace(CLAIM, published="less than 0.05 % of the time", why="It takes more than 0.05 %.", levels={})
    assert disagreements(claim) == []


UTILITIES = {"Laplace, ε = 1": 0.63, "Exponential, ε = 1": 0.68, "Laplace, ε = 4": 0.79, "Exponential, ε = 4": 0.74}
ORDERED = replace(CLAIM, why="Laplace is above Exponential at ε = 4.", evidence=UTILITIES, levels={})


def test_an_order_that_the_evidence_refutes_is_noticed() -> None:
    assert disagreements(ORDERED) == []
    assert disagreements(replace(ORDERED, why="Laplace is above Exponential at ε = 1, 4.")) == [
        "“Laplace is above Exponential” is said, and at ε = 1 the numbers are 0.63 and 0.68"
    ]
    assert disagreements(replace(ORDERED, why="Laplace is above Exponential at ε = 4, 8."))
    assert disagreements(replace(ORDERED, why="Laplace is above Exponential from ε = 1 on."))


@pytest.mark.parametrize(
    "why",
    [
        "TraCS-D (R-SW) errs less than TraCS-D at ε = 2, 3.",
        "TraCS-D errs more than the TraCS-D (R-SW), and that is all.",
        "With both drawn as defined, TraCS-D (R-SW) errs no more than TraCS-D.",
        "The share falls from 0.4485 at ε = 2 to 0.3821 at ε = 3.",
    ],
)
def test_directions_that_the_numbers_bear_out_agree(why: str) -> None:
    assert disagreements(replace(CLAIM, why=why, levels={})) == []


@pytest.mark.parametrize(
    ("why", "fault"),
    [
        ("TraCS-D (R-SW) errs more than TraCS-D at ε = 2.", "the numbers are 0.4428 and 0.4485"),
        ("TraCS-D errs less than TraCS-D (R-SW).", "at ε = 2 the numbers are"),
        ("TraCS-D errs less.", "not clear which numbers"),
        ("PM errs less than TraCS-D.", "not clear which numbers"),
        ("TraCS-D is ahead of TraCS-D (R-SW).", "not clear which numbers"),
        ("The share rises from 0.4485 at ε = 2 to 0.3821 at ε = 3.", "rises from"),
        ("It is 0.3821 at ε = 2.", "no number at ε = 2 is that"),
        ("It is so at ε = 2, 3 and 5.", "no number at ε = 5 is shown"),
        ("Thirty places are outside.", "thirty is said"),
        ("12 of the 9 entries come out.", "12 of 9"),
    ],
)
def test_a_wrong_direction_level_or_count_is_noticed(why: str, fault: str) -> None:
    found = disagreements(replace(CLAIM, why=why, levels={}))
    assert any(fault in one for one in found), found


def test_a_comparison_with_several_holds_for_each() -> None:
    errors = {"A at ε = 4, a": 0.1, "B at ε = 4, a": 0.2, "C at ε = 4, a": 0.3, "A at ε = 4, b": 0.4, "B at ε = 4, b": 0.5}
    said = replace(CLAIM, why="A errs less than B and C at ε = 4.", evidence=errors, levels={})
    assert disagreements(said) == []
    assert disagreements(replace(said, evidence={**errors, "C at ε = 4, b": 0.35})), "on the second panel it does not"


READ = {f"reading {i}": i / 10 for i in range(6)}
SEARCHED = Verdict("x", "here", 0.2, 3.0, 0.01, "differs", "", variants=READ)


def test_a_count_of_readings_is_that_of_the_readings() -> None:
    assert disagreements(replace(SEARCHED, why="It fits 1 of 6 readings.")) == []
    assert disagreements(replace(SEARCHED, why="It fits 3 of 6 readings.")) == ["“3 of 6 readings” is said, and it is 1 of 6"]
    assert disagreements(replace(SEARCHED, why="It fits 1 of the 4 other readings."))
    assert disagreements(replace(SEARCHED, why="None of 6 readings gives it."))
    assert disagreements(replace(SEARCHED, published=0.25, why="None of 6 readings gives it.")) == []


def test_every_epsilon_is_every_level() -> None:
    said = replace(CLAIM, why="It holds at every ε.")
    assert disagreements(said) == ["“at every ε” is said, and not every level shows it"]
    assert disagreements(replace(said, levels=dict.fromkeys(BELOW, True))) == []
    assert disagreements(replace(said, levels={})), "nothing computed shows it"


@pytest.mark.parametrize(
    ("why", "agrees"),
    [
        ("It is 92 % of it.", True),
        ("It is 0.92 % of it.", False),
        ("It is 91.8 % of it.", True),
        ("The error is 12.3 %.", True),
        ("The error is 0.12 %.", False),
    ],
)
def test_a_share_is_not_a_percentage(why: str, agrees: bool) -> None:
    assert (disagreements(replace(NUMBER, why=why)) == []) is agrees


def test_a_number_computed_in_percent_is_said_in_percent() -> None:
    said = replace(NUMBER, evidence={"time of it, %": 0.0595}, why="It takes 0.0595 % of it.")
    assert disagreements(said) == []
    assert disagreements(replace(said, evidence={"time of it": 0.0595}))


def test_a_sign_that_is_said_is_there() -> None:
    scores = replace(NUMBER, evidence={"score of class 1": -4.352, "score of class 2": 6.395})
    assert disagreements(replace(scores, why="It is −4.35 against 6.39.")) == []
    assert disagreements(replace(scores, why="It is −6.39 against 4.35."))
    assert disagreements(replace(scores, why="It is 4.35 too low.")) == []


@pytest.mark.parametrize(("way", "agrees"), [("drops", True), ("shrinks", True), ("grows", False), ("increases", False)])
def test_other_words_for_a_direction_are_read_too(way: str, agrees: bool) -> None:
    said = replace(CLAIM, why=f"The share {way} from 0.4485 at ε = 2 to 0.3821 at ε = 3.", levels={})
    assert (disagreements(said) == []) is agrees
