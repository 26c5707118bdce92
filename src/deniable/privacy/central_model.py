"""From every person's own promise to what a published total promises: local and central privacy of n people."""

from __future__ import annotations

import math
from dataclasses import dataclass

from deniable.core import hiding
from deniable.errors import InvalidParameter
from deniable.privacy.composition import group
from deniable.privacy.shuffling import shuffled_epsilon


@dataclass(frozen=True)
class Central:
    """What n people's reports promise, from the least trust to the most."""

    local: float
    """Everybody sees every report with its sender."""
    shuffled: float
    """Somebody removes the senders; (epsilon, delta)."""
    delta: float
    local_error: float
    """The standard error of a yes-share from the best local reports."""
    central_error: float
    """The same from a trusted collector who adds noise of the shuffled epsilon to the exact total."""
    trusted_people: float
    """With so few people a trusted collector's noise, at the local epsilon, would be as large as theirs is."""

    def words(self, people: int) -> list[str]:
        """Sentences a person can use."""
        return [
            (
                f"1 person who sends a report of epsilon {self.local:g}: that promise holds "
                if people == 1
                else f"{people:,} people who each send a report of epsilon {self.local:g}: that promise holds for each of them "
            )
            + "against everyone, and depends on nobody else.",
            "What is published about all of them together is at least as private: anything computed from the reports "
            f"is {self.local:g}-private in the central sense, too.",
            f"Without senders (shuffled) the reports are ({self.shuffled:.4g}, {self.delta:g})-private in the central sense, "
            "under the conditions that `deniable account shuffle` prints.",
            f"The price is accuracy: a share of all people has a standard error of {self.local_error:.4g}. A trusted collector "
            f"who adds noise to the exact share would have {self.central_error:.2g} at epsilon {self.shuffled:.4g}, "
            f"and needs {_people(round(self.trusted_people))} for {self.local_error:.4g} at epsilon {self.local:g}.",
        ]


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def central(epsilon: float, people: int, delta: float) -> Central:
    """The central promises of the reports of n people, each of this local epsilon.

    >>> compared = central(1.0, 10_000, 1e-6)
    >>> round(compared.shuffled, 4), round(compared.local_error, 5)
    (0.0432, 0.0096)
    """
    if not 0 < epsilon <= 20:
        raise InvalidParameter("epsilon must lie above 0 and be at most 20")
    shuffled = shuffled_epsilon(epsilon, people, delta)
    e = math.exp(epsilon)
    error = math.sqrt(e / people) / (e - 1)
    return Central(epsilon, shuffled, delta, error, geometric_error(shuffled) / people, geometric_error(epsilon) / error)


def geometric_error(epsilon: float) -> float:
    """The standard deviation of the geometric noise that makes a count epsilon-private in the central sense.

    >>> round(geometric_error(1.0), 4)
    1.357
    """
    return math.sqrt(2 * math.exp(-epsilon)) / -math.expm1(-epsilon) if epsilon > 0 else math.inf


def group_words(epsilon: str, size: int, delta: str = "0") -> list[str]:
    """What a group of people, or one person counted so often, is promised."""
    level, extra = group(epsilon, size, delta)
    who = "One person" if size == 1 else f"{size:,} people together, or one person who answers {size:,} times"
    whose = "" if size == 1 else " of the whole group"
    sentences = [
        f"{who}: epsilon {float(level):g}" + (f" with delta {extra:.4g}." if extra else "."),
        f"Odds between two answers{whose} change at most {math.exp(min(float(level), 700)):.4g} times.",
        f"That leaves {'the answer' if size == 1 else 'the answers of the group'} {hiding(level)}.",
    ]
    return sentences + (["A delta of 1 promises nothing."] if extra >= 1 else [])
