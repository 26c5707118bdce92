"""The mean direction on a circle, and how concentrated the directions are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.channels import Channel, TwoLevel, Window
from deniable.domains import Circle
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators.estimate import half_width
from deniable.estimators.outputs import values_of
from deniable.mechanisms.base import Mechanism


@dataclass(frozen=True)
class Direction:
    """A mean direction in the domain's units, and the resultant length: 1 when all agree, 0 when none do."""

    angle: float
    standard_error: float
    concentration: float
    concentration_error: float
    period: float
    n: int

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """A normal confidence interval; its ends may lie beyond 0 or the period, which is the same direction."""
        reach = half_width(level) * self.standard_error
        return self.angle - reach, self.angle + reach

    def concentration_interval(self, level: float = 0.95) -> tuple[float, float]:
        """The same for the concentration."""
        reach = half_width(level) * self.concentration_error
        return self.concentration - reach, self.concentration + reach


def direction(mechanism: Mechanism, reports: Any) -> Direction:
    """The mean direction of the population.

    Symmetric noise keeps the direction and shrinks the resultant by a known factor, the first Fourier
    coefficient of the law; the concentration is corrected by it. Errors by the delta method, from the reports.
    """
    if not isinstance(mechanism.domain, Circle):
        raise NotSupported(f"{mechanism.name} reports no directions; a mean direction needs a mechanism on a Circle")
    shrinkage = first_coefficient(mechanism.channel)
    period = float(mechanism.domain.period)
    turns = values_of(mechanism, reports) / period * (2 * math.pi)
    if len(turns) < 2:
        raise InvalidParameter("reports: a mean direction with its error needs at least two of them")
    cosine, sine = float(np.cos(turns).mean()), float(np.sin(turns).mean())
    angle, resultant = math.atan2(sine, cosine), math.hypot(sine, cosine)
    root = math.sqrt(len(turns))
    across = float(np.sin(turns - angle).std()) / (root * resultant) if resultant else math.inf
    along = float(np.cos(turns - angle).std()) / root
    return Direction(
        angle=angle % (2 * math.pi) / (2 * math.pi) * period,
        standard_error=across / (2 * math.pi) * period,
        concentration=resultant / shrinkage,
        concentration_error=along / shrinkage,
        period=period,
        n=len(turns),
    )


def first_coefficient(channel: Channel) -> float:
    """E cos(output - input) of a channel that treats all directions alike: how much the resultant shrinks.

    >>> from deniable.mechanisms.circular.circular_window import CircularWindow
    >>> 0.30 < first_coefficient(CircularWindow(epsilon=1).channel) < 0.31
    True
    """
    cells = channel.outputs
    if channel.inputs != cells:
        raise NotSupported("the first Fourier coefficient needs as many outputs as inputs")
    step = 2 * math.pi / cells
    if isinstance(channel, TwoLevel) and isinstance(channel.sets, Window):
        # The low level has no first coefficient; the window's is a Dirichlet kernel.
        members = channel.sets.members
        return (channel.high - channel.low) / channel.total * math.sin(members * step / 2) / math.sin(step / 2)
    weights = np.array([weight / channel.total for weight in channel.row(0)])
    return float((weights * np.cos(step * np.arange(cells))).sum())
