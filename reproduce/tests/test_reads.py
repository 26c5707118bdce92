"""A verdict rests on numbers of its run: what a claim looks at is shown, and one that looks at nothing is not compared."""

from __future__ import annotations

from dataclasses import replace

from deniable_reproduce.artifact import UNREAD, Claim, Published
from deniable_reproduce.reads import MOST, Reads
from deniable_reproduce.verdict import OPEN

ROWS = [{"mechanism": name, "epsilon": e, "average_error": 1 / e + place} for place, name in enumerate("AB") for e in (2, 4)]
RESULT = {"numbers": {"share": 0.25, "level": "inf"}, "rows": ROWS, "certified": True, "panels": [{"title": "left", "ys": [1, 2]}]}


def below(result: dict[str, object]) -> bool:
    """Does A err less than B at every level?"""
    errors = {(row["mechanism"], row["epsilon"]): row["average_error"] for row in result["rows"]}  # type: ignore[attr-defined]
    return all(errors["A", level] < errors["B", level] for level in (2, 4))


def test_a_claim_that_looks_at_nothing_is_not_confirmed() -> None:
    verdict = Claim("it is so", "here", lambda result: True).verdict(RESULT)
    assert (verdict.verdict, verdict.ours, verdict.why, verdict.standing) == ("not compared", None, UNREAD, OPEN)
    names_only = Claim("it is A", "here", lambda result: result["rows"][0]["mechanism"] == "A")
    assert names_only.verdict(RESULT).verdict == "not compared"


def test_a_constant_beside_a_printed_number_is_not_confirmed() -> None:
    assert Published("π", 3.14, 0.01, "here", of=lambda result: 3.14159).verdict(RESULT).verdict == "not compared"
    computed = Published("share", 0.25, 0.01, "here")
    assert computed.verdict(RESULT).verdict == "reproduced"
    assert replace(computed, of=lambda result: 2 * result["numbers"]["share"]).verdict(RESULT).verdict == "differs"


def test_what_a_claim_has_looked_at_is_shown() -> None:
    shown = Claim("A errs less", "here", below).verdict(RESULT).evidence
    assert shown == {
        "A, ε = 2, average error": 0.5,
        "A, ε = 4, average error": 0.25,
        "B, ε = 2, average error": 1.5,
        "B, ε = 4, average error": 1.25,
    }
    own = Claim("A errs less", "here", below, evidence=lambda result: {"margin": 1.0})
    assert own.verdict(RESULT).evidence == {"margin": 1.0}


def test_infinite_levels_and_yes_or_no_count_as_numbers() -> None:
    assert Claim("it is endless", "here", lambda r: float(r["numbers"]["level"]) > 9).verdict(RESULT).evidence == {
        "level": float("inf")
    }
    assert Claim("it is certified", "here", lambda r: bool(r["certified"])).verdict(RESULT).evidence == {"certified": 1.0}


def test_lists_are_named_by_their_panel() -> None:
    reads = Reads()
    assert sum(reads.of(RESULT)["panels"][0]["ys"]) == 3
    assert reads.numbers == {"left, ys, 0": 1.0, "left, ys, 1": 2.0}


def test_of_many_numbers_some_are_shown_beside_their_count() -> None:
    reads = Reads()
    assert sum(reads.of({"errors": list(range(100))})["errors"]) == 4950
    shown = reads.shown()
    assert shown["numbers compared"] == 100
    assert len(shown) == MOST + 1
    assert {"errors, 0", "errors, 99"} <= set(shown)
