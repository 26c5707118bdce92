"""People whose answers change: the share of yes over time, from signs of changes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from deniable.core import TreeOfChanges
from deniable.estimators import yes_shares
from intervals.answers import LEVEL, Answer, Cell, Floats, Trial, of_shares, parts_of
from intervals.shapes import NUMBERS

PERIODS, CHANGES = 4, 2


def _yes(values: Floats) -> Any:
    """Who says yes in which period: from the value's own period on, or in that one only; some people never do."""
    begin = parts_of(values, PERIODS + 1)[:, None]
    period = np.arange(PERIODS)
    only = ((values * (PERIODS + 1)) % 1 > 0.5)[:, None]
    return np.where(only, period == begin, period >= begin).astype(np.int64)


def changes(cell: Cell) -> Trial:
    """Four periods, in which everyone changes twice at most; devices are drawn by the weights of the stream itself."""
    stream_of = TreeOfChanges(PERIODS, changes=CHANGES, epsilon=cell.epsilon)
    odds = np.array([stream_of.low, (stream_of.high + stream_of.low) / 2, stream_of.high]) / (stream_of.high + stream_of.low)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        yes = _yes(NUMBERS[cell.shape](draws, cell.n))
        steps = np.diff(yes, axis=1, prepend=0)
        before = np.cumsum(steps != 0, axis=1) - (steps != 0)
        # Everyone tells one change, the first or the second, and sees stretches of one length.
        told = np.where(before == draws.integers(0, CHANGES, cell.n)[:, None], steps, 0)
        exponent = draws.integers(0, stream_of.lengths, cell.n)
        signs = {}
        for length in (1 << power for power in range(stream_of.lengths)):
            mine = told[(1 << exponent) == length].reshape(-1, PERIODS // length, length).sum(axis=2)
            plus = (draws.random(mine.shape) < odds[mine + 1]).sum(axis=0)
            signs[length] = np.stack([len(mine) - plus, plus], axis=1)
        yield of_shares("yes_shares", "these users", yes.mean(axis=0), partial(yes_shares(stream_of, signs).interval, LEVEL))

    return trial
