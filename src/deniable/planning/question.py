"""What is to be learned, from how many people, and at what price."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from deniable.core import (
    Ball,
    Binary,
    Categories,
    Circle,
    Disc,
    Domain,
    Epsilon,
    EpsilonLike,
    Interval,
    ItemSet,
    KeyValue,
    Points,
    Record,
    Rectangle,
    Text,
    Whole,
)
from deniable.errors import InvalidParameter, NotSupported

Task = Literal[
    "frequency",
    "mean",
    "distribution",
    "quantile",
    "heavy-hitters",
    "location",
    "vector",
    "items",
    "key-values",
    "key-distributions",
    "test",
    "workload",
    "trend",
]
Data = Literal["even", "worst"]
Metric = Literal["half-width", "wasserstein"]

TASKS: tuple[str, ...] = get_args(Task)
DOMAINS: dict[str, tuple[type[Domain], ...]] = {
    "frequency": (Binary, Categories, Record),
    "mean": (Interval, Record),
    "distribution": (Interval, Circle),
    "quantile": (Interval,),
    "heavy-hitters": (Text, Whole),
    "location": (Rectangle, Disc, Points),
    "vector": (Ball,),
    "test": (Categories,),
    "workload": (Categories, Record),
    "items": (ItemSet,),
    "key-values": (KeyValue,),
    "key-distributions": (KeyValue,),
    "trend": (Binary, Categories),
}
SEVERAL = ("frequency", "mean")
MOST_BINS = 256
MOST_ATTRIBUTES = 64


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question to the planner. Of `users`, `epsilon` and a target, two are given; the third is found.

    The target is `target_error` or `half_width` (of the 95 % interval); with all three given, the plan says whether
    the target is met. `epsilon` is for everything one person sends: all attributes, all repeats.
    `repeats` is how often everyone is asked. A value that may be `changing` needs a fresh answer every time; one that
    is not is answered once, remembered, and sent again.
    `data` says for whose values errors are predicted: people spread `even`ly over the domain, or the `worst` case.

    >>> Question(task="frequency", domain=Categories(1000), users=100_000, epsilon=1).aim is None
    True
    """

    task: Task
    domain: Domain
    users: int | None = None
    epsilon: EpsilonLike | None = None
    target_error: float | None = None
    half_width: float | None = None
    max_bytes: int | None = None
    attributes: int = 1
    repeats: int = 1
    changing: bool = True
    data: Data = "even"
    bins: int = 16
    metric: Metric = "half-width"
    """What the error of a distribution is: half of its bins' 95 % intervals, or how far it is from the true one."""
    level: float = 0.5
    words: int = 10
    hypotheses: tuple[Sequence[str], Sequence[str]] | None = None
    workload: str | None = None
    """For the task workload: prefix, ranges, histogram, marginals:K or a .csv file."""
    periods: int = 1
    """For the task trend: how many periods there are; epsilon is for all of them."""
    changes: int | None = None
    """For the task trend: how often a value changes at the most; None: in every period."""
    window: int | None = None
    """For the task trend: epsilon is for any so many periods in a row, not for all of them."""
    untrackable: bool = False
    """For the task trend: only ways whose reports cannot be linked by what they say."""

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise InvalidParameter(f"task must be one of {', '.join(TASKS)}")
        if not isinstance(self.domain, DOMAINS[self.task]):
            wanted = " or ".join(kind.__name__ for kind in DOMAINS[self.task])
            raise InvalidParameter(f"the task {self.task} needs the domain {wanted}, got {type(self.domain).__name__}")
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", Epsilon(self.epsilon))
        for name, least, most in (
            ("users", 1, 10**12),
            ("max_bytes", 1, 10**9),
            ("attributes", 1, MOST_ATTRIBUTES),
            ("repeats", 1, 10**6),
            ("bins", 2, MOST_BINS),
            ("words", 1, 4096),
            ("periods", 1, 10**5),
            ("changes", 0, 10**5),
            ("window", 1, self.periods),
        ):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most):
                raise InvalidParameter(f"{name} must be a whole number from {least} to {most}")
        for name in ("target_error", "half_width"):
            value = getattr(self, name)
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int | float | Fraction) or not 0 < value < math.inf
            ):
                raise InvalidParameter(f"{name} must be a positive number, in the units of what is estimated")
        self._check_together()

    def _check_together(self) -> None:
        if self.target_error is not None and self.half_width is not None:
            raise InvalidParameter("give target_error or half_width, not both: one follows from the other")
        given = (self.users is not None) + (self.epsilon is not None) + (self.aim is not None)
        if given < 2:
            raise InvalidParameter("give two of users, epsilon and a target (target error or half-width); the third is computed")
        if self.data not in get_args(Data):
            raise InvalidParameter("data must be 'even' or 'worst'")
        if self.metric not in get_args(Metric):
            raise InvalidParameter("metric must be 'half-width' or 'wasserstein'")
        if self.metric == "wasserstein" and (self.task != "distribution" or isinstance(self.domain, Circle)):
            raise NotSupported("the Wasserstein distance is for the task distribution on an interval")
        if self.data == "worst" and self.task not in SEVERAL:
            raise NotSupported(f"the worst data are planned for {' and '.join(SEVERAL)} only; use data='even'")
        if not 0 < self.level < 1:
            raise InvalidParameter("level must lie between 0 and 1, both excluded: 0.5 is the median")
        tables = self.task == "workload" and str(self.workload).startswith("marginals:")
        if (self.attributes > 1 or isinstance(self.domain, Record)) and self.task not in SEVERAL and not tables:
            raise NotSupported(
                f"several attributes are planned for {' and '.join(SEVERAL)} and the workload marginals:K; plan each on its own"
            )
        if isinstance(self.domain, Record):
            kinds = (Interval,) if self.task == "mean" else (Binary, Categories)
            if self.attributes > 1 or not all(isinstance(field, kinds) for field in self.domain.fields.values()):
                wanted = " or ".join(kind.__name__ for kind in kinds)
                raise NotSupported(f"a record is planned as it is, with fields that are {wanted}")
        if self.half_width is not None and self.task == "test":
            raise NotSupported("a test has no interval; give target_error, the probability of a wrong decision")
        if (self.task == "workload") != (self.workload is not None):
            raise InvalidParameter("the task workload, and no other, needs a workload: prefix, ranges, marginals:K or a .csv file")
        if (self.task == "trend") != (self.periods > 1):
            raise InvalidParameter("the task trend, and no other, needs periods: how many there are, at least 2")
        if self.task != "trend" and (self.changes is not None or self.window is not None or self.untrackable):
            raise InvalidParameter("changes, window and untrackable belong to the task trend")
        if self.task == "test" and self.hypotheses is None:
            raise InvalidParameter("the task test needs hypotheses: the shares of the values under P0 and under P1")

    @property
    def aim(self) -> float | None:
        """The target, whichever kind was given."""
        return self.target_error if self.target_error is not None else self.half_width

    @property
    def record(self) -> Record | None:
        """All attributes as one record, when there are several."""
        if isinstance(self.domain, Record):
            return self.domain
        return None if self.attributes == 1 else Record({f"attribute {i + 1}": self.domain for i in range(self.attributes)})

    def each(self, epsilon: Epsilon) -> Epsilon:
        """What one report may spend: fresh answers share epsilon, a remembered one has all of it."""
        return epsilon.times(Fraction(1, self.repeats)) if self.changing and self.repeats > 1 else epsilon
