"""Windows that move one cell per row, read without bias: PM, PM-SUB, OGPM-U and part of HM."""

from __future__ import annotations

from fractions import Fraction

from deniable.core.channels.two_level import TwoLevel
from deniable.core.mechanisms.reading import Affine, Values
from deniable.errors import InvalidParameter

MOST_STEPS = 1 << 12
FINEST = 1 << 32
"""Inputs are rounded to at most this many steps of the domain."""


def fine_steps(rows: int) -> int:
    """How many steps the input takes between two of the `rows` + 1 rows."""
    return max(1, min(MOST_STEPS, FINEST // rows))


def unbiased_reading(channel: TwoLevel) -> Affine:
    """The straight line through the outputs whose mean is exactly row / (rows - 1).

    The mean output of row i is alpha + beta i: the window moves one cell per row, all else stays.
    """
    window = channel.sets.window
    if window is None or window.first != window.offset or window.last != window.offset + window.inputs - 1:
        raise InvalidParameter("only a window that moves one cell per row has an unbiased straight line")
    outputs, members, extra = window.outputs, window.members, channel.high - channel.low
    # Every output weighs low; the window's cells weigh `extra` on top.
    everywhere = channel.low * outputs * (outputs - 1) // 2
    alpha = Fraction(everywhere + extra * (members * window.offset + members * (members - 1) // 2), channel.total)
    beta = Fraction(extra * members, channel.total)
    step = 1 / (beta * (window.inputs - 1))
    return Affine(-alpha * step, step)


def unbiased_pair(channel: TwoLevel) -> Values:
    """The two positions that make randomized response between the ends of the domain unbiased."""
    extra = channel.high - channel.low
    return Values((Fraction(-channel.low, extra), Fraction(channel.high, extra)))
