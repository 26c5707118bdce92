"""What one joint answer costs, against whom, and whether the person's own ledger allows it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from deniable.core import Epsilon, hiding, log_float, meaning, show_fraction
from deniable.errors import BudgetSpent
from deniable.studies.joint.accounting import account
from deniable.studies.joint.protocol.survey import JointSurvey
from deniable.surveys import Ledger

EXPERIMENTAL = (
    "Experimental: the two-party protocol trusts both sides to follow it. A partner whose program cheats can fix your coin "
    "and so read your answer, whatever the numbers above say."
)
FINENESS = 1000
"""Costs are rounded up to thousandths."""


@dataclass(frozen=True)
class JointPrivacy:
    """The three levels of one answer. Read them together; infinite where there is no bound."""

    users: int
    colluders: int
    marginal: float
    """Against whoever sees the report."""
    secret_pairing: float
    """Against the colluders, as long as they do not know who is paired with whom."""
    known_pairing: float
    """Against a partner who shares their indicator. The pairing of this protocol is public, so this is the one that counts."""

    def words(self) -> list[str]:
        """One line for each level, what the last one leaves of deniability, and what everything rests on."""
        many = f"{self.colluders} of {self.users} users who pool what they know, if the pairing were secret"
        lines = [
            f"epsilon {_shown(self.marginal)} against anyone who sees your report",
            f"epsilon {_shown(self.secret_pairing)} against {many}",
            f"epsilon {_shown(self.known_pairing)} against a partner who shares their indicator; the pairing is public",
        ]
        outright = "; the partner can learn it outright" if math.isinf(self.known_pairing) else ""
        return [*lines, f"Against such a partner your answer is {hiding(round(self.known_pairing, 6))}{outright}.", EXPERIMENTAL]


def joint_privacy(survey: JointSurvey, *, colluders: int = 1, users: int | None = None) -> JointPrivacy:
    """The three levels of an answer; `users` says how many are expected when the survey does not name them yet."""
    n = max(len(survey.users), 2) if users is None else users
    numbers = account(survey.thresholds.table, n, colluders, leftover=True)
    return JointPrivacy(n, colluders, numbers.epsilon_marginal, numbers.epsilon_secret_pairing, numbers.epsilon_known_pairing)


def answer_cost(survey: JointSurvey, *, alone: bool = False, trust_partner: bool = False) -> Fraction | None:
    """What an answer costs, rounded up; None when there is no bound.

    The level against the partner, since the pairing is public. Against strangers only when there is no partner, or when the
    person trusts the partner not to share their indicator.
    """
    law = survey.thresholds
    ratio = law.marginal_ratio if alone or trust_partner else law.known_pairing_ratio
    return None if ratio is None else _level(max(ratio, law.marginal_ratio))


def spend(survey: JointSurvey, ledger: Ledger, *, alone: bool = False, trust_partner: bool = False) -> Fraction:
    """Write the cost of this round's answer into the ledger before anything is drawn; refused when it is too much.

    A second answer in the same round is refused as well.
    """
    cost = answer_cost(survey, alone=alone, trust_partner=trust_partner)
    if cost is None:
        raise BudgetSpent(
            "there is no bound against the partner, who can learn your answer outright. Take another survey or, if you trust "
            "the partner not to share the indicator, say so: trust_partner (--trust-partner)"
        )
    if cost > ledger.limit:
        raise BudgetSpent(
            f"this answer costs epsilon={float(cost):g}, more than your limit {show_fraction(ledger.limit)}. "
            f"{meaning(float(cost))} If you accept that, raise the limit in your own code or command"
        )
    ledger.spend(f"joint {survey.context.hex()}", "", epsilon=cost, budget=cost)
    return cost


def _level(ratio: Fraction) -> Fraction:
    """ln(ratio), rounded up; checked exactly."""
    steps = max(1, math.ceil(log_float(ratio) * FINENESS) - 1)
    while not Epsilon(Fraction(steps, FINENESS), allow_large=True).allows(ratio):
        steps += 1
    return Fraction(steps, FINENESS)


def _shown(level: float) -> str:
    return "without bound" if math.isinf(level) else f"{level:.4f}"
