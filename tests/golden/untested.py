"""The golden values that no test computes yet, in one place, with the reason.

A prefix covers every id that begins with it. `PARTLY` names keys of a tested row that are still open.
"""

from __future__ import annotations

UNTESTED: dict[str, str] = {
    # Designs by linear programming.
    "kairouz.A.thresholds": "its first number is where the golden program's own tolerance ends: with P0 = P1 on one "
    "category the published binary mechanism is never best, and two blocks are best up to 1.583",
    "thm10.best_p_same_domain.": "the best window on another mechanism's range; the best mechanism of all is designed instead",
    "asym.": "constants for epsilon without end; designs are certified up to epsilon 8 or so",
    # Classifiers and PAC privacy.
    "ex11.": "classifier robustness does not exist yet",
    "ex13.": "classifier robustness does not exist yet",
    "ex14.": "classifier robustness does not exist yet",
    "7.3.3.n": "sample sizes for classifier utility do not exist yet",
    "7.3.3.rho_bound.": "bounds on classifier utility do not exist yet",
    "T16.": "composition of PAC privacy does not exist yet",
    "T17.": "PAC privacy of the indicator does not exist yet",
    # Trajectories.
    "D25.": "distance to the border along a direction does not exist yet",
    "TraCS": "trajectory mechanisms do not exist yet",
    "strawman.": "trajectory baselines do not exist yet",
    # Statements about what is printed: there is nothing of ours to compute.
    "tab6.2.": "a ratio of printed running times",
    "tab7.2.": "a ratio of printed running times",
    "7.5.log": "a logarithm in the text",
    "E12.": "a constant in a proof",
    "blap.mass.": "the mass of a printed density that is not one; bounded-laplace has the right normaliser",
    "lec.freq.eps_actual.": "the real level of a printed rule that sign-bits replaces",
}

PARTLY: dict[str, tuple[str, ...]] = {
    "kairouz.": ("support",),
    "circ.LP.": ("lp", "two_level"),
    "LP.minimax.": ("lp", "ogpm_over_lp"),
    "LP.avg.": ("lp", "best_constant_band"),
    "atoms.L1.": ("worst_U",),
    "atoms.L2.": ("w", "G", "worst_U"),
}
"""Keys whose values come from linear programs or from details of a design that the mechanism does not share; those called
`lp` are computed in tests/design.

The sets of an extremal mechanism may tie: tests/design/test_extremal.py checks that the listed ones are as good."""

TESTED_ELSEWHERE: dict[str, str] = dict.fromkeys(
    ("JRR.", "JRRc.", "T3.", "kary.", "ex2.", "ex3.", "tab4.3.", "4."), "tests/joint/test_golden_joint.py"
) | {
    "2PC.": "tests/secure/test_thresholds.py",
    "avgL2.krrquant.": "tests/design/test_interval.py",
    "unb.LP.": "tests/design/test_unbiased.py",
}
"""Rows that have a test file of their own, by prefix; the file must exist and name the prefix."""


def is_untested(golden_id: str) -> bool:
    """Is the id listed above?"""
    return any(golden_id.startswith(prefix) for prefix in UNTESTED)


def is_tested_elsewhere(golden_id: str) -> bool:
    """Does another test file compute the id?"""
    return any(golden_id.startswith(prefix) for prefix in TESTED_ELSEWHERE)


def open_keys(golden_id: str) -> tuple[str, ...]:
    """The keys of a row that are not computed yet."""
    return next((keys for prefix, keys in PARTLY.items() if golden_id.startswith(prefix)), ())
