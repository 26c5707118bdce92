"""Rows as sentences that say what is promised, under which conditions, and how sure one is."""

from __future__ import annotations

import math

from deniable.studies.classifiers.applications import Best, SmallestEpsilon
from deniable.studies.classifiers.report import UtilityReport, UtilityRow

DECIMALS = 4


def floored(rho: float) -> str:
    """A lower bound in digits: never rounded up.

    >>> floored(0.87999999)
    '0.8799'
    """
    return f"{math.floor(rho * 10**DECIMALS + 1e-9) / 10**DECIMALS:.{DECIMALS}f}"


KEPT = {"answer": "the model keeps the answer it gives without noise", "truth": "the model gives the true label"}


def statement(row: UtilityRow, report: UtilityReport) -> str:
    """One row in words."""
    who = "at this record" if report.records == 1 else f"on average over these {report.records} records"
    kept = KEPT.get(report.target, f"the model predicts a number {report.target}")
    sure = "" if row.proved else f"with {100 * report.confidence:g} % confidence, "
    opening = f"{sure}{who}, with probability at least {floored(row.lower)} {kept}"
    features = _listed(report.features)
    delta = f" and delta = {row.delta:g}" if row.delta else ""
    noise = f"when {features} {'is' if len(report.features) == 1 else 'are'} reported by {row.mechanism}"
    many = len(report.features) > 1 and row.epsilon_total != row.epsilon
    level = f"epsilon = {row.epsilon:g}{f' each, {row.epsilon_total:g} in all' if many else ''}{delta}"
    sentence = f"{opening} {noise} with {level}."
    return sentence[0].upper() + sentence[1:]


def worst_statement(row: UtilityRow, report: UtilityReport) -> str:
    """The worst of several records in words."""
    if row.worst is None or row.worst_low is None:
        return ""
    sure = "" if row.kind != "estimate" else f" ({100 * report.confidence:g} % confidence for all of them together)"
    return f"For every one of the {report.records} records that probability is at least {floored(row.worst_low)}{sure}."


def best_statement(best: Best) -> str:
    """The winner in words."""
    row = best.row
    if best.certain:
        return f"At epsilon = {row.epsilon:g}, {row.mechanism} is the best of these mechanisms."
    rivals = (
        f" Indistinguishable from it here: {', '.join(best.rivals)}."
        if best.rivals
        else " The intervals hold one by one, not together; ask for joint ones."
    )
    return f"At epsilon = {row.epsilon:g}, {row.mechanism} looks best.{rivals}"


def target_statement(smallest: SmallestEpsilon, mechanism: str, target: float) -> str:
    """The least epsilon in words."""
    if smallest.epsilon is None or smallest.row is None:
        reached = (
            ""
            if smallest.below is None
            else f"; at epsilon = {smallest.below.epsilon:g} it is at least {floored(smallest.below.lower)}"
        )
        return f"{mechanism}: no epsilon of the range reaches {target:g}{reached}."
    sure = "" if smallest.row.proved and smallest.row.kind != "estimate" else f", with {100 * smallest.confidence:g} % confidence"
    below = "" if smallest.below is None else f"; {smallest.below.epsilon:.4g} could not be shown to be enough"
    return f"{mechanism}: epsilon = {smallest.epsilon:.4g} per feature is enough for {target:g}{sure}{below}."


def _listed(names: tuple[str, ...]) -> str:
    if len(names) > 6:
        return f"{', '.join(names[:3])} and {len(names) - 3} more features"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
