"""People who are asked again and again: the share of yes from signs of changes, and surveys whose devices repeat what they keep."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from deniable.batch import accumulator_for, draw_many
from deniable.core import Categories, TreeOfChanges, make_mechanism
from deniable.estimators import yes_shares
from deniable.surveys import Attribute, Survey
from deniable.surveys.kept_layers import layers
from intervals.answers import LEVEL, Answer, Cell, Floats, Trial, bins, fixed, of_shares, parts_of, truth_of
from intervals.shapes import NUMBERS

PERIODS, CHANGES, WINDOWS = 4, 2, 3
REPEATING = ("permanent", "kept")
"""What devices keep: their report, or an answer at twice the level of one report."""


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


def windows(cell: Cell) -> Trial:
    """Three windows of four categories, all together, in which devices send their report again or one around a kept answer."""
    from deniable.collector.estimates import estimates
    from deniable.collector.steps import Published

    mechanism: Any = make_mechanism("k-rr", domain=Categories(4), epsilon=cell.epsilon)
    level = Fraction(cell.epsilon) * 2
    repeat = "permanent" if cell.mechanism == "permanent" else f"kept:{level}"
    survey = Survey(
        title="Parts",
        purpose="To know them.",
        attributes=(Attribute("part", "Which part?"),),
        mechanism=mechanism,
        budget=3 * level,
        repeat=repeat,
        window="week",
    )
    kept, around = (mechanism.channel, None) if cell.mechanism == "permanent" else layers(mechanism, level)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        values = NUMBERS[cell.shape](draws, cell.n)
        memo = draw_many(kept, parts_of(values, 4), stream).astype(np.int64)
        sums = [accumulator_for(mechanism) for _ in range(WINDOWS)]
        for one in sums:
            one.fold((memo if around is None else draw_many(around, memo, stream)).astype(np.uint64))
            one.n += cell.n
        shown = Published({str(week): one for week, one in enumerate(sums)}, sums[0] + sums[1] + sums[2], periods=WINDOWS)
        rows = estimates(survey, shown).attributes[0].views[0].rows
        ends = np.array([row.low for row in rows]), np.array([row.high for row in rows])
        yield of_shares("survey of windows", "these users", truth_of(cell, "these users", values, bins(4)), fixed(*ends))

    return trial
