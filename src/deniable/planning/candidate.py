"""What a plan is made of: candidates with their promises and their costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from deniable._results import Result, counted
from deniable.core import (
    Epsilon,
    Interval,
    Mechanism,
    built_in_names,
    output_bits,
)
from deniable.estimators import TOO_WIDE, WISHED, HaarHistogram, HierarchicalHistogram
from deniable.planning.bounds import Bound, NoBound
from deniable.planning.question import Question
from deniable.planning.way import LeftOut, Prediction, Simulated, Way, fakes
from deniable.privacy import Gain


@dataclass(frozen=True, repr=False)
class Candidate:
    """One way to ask, for this many users."""

    way: Way
    users: int
    prediction: Prediction

    def __repr__(self) -> str:
        return f"<Candidate {self.label}: error {self.predicted_error:.4g} with {counted(self.users, 'user')}>"

    @property
    def mechanism(self) -> str:
        """Its registered name (or that of the protocol)."""
        return self.way.name

    @property
    def label(self) -> str:
        """The name, with what is inside."""
        return self.way.label

    @property
    def predicted_error(self) -> float:
        """In the units that `Plan.error_means` names."""
        return self.prediction.error

    @property
    def interval_half_width(self) -> float | None:
        """Half of the 95 % interval."""
        return self.prediction.half_width

    @cached_property
    def recipes(self) -> tuple[Mechanism, ...]:
        """The mechanisms that people run: one, or one of these."""
        asked = self.way.asked
        return asked.mechanisms if isinstance(asked, HierarchicalHistogram | HaarHistogram) else (asked,)

    @cached_property
    def bytes_per_report(self) -> int:
        """Of the output itself. A report sent alone has 19 bytes more: format, version and fingerprint."""
        return max(-(-output_bits(recipe.channel) // 8) for recipe in self.recipes)

    @cached_property
    def client_operations(self) -> int:
        """How many random numbers a device draws for one report."""
        return max(recipe.channel.draws for recipe in self.recipes)

    @cached_property
    def server_operations(self) -> int:
        """How many counters one report may touch: hashes and bits are looked at for every value."""
        return max(recipe.channel.counters for recipe in self.recipes)

    @cached_property
    def attack(self) -> Gain | None:
        """How far fake users, 1 % of all, can push what is estimated; None where every report stands for itself."""
        return self.way.gain(self.users)

    @property
    def poisoning(self) -> float | None:
        """The largest gain of the `attack`, as a number."""
        return None if self.attack is None else self.attack.gain

    @cached_property
    def holds(self) -> bool:
        """Does every mechanism's certificate hold?"""
        return all(recipe.certificate().holds for recipe in self.recipes)

    def simulated(self, runs: int) -> Simulated:
        """The error measured by trying it out."""
        return self.way.simulated(self.users, runs)

    def value(self, question: Question) -> float:
        """What is compared with the target."""
        if question.half_width is None:
            return self.predicted_error
        return float("inf") if self.interval_half_width is None else self.interval_half_width

    def _poisoning(self) -> dict[str, Any]:
        count = fakes(self.users)
        if self.attack is None:
            return {"fakes": count, "largest_gain": None, "of": "nothing: every report stands for itself", "exact": True}
        return {"fakes": count, "largest_gain": self.attack.gain, "of": self.attack.what, "exact": self.attack.exact}

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        first = self.recipes[-1]
        return {
            "mechanism": self.mechanism,
            "inside": self.way.inner,
            "predicted_error": self.predicted_error,
            "interval_half_width": self.interval_half_width,
            "bytes_per_report": self.bytes_per_report,
            "client_draws": self.client_operations,
            "server_counters_touched": self.server_operations,
            "poisoning": self._poisoning(),
            "epsilon_per_report": float(first.privacy),
            "certificate": {"holds": self.holds, "inequality": first.certificate().inequality},
            "proof": f"proofs/{first.name}.md" if first.name in built_in_names() else None,
            "estimator": self.way.estimator,
            **({"in_survey": self.way.in_survey} if self.way.in_survey else {}),
            **({"promise": self.way.promise} if self.way.promise else {}),
            **dict(self.prediction.more),
            "recipe": first.recipe() if len(self.recipes) == 1 else [recipe.recipe() for recipe in self.recipes],
        }


