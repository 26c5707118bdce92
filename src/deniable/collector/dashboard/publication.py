"""What is published of a survey and when, and what a crowd adds for somebody who sees only that."""

from __future__ import annotations

from functools import lru_cache

from deniable import privacy
from deniable.core import show_fraction
from deniable.errors import DeniableError, MissingPackage
from deniable.surveys import Steps, Survey

DELTA = 1e-6
MOST_PEOPLE = 100_000
"""A larger crowd hides no less; a number for so many is worked out at once."""


def publication_of(survey: Survey, *, needs_token: bool) -> list[str]:
    """When numbers move, who sees more, who can still single out a report, and what the crowd of a step is worth."""
    if not isinstance(survey.release, Steps):
        return [
            survey.release_words,
            "Each report is private on its own at the level above, even if it is singled out. The survey's author chose this; "
            "nothing is claimed for being one of many.",
        ]
    others = survey.release.reports - 1
    return [
        survey.release_words,
        "Nothing that everyone can see moves between two steps: no estimate, no count, no window. The operator of this collector "
        "sees every report when it comes.",
        f"Whoever sends {others:,} reports of their own into a step with one of yours can still work out yours, by subtraction. "
        + _admission(needs_token=needs_token),
        _crowd(survey, survey.release, needs_token=needs_token),
    ]


def _admission(*, needs_token: bool) -> str:
    if needs_token:
        return "This collector takes reports only with a token, so only bearers of tokens can try that."
    return "This collector takes reports from everyone, so everyone can try that; tokens for submissions would prevent it."


def _crowd(survey: Survey, release: Steps, *, needs_token: bool) -> str:
    """The number for shuffled reports, where its conditions are met; otherwise which are not."""
    missing = []
    if survey.repeat != "once":
        missing.append("people answer more than once")
    if not needs_token:
        missing.append("everyone can send reports of their own")
    if missing:
        return f"No smaller epsilon is claimed for being one of many in a step: {' and '.join(missing)}."
    level = float(survey.mechanism.privacy)
    try:
        among_many = _shuffled(level, min(release.reports, MOST_PEOPLE))
    except MissingPackage as lacking:
        return f"No smaller epsilon is worked out for being one of many in a step: {lacking}."
    if among_many >= 0.99 * level:
        return f"Steps of {release.reports:,} reports are too small to claim a smaller epsilon for being one of many."
    return (
        f"Against anyone who sees only what is published, and sent none of the other reports of the step, one report among "
        f"{release.reports:,} is ({among_many:.3g}, {DELTA:g})-private instead of {show_fraction(survey.mechanism.privacy.exact)}. "
        "This needs people who answer once and independently of each other. It is not a promise against the operator."
    )


@lru_cache(maxsize=64)
def _shuffled(level: float, people: int) -> float:
    try:
        return privacy.shuffled_epsilon(level, people, DELTA)
    except MissingPackage:
        raise
    except DeniableError:  # no crowd helps against such a level
        return level
