"""One way to ask and to estimate: what it promises for any number of users, and how to try it out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from deniable.batch import Floats, Keystream, SystemKeystream
from deniable.errors import InvalidParameter
from deniable.privacy import Gain

NORMAL = 1.959963984540054
"""Half of a 95 % interval, in standard errors."""


class Prediction(NamedTuple):
    """The error, half of the 95 % interval (None where there is none), and further numbers of the task."""

    error: float
    half_width: float | None
    more: Mapping[str, float] = {}


class Simulated(NamedTuple):
    """An error measured by trying it out, with its own standard error."""

    error: float
    standard_error: float
    runs: int


class LeftOut(NamedTuple):
    """A mechanism that is no candidate, and why."""

    mechanism: str
    reason: str


@dataclass(frozen=True)
class Way:
    """A mechanism with its estimator.

    `losses` runs surveys of n users by the mechanism itself and gives one loss each; the error is their mean, or
    with `root` the root of it.
    """

    name: str
    asked: Any
    """A mechanism, or a protocol made of several."""
    estimator: str
    predict: Callable[[int], Prediction]
    losses: Callable[[int, int, Keystream], Floats]
    root: bool = True
    inner: str | None = None
    gain: Callable[[int], Gain | None] = field(default=lambda users: None)
    """How far fakes worth 1 % of the users can push the estimate; None where nothing is estimated."""
    promise: str = ""
    """What a device does and promises beyond a single report, in words."""
    in_survey: str = ""
    """The lines of a survey file that ask like this; empty where none do."""
    measure: Callable[[int, int, Keystream], Simulated] | None = None
    """How the error is measured where it is no mean of losses."""

    @property
    def label(self) -> str:
        """The name, with what is inside."""
        return self.name if self.inner is None else f"{self.name} ({self.inner})"

    def simulated(self, users: int, runs: int, keystream: Keystream | None = None) -> Simulated:
        """The error of `runs` surveys of so many users each, all drawn and estimated for real."""
        if runs < 2:
            raise InvalidParameter("runs must be at least 2: one survey says nothing about how much they differ")
        stream = SystemKeystream() if keystream is None else keystream
        if self.measure is not None:
            return self.measure(users, runs, stream)
        losses = self.losses(users, runs, stream)
        mean, spread = float(losses.mean()), float(losses.std(ddof=1)) / math.sqrt(len(losses))
        if not self.root:
            return Simulated(mean, spread, runs)
        error = math.sqrt(mean)
        return Simulated(error, spread / (2 * error) if error else 0.0, runs)


def normal(error: float, **more: float) -> Prediction:
    """The prediction of an estimate that is close to normal."""
    return Prediction(error, NORMAL * error, more)


def fakes(users: int) -> int:
    """One percent of the users, at least one."""
    return max(1, users // 100)
