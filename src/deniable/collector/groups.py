"""Groups that answer the same questions, each in a survey of its own: where do they differ?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable import estimators
from deniable.batch import Accumulator, field_sums
from deniable.collector.changing import COMPARED
from deniable.collector.estimates import LEVEL, shares_of, target_of
from deniable.collector.messages import GroupedAttribute, GroupLine, GroupRow, Groups
from deniable.collector.repeating import without_repetition
from deniable.collector.steps import Published
from deniable.core import Binary, Categories, Interval, Mechanism
from deniable.errors import DeniableError
from deniable.surveys import Survey

MOST_ROWS = 24
"""Answers that are listed, the most frequent ones; the intervals allow for all of them."""
NOTHING = "Groups are compared by shares, means and medians; this question has none of them."


def compared(survey: Survey, groups: Mapping[str, tuple[Survey, Published]]) -> Groups:
    """All questions of a survey, group by group; `groups` are the surveys of a family, which ask the same."""
    lines = [GroupLine(name, one.hash, shown.whole.n, shown.waiting) for name, (one, shown) in groups.items()]
    public = {name: without_repetition(one, shown).whole for name, (one, shown) in groups.items() if shown.whole.n}
    questions = {attribute.name: attribute.question for attribute in survey.attributes}
    if survey.changes is not None and lines:
        domains = {name: repr(part.domain) for name, part in survey.parts.items()}
        notes = [GroupedAttribute(name, asked, domains[name], "", [], COMPARED) for name, asked in questions.items()]
        return Groups(survey.hash, LEVEL, lines, notes)
    attributes = [_attribute(survey.parts[name], name, question, public) for name, question in questions.items()] if lines else []
    return Groups(survey.hash, LEVEL, lines, attributes)


def _attribute(part: Mechanism, name: str, question: str, public: Mapping[str, Accumulator]) -> GroupedAttribute:
    answered = {group: whole for group, whole in public.items() if field_sums(whole, name).n}
    kind = _kind(part)
    attribute = GroupedAttribute(name, question, repr(part.domain), kind, [])
    if not kind:
        attribute.note = NOTHING
    elif len(answered) < 2:
        attribute.what, attribute.note = "", "Fewer than two groups have numbers yet."
    else:
        try:
            attribute.rows = _rows(kind, name, answered)
        except DeniableError as error:
            attribute.what, attribute.note = "", str(error)
    return attribute


def _kind(part: Mechanism) -> str:
    if isinstance(part.domain, Binary | Categories):
        return "frequency"
    if isinstance(part.domain, Interval):
        return "mean" if estimators.debiasing(part) is not None else "median"
    return ""


def _rows(kind: str, name: str, answered: Mapping[str, Accumulator]) -> list[GroupRow]:
    estimates = {group: _estimate(kind, whole, name) for group, whole in answered.items()}
    first = next(iter(estimates.values()))
    labels = [str(label) for label in first.labels or ()] if kind == "frequency" else [kind]
    # Bonferroni: however the groups are compared afterwards, all intervals of the question hold together at this level.
    level = 1 - (1 - LEVEL) / (len(labels) * len(estimates))
    columns = {group: _column(estimate, level) for group, estimate in estimates.items()}
    most = [max(rows[place][0] for rows in columns.values()) for place in range(len(labels))]
    shown = sorted(sorted(range(len(labels)), key=lambda place: -most[place])[:MOST_ROWS])
    return [GroupRow(group, labels[place], *columns[group][place]) for place in shown for group in columns]


def _column(estimate: Any, level: float) -> list[tuple[float, float, float]]:
    low, high = estimate.interval(level)
    return list(zip(*(values.reshape(-1).tolist() for values in (estimate.value, low, high)), strict=True))


def _estimate(kind: str, whole: Accumulator, name: str) -> Any:
    part = field_sums(whole, name)
    target = target_of(part, whole)
    if kind == "frequency":
        return shares_of(part, whole, name, target)
    return estimators.mean(part, target=target) if kind == "mean" else estimators.quantiles(part, (0.5,), target=target)
