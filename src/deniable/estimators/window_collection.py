"""A collector that keeps a window's budget: whom it asks in every step, and when it publishes anew (LDP-IDS)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from deniable.batch import Floats
from deniable.errors import InvalidParameter

Method = Literal["LBU", "LSP", "LPU", "LBA", "LPA"]
METHODS: tuple[Method, ...] = ("LBU", "LSP", "LPU", "LBA", "LPA")


class Request(NamedTuple):
    """Which share of the people is asked, and for which share of epsilon."""

    people: float
    epsilon: float


Ask = Callable[[Request], Floats]
"""Puts a request to people and gives back their unbiased shares."""
Variance = Callable[[Request], float]
"""The mean squared error of such shares, averaged over the values."""


@dataclass
class WindowCollector:
    """Publishes shares step after step, so that any `window` steps cost every person epsilon once.

    Methods, by the names of LDP-IDS: LBU asks everyone in every step for 1/w of epsilon; LSP asks everyone for all of it in every
    w-th step; LPU asks another w-th of the people in every step. LBA and LPA compare first: with half of the window's budget (of
    epsilon, or of the people) they estimate how far the truth has moved from what was last published, and only where that is more
    than the error of publishing anew do they publish, with what the steps since have left unused.
    On the device this is a `WhenAsked` stream of two periods a step, which enforces the window whatever the collector does.
    Source: Ren, Shi, Yu, Wang, Wu, Yao and Liu, "LDP-IDS: local differential privacy for infinite data streams", 2022.

    >>> quiet = WindowCollector("LPA", window=4)
    >>> asked: list[float] = []
    >>> def ask(request: Request) -> Floats:
    ...     asked.append(request.people)
    ...     return np.array([0.5, 0.5])
    >>> for _ in range(6):
    ...     shares = quiet.step(ask, lambda request: 0.01 / request.people)
    >>> asked  # an eighth of the people to compare; as nothing moves, nothing is published anew
    [0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125]
    """

    method: Method
    window: int
    steps: int = field(default=0, init=False)
    published: Floats | None = field(default=None, init=False)
    last: int = field(default=-1, init=False)
    """The step in which something was last published, and how many parts of the window's half that took."""
    parts: int = field(default=1, init=False)

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InvalidParameter(f"method must be one of {', '.join(METHODS)}")
        if isinstance(self.window, bool) or not isinstance(self.window, int) or self.window < 1:
            raise InvalidParameter("window must be a whole number of steps, at least 1")

    def step(self, ask: Ask, variance: Variance) -> Floats:
        """What is published in this step: fresh shares, or those of before."""
        fixed = {
            "LBU": Request(1.0, 1 / self.window),
            "LPU": Request(1 / self.window, 1.0),
            "LSP": Request(1.0, 1.0) if self.steps % self.window == 0 else None,
        }
        if self.method in fixed:
            request = fixed[self.method]
            self.published = self.published if request is None else ask(request)
        else:
            self._adaptive(ask, variance)
        self.steps += 1
        assert self.published is not None
        return self.published

    def _part(self, parts: int) -> Request:
        """So many of the 2w parts of a window: of epsilon, or of the people."""
        share = parts / (2 * self.window)
        return Request(1.0, share) if self.method == "LBA" else Request(share, 1.0)

    def _adaptive(self, ask: Ask, variance: Variance) -> None:
        compared = ask(self._part(1))
        unused = self.steps - self.last - (self.parts - 1)  # the steps since, less those that paid for the last publication
        if unused <= 0:
            return
        request = self._part(min(unused, self.window))
        moved = math.inf
        if self.published is not None:
            moved = float(np.mean((compared - self.published) ** 2)) - variance(self._part(1))
        if moved > variance(request):
            self.published, self.last, self.parts = ask(request), self.steps, min(unused, self.window)
