"""Plans for reports that are shuffled: the local epsilon that a central target allows, beside no trust and full trust."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from deniable._results import Result
from deniable.core import Epsilon, Interval
from deniable.errors import InvalidParameter, NotSupported
from deniable.planning.candidate import Plan
from deniable.planning.choose import plan
from deniable.planning.question import Question
from deniable.privacy import geometric_error, shuffled_epsilon

STEP = Fraction(1, 1000)
MOST_LOCAL = Fraction(8)
TRIALS = 6
"""Plans that are made to see how much the mechanism's own bound allows beyond that of every mechanism."""


@dataclass(frozen=True, repr=False)
class ShuffledPlan(Result):
    """What the same central promise costs by how much is trusted: nobody, a shuffler, or the collector itself."""

    local: Plan
    """Every report has the central epsilon by itself."""
    shuffled: Plan
    """Every report has the local epsilon that was found; the shuffled ones keep the central promise."""
    epsilon: float
    """What the shuffled reports have, at most the target."""
    target: float
    delta: float
    central_error: float | None
    """A trusted collector's noise on the exact numbers; None where the best one is not known."""

    def __repr__(self) -> str:
        each, pick = float(self.shuffled.epsilon), self.shuffled.pick
        best = f"{pick.label} with error {pick.predicted_error:.4g}"
        return f"<ShuffledPlan central epsilon {self.target:g}: epsilon {each:.4g} each, {best}>"

    def _rows(self) -> list[dict[str, Any]]:
        own, mixed = self.local.pick, self.shuffled.pick
        return [
            {"trusted": "nobody", "epsilon_each": self.target, "mechanism": own.label, "error": own.predicted_error},
            {
                "trusted": "a shuffler",
                "epsilon_each": float(self.shuffled.epsilon),
                "mechanism": mixed.label,
                "error": mixed.predicted_error,
            },
            {"trusted": "the collector", "epsilon_each": None, "mechanism": "central noise", "error": self.central_error},
        ]

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "central_epsilon": self.target,
            "delta": self.delta,
            "users": self.shuffled.users,
            "local": {"epsilon": self.target, "mechanism": self.local.pick.label, "error": self.local.pick.predicted_error},
            "shuffled": {
                "epsilon_each": float(self.shuffled.epsilon),
                "epsilon": self.epsilon,
                "mechanism": self.shuffled.pick.label,
                "error": self.shuffled.pick.predicted_error,
            },
            "central": {"epsilon": self.target, "error": self.central_error},
        }


def plan_shuffled(question: Question, *, delta: float = 1e-6) -> ShuffledPlan:
    """The plan whose shuffled reports are (epsilon, delta)-private in the central sense, `question.epsilon` being that epsilon.

    >>> from deniable.core import Categories
    >>> planned = plan_shuffled(Question(task="frequency", domain=Categories(4), users=100_000, epsilon=0.5))
    >>> planned.epsilon <= 0.5 < float(planned.shuffled.epsilon)
    True
    """
    if question.epsilon is None or question.users is None:
        raise InvalidParameter("a shuffled plan needs users, and epsilon as the central target")
    if question.repeats != 1 or question.attributes != 1 or question.record is not None:
        raise NotSupported("a shuffled plan is for one question that is asked once")
    target, users = float(Epsilon(question.epsilon)), question.users
    level = _largest(lambda local: shuffled_epsilon(float(local), users, delta) <= target, Fraction(0), MOST_LOCAL)
    if level <= 0:
        raise NotSupported(f"{users:,} people are too few to hide among: epsilon must be larger, or more people answer")
    best = plan(replace(question, epsilon=level))
    low, high = level, min(level + 2, MOST_LOCAL)
    for _ in range(TRIALS):
        middle = Fraction(round((low + high) / 2 / STEP)) * STEP
        if not low < middle < high:
            break
        tried = plan(replace(question, epsilon=middle))
        if _epsilon(tried, users, delta) <= target:
            low, best = middle, tried
        else:
            high = middle
    return ShuffledPlan(
        local=plan(replace(question, target_error=None, half_width=None)),
        shuffled=best,
        epsilon=_epsilon(best, users, delta),
        target=target,
        delta=delta,
        central_error=_central_error(question, target, users),
    )


def _epsilon(planned: Plan, users: int, delta: float) -> float:
    recipes = planned.pick.recipes
    of = recipes[0] if len(recipes) == 1 else float(planned.epsilon)
    return min(shuffled_epsilon(of, users, delta), shuffled_epsilon(float(planned.epsilon), users, delta))


def _largest(allowed: Any, low: Fraction, high: Fraction) -> Fraction:
    while high - low > STEP:
        middle = Fraction(round((low + high) / 2 / STEP)) * STEP
        if not low < middle < high:
            break
        if allowed(middle):
            low = middle
        else:
            high = middle
    return low


def _central_error(question: Question, epsilon: float, users: int) -> float | None:
    if question.task == "frequency":
        return geometric_error(epsilon / 2) / users  # one person in another category changes two counts by 1
    if question.task == "mean" and isinstance(question.domain, Interval):
        return float(question.domain.high - question.domain.low) * 2**0.5 / (epsilon * users)
    return None
