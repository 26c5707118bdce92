"""Collectors that keep a window's budget: what they ask for never exceeds it, and they publish where something moved."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable.core import RandomizedResponse, WhenAsked
from deniable.errors import InvalidParameter
from deniable.estimators import METHODS, Request, WindowCollector
from deniable.privacy import FixedCoins


def walk(method: Any, window: int, truth: Any, seed: int = 1) -> tuple[list[list[Request]], np.ndarray[Any, Any]]:
    """What is asked in every step, and what is published, for normal noise of the variance that is stated."""
    random, collector = np.random.default_rng(seed), WindowCollector(method, window)

    def variance(request: Request) -> float:
        return 1e-5 / (request.people * request.epsilon**2)

    asked: list[list[Request]] = []
    published = []
    for share in truth:
        asked.append([])

        def ask(request: Request, share: float = share, now: list[Request] = asked[-1]) -> Any:
            now.append(request)
            noise = random.normal(0, np.sqrt(variance(request)))
            return np.array([share + noise, 1 - share - noise])

        published.append(collector.step(ask, variance))
    return asked, np.array(published)


JUMPING = np.repeat([0.1, 0.5, 0.2, 0.7], 25)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("window", [1, 4, 10])
def test_no_window_is_asked_for_more_than_it_has(method: Any, window: int) -> None:
    """Of everyone's epsilon, or of the people, each of whom may be asked once in a window."""
    asked, _ = walk(method, window, JUMPING)
    costs = [sum(Fraction(request.people * request.epsilon).limit_denominator(1000) for request in step) for step in asked]
    most = max(sum(costs[begin : begin + window]) for begin in range(len(costs) - window + 1))
    assert most <= 1


def test_devices_never_have_to_refuse_an_honest_collector() -> None:
    """LBA in parts of a window of four steps, two periods a step: a `WhenAsked` device grants everything it is asked for."""
    asked, _ = walk("LBA", 4, JUMPING)
    stream, coins = WhenAsked(200, RandomizedResponse(epsilon=1), window=8, parts=8), FixedCoins(1)
    memory, granted = stream.start(coins), 0
    for number, step in enumerate(asked):
        for half in range(2):
            memory["asked"] = round(8 * step[half].epsilon) if half < len(step) else 0
            granted += memory["asked"] > 0
            assert (stream.report(memory, 2 * number + half, 1, coins) is not None) == (half < len(step))
    assert granted == sum(map(len, asked))


def test_adaptive_collectors_publish_when_something_moved_and_else_rest() -> None:
    """After a jump the published share follows within a window; while nothing moves it hardly changes."""
    for method in ("LBA", "LPA"):
        asked, published = walk(method, 5, JUMPING)
        fresh = [number for number, step in enumerate(asked) if len(step) == 2]
        assert {0, 25, 50, 75} <= {25 * (number // 25) for number in fresh}
        assert len(fresh) < 50
        assert np.abs(published[[20, 45, 70, 95], 0] - [0.1, 0.5, 0.2, 0.7]).max() < 0.2


def test_dividing_people_has_less_error_than_dividing_epsilon() -> None:
    still = np.full(60, 0.3)
    errors = {method: ((walk(method, 10, still)[1][:, 0] - 0.3) ** 2).mean() for method in METHODS}
    assert errors["LPU"] < errors["LBU"]
    assert errors["LPA"] < errors["LBA"]


def test_odd_collectors_are_refused() -> None:
    for method, window in (("LBX", 3), ("LBU", 0), ("LBU", True)):
        with pytest.raises(InvalidParameter):
            WindowCollector(method, window)  # type: ignore[arg-type]
