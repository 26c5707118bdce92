"""What one simulated survey is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from intervals.shapes import of_population

Floats = NDArray[np.float64]
LEVEL = 0.95
BOTH: tuple[Any, ...] = ("these users", "population")


class Cell(NamedTuple):
    """One setting of the table."""

    family: str
    mechanism: str
    shape: str
    n: int
    epsilon: float
    target: str
    """Whose values are asked for where one survey cannot be asked both ways; the others are asked both ways."""

    @property
    def key(self) -> str:
        """Its name in the file of results."""
        return "|".join(map(str, self))


class Answer(NamedTuple):
    """The ends that one estimator printed, and what they should hold."""

    estimator: str
    target: str
    truth: Floats
    low: Floats
    high: Floats

    @property
    def held(self) -> NDArray[np.bool_]:
        """Which of them hold the truth."""
        return np.asarray((self.low <= self.truth + 1e-9) & (self.truth - 1e-9 <= self.high))


Trial = Callable[[np.random.Generator, Any], Iterable[Answer]]
"""One survey, from the draws of its people and the coins of their devices (None: the system's)."""


def of_shares(estimator: str, target: str, truth: Any, ends: tuple[Any, Any]) -> Answer:
    """Ends of numbers from 0 to 1; what lies beyond is not counted as width."""
    low, high = (np.clip(np.atleast_1d(end), 0.0, 1.0) for end in ends)
    return Answer(estimator, target, np.atleast_1d(np.asarray(truth, np.float64)), low, high)


def at_once(answer: Answer, name: str) -> Answer:
    """Many answers as one, which holds when all of them do: its truth is 0 and its ends are as far away as the worst."""
    beyond = np.maximum(answer.low - answer.truth, answer.truth - answer.high).max()
    half = float(np.mean(answer.high - answer.low)) / 2
    miss = np.array([beyond if beyond > 1e-9 else 0.0])
    return Answer(name, answer.target, np.zeros(1), miss - (half if miss[0] == 0 else 0.0), np.array([half + miss[0]]))


def truth_of(cell: Cell, target: str, values: Floats, question: Callable[[Floats], Any]) -> Any:
    """The true answer for the people who took part, or for the population they were drawn from."""
    kind = "places" if values.ndim == 2 else "numbers"
    return question(values) if target == "these users" else of_population(kind, cell.shape, question)


@cache
def bins(count: int) -> Callable[[Floats], Floats]:
    """The share of people in each of so many equal bins of [0, 1)."""
    return lambda values: np.asarray(np.histogram(values, count, (0, 1))[0] / len(values))


@cache
def ranges(*ends: tuple[float, float]) -> Callable[[Floats], Floats]:
    """The share of people in each range."""
    return lambda values: np.array([np.mean((values >= low) & (values < high)) for low, high in ends])


@cache
def quantiles_at(*levels: float) -> Callable[[Floats], Floats]:
    """The least values up to which these shares of people lie."""

    def question(values: Floats) -> Floats:
        places = np.ceil(np.array(levels) * len(values) - 1e-9).astype(int) - 1
        return np.asarray(np.partition(values, places)[places])

    return question


def yes(values: Floats) -> Floats:
    """The shares of no and yes: is the value below 0.2?"""
    share = float(np.mean(values < 0.2))
    return np.array([1 - share, share])
