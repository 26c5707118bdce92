"""What one simulated survey is asked, and what it answers."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Floats
from deniable.core import Categories, make_mechanism
from intervals.shapes import of_population

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

    def one_of(self, levels: tuple[float, ...]) -> tuple[float]:
        """Levels of quantiles take turns too: an end of one takes as long as the intervals of several bins."""
        return (levels[zlib.crc32(self.key.encode()) % len(levels)],)


Ends = tuple[Any, Any]


@dataclass(frozen=True)
class Answer:
    """What one estimator is asked, and what the ends that it prints should hold; they are worked out when they are looked at."""

    estimator: str
    target: str
    truth: Floats
    work: Callable[[], Ends]

    @cached_property
    def ends(self) -> Ends:
        """The lower and the upper ones."""
        return self.work()

    @property
    def held(self) -> NDArray[np.bool_]:
        """Which of them hold the truth."""
        low, high = self.ends
        return np.asarray((low <= self.truth + 1e-9) & (self.truth - 1e-9 <= high))

    @property
    def half(self) -> Floats:
        """Half of their distances."""
        return np.asarray((self.ends[1] - self.ends[0]) / 2)


Trial = Callable[[np.random.Generator, Any], Iterable[Answer]]
"""One survey, from the draws of its people and the coins of their devices (None: the system's)."""


def of_shares(estimator: str, target: str, truth: Any, work: Callable[[], Ends]) -> Answer:
    """Ends of numbers from 0 to 1; what lies beyond is not counted as width."""

    def cut() -> Ends:
        low, high = work()
        return np.clip(np.atleast_1d(low), 0.0, 1.0), np.clip(np.atleast_1d(high), 0.0, 1.0)

    return Answer(estimator, target, np.atleast_1d(np.asarray(truth, np.float64)), cut)


def fixed(low: Floats, high: Floats) -> Callable[[], Ends]:
    """Ends that are known already."""
    return lambda: (low, high)


def divided(work: Callable[[], Ends], by: float) -> Callable[[], Ends]:
    """Ends of numbers of people as ends of shares."""

    def shares() -> Ends:
        low, high = work()
        return low / by, high / by

    return shares


def one_by_one(questions: Sequence[Callable[[], Any]]) -> Callable[[], Ends]:
    """The ends of several questions that are asked one by one."""

    def ends() -> Ends:
        low, high = zip(*(question().interval(LEVEL) for question in questions), strict=True)
        return np.array(low), np.array(high)

    return ends


def at_once(answer: Answer, name: str) -> Answer:
    """Many answers as one, which holds when all of them do: its truth is 0 and its ends are as far away as the worst."""

    def worst() -> Ends:
        low, high = answer.ends
        beyond = float(np.maximum(low - answer.truth, answer.truth - high).max())
        miss, half = np.array([beyond if beyond > 1e-9 else 0.0]), float(np.mean(answer.half))
        return miss - (half if miss[0] == 0 else 0.0), half + miss

    return Answer(name, answer.target, np.zeros(1), worst)


def truth_of(cell: Cell, target: str, values: Floats, question: Callable[[Floats], Any]) -> Any:
    """The true answer for the people who took part, or for the population they were drawn from."""
    kind = "places" if values.ndim == 2 else "numbers"
    return question(values) if target == "these users" else of_population(kind, cell.shape, question)


def parts_of(values: Floats, parts: int) -> Any:
    """The number of the equal part that each value lies in."""
    return np.minimum((values * parts).astype(np.int64), parts - 1)


def of_parts(cell: Cell, parts: int) -> Any:
    """The cell's mechanism for as many categories."""
    patterns = [[i, (i + 1) % parts, (i + 3) % parts] for i in range(parts)]
    extra = {"extremal": {"patterns": patterns}, "hierarchy": {"fan_outs": [2, parts // 2]}}.get(cell.mechanism, {})
    return make_mechanism(cell.mechanism, domain=Categories(parts), epsilon=cell.epsilon, **extra)


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
