"""Does the time of a report depend on the value? A comparison that only this machine, now, can vouch for."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from deniable.errors import InvalidParameter

ERROR = 1e-6


@dataclass(frozen=True)
class Timing:
    """Paired times of two values, in seconds: how often the first took longer, and the middle difference with its interval."""

    slower: int
    pairs: int
    difference: float
    interval: tuple[float, float]
    median: float
    chance: float
    error: float

    @property
    def found(self) -> bool:
        """Is one value slower more often than chance allows?"""
        return self.chance <= self.error

    @property
    def words(self) -> str:
        """The finding in a sentence."""
        low, high = (1e9 * end for end in self.interval)
        middle = f"{1e9 * self.difference:+.0f} ns ({low:+.0f} to {high:+.0f}) of {1e9 * self.median:.0f} ns"
        if not self.found:
            return f"no difference in time found in {self.pairs:,} pairs: {middle}"
        return f"THE TIME DEPENDS ON THE VALUE: {middle}; first slower in {self.slower:,} of {self.pairs:,} pairs"


def timing_test(
    function: Callable[[Any], Any], values: tuple[Any, Any], *, pairs: int = 20_000, repeats: int = 1, error: float = ERROR
) -> Timing:
    """Call the function with two values, in an order drawn anew for each pair, and compare each pair of times.

    A sign test of the pairs. The drawn order makes it exact whatever the noise of the machine is, periodic or not, if
    the noise does not know the value: each pair's sign is then a fair coin. `repeats` calls are timed together. A
    difference over a network is smaller than one here; none here proves nothing about another machine.
    """
    if pairs < 100 or repeats < 1:
        raise InvalidParameter("pairs must be at least 100 and repeats at least 1")
    first, second = values
    times = np.empty((pairs, 2))
    for value in (first, second, first, second):  # the first calls fill caches
        _seconds(function, value, repeats)
    for pair in range(pairs):
        first_place = secrets.randbits(1)
        for which in (first_place, 1 - first_place):
            times[pair, which] = _seconds(function, (first, second)[which], repeats)
    return compare(times, error)


def compare(times: NDArray[np.float64], error: float = ERROR) -> Timing:
    """The sign test on pairs of times, and an interval of the middle difference from its order statistics."""
    differences = np.sort(times[:, 0] - times[:, 1])
    slower, faster = int((differences > 0).sum()), int((differences < 0).sum())
    told = slower + faster
    tail = float(special.bdtr(min(slower, faster), told, 0.5)) if told else 1.0
    n = len(differences)
    reach = min(n // 2, int(2.5 * np.sqrt(n) / 1.0))  # five standard deviations of the middle's rank
    interval = float(differences[n // 2 - reach]), float(differences[min(n // 2 + reach, n - 1)])
    return Timing(slower, n, float(np.median(differences)), interval, float(np.median(times)), min(1.0, 2 * tail), error)


def _seconds(function: Callable[[Any], Any], value: Any, repeats: int) -> float:
    begin = time.perf_counter_ns()
    for _ in range(repeats):
        function(value)
    return (time.perf_counter_ns() - begin) / 1e9
