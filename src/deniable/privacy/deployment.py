"""What a survey's own document promises in the central sense: how many are mixed, by which channel, how often."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.core import show_fraction
from deniable.errors import DeniableError
from deniable.privacy.conditions import shuffling_conditions
from deniable.privacy.shuffling import shuffled_rounds
from deniable.surveys import Survey

USUAL_DELTA = 1e-6


@dataclass(frozen=True)
class ShuffledPromise:
    """One person's reports among those of at least `people`, in so many rounds."""

    local: str
    """The epsilon of one report against everyone, whoever works together."""
    people: int
    rounds: int
    epsilon: float
    delta: float
    conditions: list[str]

    @property
    def words(self) -> str:
        """The promise in one sentence."""
        times = "one report" if self.rounds == 1 else f"all {self.rounds:,} reports of a person together"
        return (
            f"Mixed with those of at least {self.people:,} people, {times} {'is' if self.rounds == 1 else 'are'} "
            f"({self.epsilon:.4g}, {self.delta:g})-private against the collector and everyone who sees its numbers, "
            f"instead of {self.local} for each report."
        )


def shuffled_promise(survey: Survey, delta: float = USUAL_DELTA) -> ShuffledPromise | None:
    """The central promise of a survey whose reports are shuffled; None where they are not, or where mixing adds nothing."""
    if survey.shuffle is None:
        return None
    people = survey.shuffle.reports
    rounds = 1 if survey.repeat == "once" else int(survey.lifetime // survey.mechanism.privacy.exact)
    try:
        epsilon = shuffled_rounds(survey.mechanism, people, delta, rounds)
    except DeniableError:
        return None
    if epsilon >= 0.99 * rounds * float(survey.mechanism.privacy):
        return None  # too few to hide among
    conditions = shuffling_conditions(people)[:2]
    conditions.append("The shuffler and the collector are run by different people, who do not work together.")
    if survey.admission is None:
        conditions.append(
            f"All {people:,} reports of a batch come from different people: nothing stops one person from sending several."
        )
    else:
        conditions.append(
            f"The issuer gives its tokens to real people, {survey.admission.tokens} to each; reports of people who work with the "
            "collector hide nobody and do not count."
        )
    if rounds > 1:
        conditions.append(f"A person sends at most one report in a batch, and {rounds:,} in all.")
    conditions.append(
        f"Where that does not hold, each report still has its own promise: {show_fraction(survey.mechanism.privacy.exact)}."
    )
    return ShuffledPromise(show_fraction(survey.mechanism.privacy.exact), people, rounds, epsilon, delta, conditions)
