"""Does a device keep its promise over a whole window? All its reports together are one report, and audited as such."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from deniable.batch import Keystream
from deniable.core import SYSTEM, Coins, EpsilonLike, Stream
from deniable.errors import InvalidParameter
from deniable.privacy.auditing.sampled import CONFIDENCE, audit
from deniable.privacy.auditing.targets import Scalar
from deniable.privacy.auditing.verdict import Audit

Device = Callable[[int, Any], Any]
"""What a device sends in a period for a value; None when it is silent."""
SILENT = -1
"""Beside whole numbers, which are outputs and not negative: rows of numbers are judged together, as one value."""


def window_test(
    new_device: Callable[[], Device] | Stream,
    rows: Sequence[Sequence[Any]],
    *,
    epsilon: EpsilonLike,
    samples: int = 50_000,
    confidence: float = CONFIDENCE,
    coins: Coins = SYSTEM,
    order: Keystream | None = None,
) -> Audit:
    """Let many fresh devices live through whole rows of values, and audit everything each of them sent as one report.

    `rows` are the lives to compare: rows of values of equal length that the promise covers, such as two that differ in one
    window. `epsilon` is what is promised between them: `stream.window(w)`, `lifetime()` or `changing(c)` of a stream.
    `new_device()` makes one device: a function of the period's number and the value that gives a report, or None for silence, which
    is an event like any other. It may do what your devices do: restart between periods, travel, lose its file. A `Stream` is
    its own device, drawn with `coins`. A correct device is called violated with probability at most 1 - confidence.

    >>> from deniable.core import FreshReports, RandomizedResponse
    >>> week = FreshReports(7, RandomizedResponse(epsilon=1))
    >>> lives = [(0,) * 7, (1,) * 7]
    >>> window_test(week, lives, epsilon=7, samples=2000).violated, window_test(week, lives, epsilon=1, samples=2000).violated
    (False, True)
    """
    lives = [tuple(row) for row in rows]
    if len({len(row) for row in lives}) > 1 or not lives or not lives[0]:
        raise InvalidParameter("rows must have the same number of periods, at least 1: each is one person's whole window")
    make = _devices_of(new_device, coins, len(lives[0])) if isinstance(new_device, Stream) else new_device

    def life(number: int) -> list[Any]:
        device = make()
        return [_shown(device(period, value)) for period, value in enumerate(lives[number])]

    return audit(Scalar(life), range(len(lives)), epsilon=epsilon, samples=samples, confidence=confidence, order=order)


def _devices_of(stream: Stream, coins: Coins, periods: int) -> Callable[[], Device]:
    if periods > stream.periods:
        raise InvalidParameter(f"rows must not be longer than the stream, which has {stream.periods} periods")

    def new_device() -> Device:
        memory = stream.start(coins)
        return lambda period, value: stream.report(memory, period, value, coins)

    return new_device


def _shown(report: Any) -> Any:
    """Reports side by side: numbers as they are, silence as one of them, everything else as text."""
    if report is None:
        return SILENT
    return report if isinstance(report, bool | int | float) else str(report)
