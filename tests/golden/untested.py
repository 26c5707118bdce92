"""The golden values that test_golden.py does not compare, in one place, with the reason.

A prefix covers every id that begins with it. `UNTESTED`: no test computes them. `PARTLY`: some keys of a row are not
compared. `WRONG`: the golden number itself is wrong, and a test shows it. `TESTED_ELSEWHERE`: another file compares them.
"""

from __future__ import annotations

from typing import NamedTuple

UNTESTED: dict[str, str] = {
    # Statements about what is printed: there is nothing of ours to compute.
    "tab6.2.": "a ratio of printed running times",
    "tab7.2.": "a ratio of printed running times",
    "7.5.log": "a logarithm in the text",
    "E12.": "a constant in a proof",
    "blap.mass.": "the mass of a printed density that is not one; bounded-laplace has the right normaliser",
    "lec.freq.eps_actual.": "the real level of a printed rule that sign-bits replaces",
}

PARTLY: dict[str, tuple[str, ...]] = {"kairouz.": ("support",)}
"""Keys that are not compared here.

The sets of an extremal mechanism may tie:
tests/planning/designs/test_extremal.py checks that the listed ones are as good as ours."""


class Wrong(NamedTuple):
    """Golden numbers that are not what they say: the keys (none: the whole row), why, and the test that shows it."""

    keys: tuple[str, ...]
    reason: str
    test: str


WRONG: dict[str, Wrong] = {
    "kairouz.A.thresholds": Wrong(
        (),
        "its first number, 0.0755, is where the golden program's tolerance ends: with P0 = P1 on one category the published "
        "binary mechanism is best at no epsilon; its second number is right",
        "tests/planning/designs/test_wrong_golden.py",
    ),
    "circ.LP.": Wrong(
        ("two_level",),
        "the golden search stopped up to 0.02% above the best two levels, which equal the row's own program to nine digits",
        "tests/planning/designs/test_wrong_golden.py",
    ),
    "atoms.L2.eps6": Wrong(
        ("w", "G", "worst_U"),
        "the golden search stopped early: an integer mechanism of the same form errs 3% less than worst_U, and where atoms "
        "and an even part are best is only known to a percent",
        "tests/planning/designs/test_wrong_golden.py",
    ),
}
"""By id or prefix. Everything else of these rows is compared as usual."""

TESTED_ELSEWHERE: dict[str, str] = dict.fromkeys(
    ("JRR.", "JRRc.", "T3.", "kary.", "ex2.", "ex3.", "tab4.3.", "4."), "tests/studies/joint/test_golden_joint.py"
) | {
    "2PC.": "tests/studies/joint/protocol/test_thresholds.py",
    **dict.fromkeys(
        ("ex11.", "ex13.", "ex14.", "7.3.3.n", "7.3.3.rho_bound.", "T16.", "T17."),
        "reproduce/tests/chapter_7/test_golden_classifiers.py",
    ),
    "avgL2.krrquant.": "tests/planning/designs/test_average.py",
    "unb.LP.": "tests/planning/designs/test_unbiased.py",
    "strawman.": "tests/studies/trajectories/test_baselines.py",
    **dict.fromkeys(("D25.", "TraCS"), "tests/studies/trajectories/test_golden_trajectories.py"),
}
TESTED_ELSEWHERE |= {golden_id: wrong.test for golden_id, wrong in WRONG.items() if not wrong.keys}
"""Rows that have a test file of their own, by prefix; the file must exist and name the prefix."""


def is_untested(golden_id: str) -> bool:
    """Is the id listed above?"""
    return any(golden_id.startswith(prefix) for prefix in UNTESTED)


def is_tested_elsewhere(golden_id: str) -> bool:
    """Does another test file compute the id?"""
    return any(golden_id.startswith(prefix) for prefix in TESTED_ELSEWHERE)


def open_keys(golden_id: str) -> tuple[str, ...]:
    """The keys of a row that are not compared in test_golden.py."""
    partly = [keys for prefix, keys in PARTLY.items() if golden_id.startswith(prefix)]
    wrong = [row.keys for prefix, row in WRONG.items() if golden_id.startswith(prefix)]
    return tuple(key for keys in (*partly, *wrong) for key in keys)