@dataclass(frozen=True, repr=False)
class Plan(Result):
    """Candidates, best first, for a question whose `epsilon` and `users` are now known."""

    question: Question
    epsilon: Epsilon
    users: int
    candidates: tuple[Candidate, ...]
    left_out: tuple[LeftOut, ...]
    why: str
    found: str | None = None
    """'epsilon' or 'users', when that was the question."""
    met: bool | None = None
    """Does the pick meet the target? None without one."""
    bound: Bound | NoBound | None = None
    """What no mechanism can beat, or that nothing is known; None when it was not worked out."""

    @property
    def pick(self) -> Candidate:
        """The one with the least predicted error."""
        return self.candidates[0]

    @property
    def lean(self) -> Candidate:
        """The one with the smallest reports among those within 5 % of the pick's error."""
        near = [one for one in self.candidates if one.predicted_error <= 1.05 * self.pick.predicted_error]
        return min(near, key=lambda one: (one.bytes_per_report, one.server_operations, one.predicted_error))

    @cached_property
    def users_needed(self) -> int | None:
        """About how many users would do, where these are so few that the answer would say nothing; None where they are enough.

        Few are those whose predicted 95 % interval reaches a quarter of all that is possible to either side; a tenth would do.
        For words and tests it is the predicted error itself. A single report's error does not depend on the number of users.

        >>> from deniable.core import Categories
        >>> from deniable.planning import plan
        >>> few, many = (plan(Question(task="frequency", domain=Categories(4), users=n, epsilon=1)) for n in (1, 5000))
        >>> few.users_needed, many.users_needed
        (730, None)
        """
        if self.question.task == "location" or self._part(self.users) <= TOO_WIDE:
            return None
        low, high = self.users, 2 * self.users
        while self._part(high) > WISHED:
            if high > MOST_USERS:
                return None
            low, high = high, 2 * high
        while high - low > max(1, low // 100):
            middle = (low + high) // 2
            low, high = (middle, high) if self._part(middle) > WISHED else (low, middle)
        unit: int = 10 ** max(len(str(high)) - 2, 0)
        return -(-high // unit) * unit

    def _part(self, users: int) -> float:
        """How much of what is possible the pick's interval covers to either side."""
        prediction = self.pick.prediction if users == self.users else self.pick.way.predict(users)
        wide = prediction.error if prediction.half_width is None else prediction.half_width
        return wide / self._span

    @property
    def _span(self) -> float:
        """What an estimate can span: everything for shares and probabilities, the domain for numbers."""
        question = self.question
        if question.record is not None or not isinstance(question.domain, Interval):
            return 1.0
        in_units = question.task in ("mean", "quantile") or (question.task == "distribution" and question.metric == "wasserstein")
        return float(question.domain.width) if in_units else 1.0

    @property
    def warning(self) -> str | None:
        """A sentence for plans with too few users; None where they are enough."""
        needed = self.users_needed
        if needed is None:
            return None
        who = "1 user is" if self.users == 1 else f"{self.users:,} users are"
        if self.pick.interval_half_width is None:
            reach = f"an error of {self.pick.predicted_error:.2g} says next to nothing"
        else:
            reach = f"a 95 % interval of ± {self.pick.interval_half_width:.2g} covers most of what is possible"
        return f"{who} too few for this question: {reach}. About {needed:,} would be enough."

    @property
    def error_means(self) -> str:
        """What `predicted_error` is, in words."""
        if self.question.task == "distribution" and self.question.metric == "wasserstein":
            return DISTANCE
        return MEANINGS[self.question.task]

    def __repr__(self) -> str:
        question, pick = self.question, self.pick
        asked = f"{question.task} on {question.domain!r}, {counted(self.users, 'user')}, epsilon {float(self.epsilon):.6g}"
        return f"<Plan {asked}: {pick.label} with error {pick.predicted_error:.4g}, the best of {len(self.candidates)}>"

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {
                "mechanism": one.label,
                "predicted_error": one.predicted_error,
                "half_width": one.interval_half_width,
                "bytes_per_report": one.bytes_per_report,
                "draws": one.client_operations,
                "counters": one.server_operations,
                "gain_of_1_percent_malicious": one.poisoning,
                "holds": one.holds,
            }
            for one in self.candidates
        ]

    def _caption(self) -> str:
        return f"{self.why} Error: {self.error_means}{'' if self.warning is None else '. ' + self.warning}"

    def _bound(self) -> dict[str, Any]:
        if self.bound is None:
            return {"error": None, "half_width": None, "why": NOT_ASKED}
        if isinstance(self.bound, NoBound):
            return {"error": None, "half_width": None, "why": self.bound.words}
        return {"error": self.bound.error, "half_width": self.bound.half_width, "why": self.bound.why}

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        question = self.question
        return {
            "task": question.task,
            "domain": question.domain.recipe(),
            "users": self.users,
            "epsilon": float(self.epsilon),
            "epsilon_exact": str(self.epsilon.exact),
            "attributes": question.attributes,
            "repeats": question.repeats,
            "data": question.data,
            "error_means": self.error_means,
            "found": self.found,
            "target_met": self.met,
            "too_few": self.users_needed is not None,
            "users_needed": self.users_needed,
            "lower_bound": self._bound(),
            "candidates": [one.to_dict() for one in self.candidates],
            "pick": self.pick.mechanism,
            "pick_inside": self.pick.way.inner,
            "lean": self.lean.mechanism,
            "why": self.why,
            "left_out": [one._asdict() for one in self.left_out],
        }


MOST_USERS = 10**12
NOT_ASKED = "Not worked out: it takes a linear program, and is asked for when a target is given that no candidate meets."
DISTANCE = "expected Wasserstein-1 distance of the distribution, averaged over three simulated populations"
MEANINGS: Mapping[str, str] = {
    "frequency": "root mean squared error of a share, averaged over all values (with worst data: of the noisiest share)",
    "mean": "root mean squared error of the mean; with several attributes, in widths of their domains",
    "distribution": "mean half-width of the 95 % intervals of the bins' shares, for people spread evenly",
    "quantile": "root mean squared error of the quantile, for people spread evenly over the domain",
    "heavy-hitters": "the smallest share of a word that is found with probability 95 %",
    "location": "average distance between the true and the reported place, of one report",
    "vector": "root mean squared distance between the estimated and the true mean, for vectors of full length",
    "workload": "root mean squared error of an answer, averaged over all questions, for people spread evenly",
    "items": "root mean squared error of the share of an item, for people with one item each, spread evenly",
    "key-values": "standard error of the mean of a key that one person in ten has, for values in the middle of their interval",
    "key-distributions": "root mean squared error of the share of a number, for a key that one person in ten has and even numbers",
    "trend": "root mean squared error of a share in one period, averaged over all values, for people spread evenly",
    "test": "probability of a wrong decision, averaged over both hypotheses",
}
