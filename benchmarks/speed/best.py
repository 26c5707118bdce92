"""Seconds that a piece of work takes, by the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def best_time(work: Callable[[], Any], repeats: int = 5) -> float:
    """Seconds, the best of several runs: the others measure something else on the machine."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best
