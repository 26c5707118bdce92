"""What a design returns: a mechanism, what it costs, and a bound that no mechanism can beat."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypedDict

from deniable._results import Result
from deniable.core import Mechanism
from deniable.planning.designs.asymptotic import Prediction


class Published(TypedDict):
    """The published mechanism for the same question."""

    name: str
    worst_case: float


@dataclass(frozen=True, repr=False)
class Answer(Result):
    """A mechanism with its certificate of quality.

    `worst_case` is the error of this very mechanism, from its integers (under a prior, its expected error);
    `lower_bound` holds for every epsilon-LDP mechanism; `gap` is their ratio. `certified` says whether the
    program was solved to the end; if it was not, bound and mechanism are still valid, the gap is larger.
    `predicted` is what the least error tends to as epsilon grows, where that is known: it proves nothing.
    """

    mechanism: Mechanism
    worst_case: float
    lower_bound: float
    published: Published
    seconds: float
    method: str
    objective: str
    certified: bool = True
    predicted: Prediction | None = None

    @property
    def gap(self) -> float:
        """worst_case / lower_bound: 1 is the best there is (infinite when the bound is 0)."""
        return self.worst_case / self.lower_bound if self.lower_bound > 0 else math.inf

    def __repr__(self) -> str:
        bound = f"bound {self.lower_bound:.6g}, gap {self.gap:.5g}"
        return (
            f"<Answer {self.mechanism.name} at epsilon {self.mechanism.privacy}: {self.objective} {self.worst_case:.6g}, {bound}>"
        )

    def _rows(self) -> list[dict[str, Any]]:
        published = self.published
        return [
            {"what": f"this mechanism ({self.mechanism.name})", self.objective: self.worst_case},
            {"what": "lower bound for every mechanism", self.objective: self.lower_bound},
            {"what": f"published ({published['name']})", self.objective: published["worst_case"]},
        ]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "mechanism": self.mechanism.name,
            "objective": self.objective,
            "worst_case": self.worst_case,
            "lower_bound": self.lower_bound,
            "gap": self.gap,
            "published": dict(self.published),
            "method": self.method,
            "certified": self.certified,
            "predicted": None if self.predicted is None else dict(self.predicted),
            "seconds": self.seconds,
            "recipe": self.mechanism.recipe(),
        }
