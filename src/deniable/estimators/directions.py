"""The mean direction on a circle, and how concentrated the directions are."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import special

from deniable._results import Result, counted
from deniable.batch import Accumulator, positions
from deniable.core import Channel, CircularMechanism
from deniable.errors import NotSupported
from deniable.estimators.estimate import Target, check_target, half_width
from deniable.estimators.source import Source, accumulated

WEAK, SURE = 3.0, 4.0
"""Up to so many standard errors a resultant may be none; from so many on its side is known."""
UNSURE = 0.5
"""By so many of its own standard errors a spread is taken larger than it was seen: few reports show few of the far ones."""
FAR = 20.0
"""A concentration of so many standard errors is as good as normal."""
AROUND = 721
"""Points of an ellipse."""
LEAST_COEFFICIENT = 0.02
"""A smaller second coefficient says too little about the users' own spread to take it off."""


@dataclass(frozen=True, repr=False)
class Direction(Result):
    """A mean direction in the domain's units, and the resultant length: 1 when all agree, 0 when none do.

    Both have standard errors by the delta method; the intervals hold near concentration 0 too, where there is
    no mean direction: the interval is then the whole circle.
    """

    angle: float
    standard_error: float
    concentration: float
    concentration_error: float
    period: float
    n: int
    target: Target
    tilt: float = 0.0
    """The covariance of the concentration's error and of the error across it, in units of the concentration squared."""
    rounding: float = 0.0
    """How far devices may have moved the resultant by putting directions into cells: at most by this, in any direction."""

    def __repr__(self) -> str:
        return (
            f"<Direction n={self.n:,}; {self.angle:.4g} of {self.period:g} (SE {self.standard_error:.2g}), "
            f"concentration {self.concentration:.4g} (SE {self.concentration_error:.2g}); {self.target}>"
        )

    def _rows(self) -> list[dict[str, Any]]:
        ends = {"mean direction": self.interval(), "concentration": self.concentration_interval()}
        values = {
            "mean direction": (self.angle, self.standard_error),
            "concentration": (self.concentration, self.concentration_error),
        }
        return [
            {"label": name, "value": values[name][0], "low": low, "high": high, "standard_error": values[name][1]}
            for name, (low, high) in ends.items()
        ]

    def _caption(self) -> str:
        return f"Mean direction on a circle of {self.period:g}; {counted(self.n, 'report')}; {self.target}"

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON; the intervals are at 95 %."""
        return {**asdict(self), "interval": list(self.interval()), "concentration_interval": list(self.concentration_interval())}

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """All directions across which the resultant may be 0 (Fieller); ends beyond 0 or the period are the same direction.

        Where it may be 0 in every direction there is no mean direction, and the interval is the whole circle. Directions that
        all lie at one side of their cells are allowed for.
        """
        least = self._of_cells(level)[0]
        by_cells = math.asin(self.rounding / least) if self.rounding < least else math.pi if self.rounding > 0 else 0.0
        back, on = (min(turn + by_cells, math.pi) / (2 * math.pi) * self.period for turn in self._turns(level))
        return self.angle - back, self.angle + on

    def _turns(self, level: float) -> tuple[float, float]:
        """How far the true direction may lie, in radians, on either side: where the part of the resultant across it may be 0."""
        square = self._square(half_width(level) + self._either_side(level))
        across = self._across
        known = self.concentration**2 - square * self.concentration_error**2
        if not (known > 0 and math.isfinite(self.standard_error)):
            return math.pi, math.pi
        middle, root = -square * self.tilt / known, math.sqrt((square * self.tilt / known) ** 2 + square * across**2 / known)
        return -math.atan(middle - root), math.atan(middle + root)

    def _either_side(self, level: float) -> float:
        """How much farther to reach when the resultant is weak: the estimate may then point away from the truth.

        Under no resultant at all the distance from a ray is that from a line in half of the cases, else that from a point.
        """
        if self.concentration >= SURE * self.concentration_error:
            return 0.0
        reach, miss = half_width(level), 1 - level
        low, high = reach**2, reach**2 + 4.0
        for _ in range(40):
            middle = (low + high) / 2
            far = float(special.erfc(math.sqrt(middle / 2)) + math.exp(-middle / 2)) / 2
            low, high = (middle, high) if far > miss else (low, middle)
        part = min(1.0, (SURE - self.concentration / self.concentration_error) / (SURE - WEAK)) if self.concentration_error else 1.0
        return part * (math.sqrt(high) - reach)

    def concentration_interval(self, level: float = 0.95) -> tuple[float, float]:
        """The same for the concentration: the length of a vector with noise both ways, which noise makes longer."""
        low, high = self._of_cells(level)
        return min(max(low - self.rounding, 0.0), 1.0), min(high + self.rounding, 1.0)

    def _of_cells(self, level: float) -> tuple[float, float]:
        lengths = self._lengths(level)
        ends = self._along(level)
        return min(ends[0], lengths[0]), max(ends[1], lengths[1])

    def _along(self, level: float) -> tuple[float, float]:
        """The lengths that a vector may have whose noise is as large across as along."""
        reach = half_width(level)
        error = self.concentration_error
        if not error > 0 or self.concentration > FAR * error:
            return max(self.concentration - reach * error, 0.0), self.concentration + reach * error
        seen, tail = (self.concentration / error) ** 2, (1 - level) / 2
        ends = []
        for part in (1 - tail, tail):
            # The law of the squared length falls with the true one: halve until it leaves this part below what was seen.
            low, high = 0.0, (math.sqrt(seen) + 10.0) ** 2
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (middle, high) if float(special.chndtr(seen, 2, middle)) > part else (low, middle)
            ends.append(math.sqrt(low) * error)
        return ends[0], ends[1]

    def _lengths(self, level: float) -> tuple[float, float]:
        """The lengths of all resultants that are no farther away than noise takes one in one direction: an ellipse of them."""
        square, along, across = self._square(half_width(level)), self.concentration_error, self._across
        if not math.isfinite(square):
            return 0.0, math.inf
        turns = np.linspace(0.0, 2 * math.pi, AROUND)
        tilt = self.tilt / along if along > 0 else 0.0
        left = math.sqrt(max(across**2 - tilt**2, 0.0))
        edge = math.sqrt(square) * (np.cos(turns) * complex(along, tilt) + np.sin(turns) * complex(0.0, left))
        lengths = np.abs(self.concentration + edge)
        # Does the ellipse hold the origin? Then the edge goes around it.
        around = np.unwrap(np.angle(self.concentration + edge))
        return 0.0 if abs(around[-1] - around[0]) > 1.0 else float(lengths.min()), float(lengths.max())

    def _square(self, reach: float) -> float:
        """So many standard errors, squared, of the spread that the reports would have around another centre.

        A test of that centre sees this spread, which is larger than that around what was seen.
        """
        return reach**2 / (1 - reach**2 / self.n) if self.n > reach**2 else math.inf

    @property
    def _across(self) -> float:
        """The standard error of the resultant across the mean direction, as `concentration_error` is the one along it."""
        if not (self.concentration > 0 and math.isfinite(self.standard_error)):
            return self.concentration_error
        return self.standard_error * 2 * math.pi / self.period * self.concentration


def direction(source: Source, *, target: Target = "these users") -> Direction:
    """The mean direction of the users' directions, from the counts.

    Symmetric noise keeps the direction and shrinks the resultant by a known factor, the first Fourier
    coefficient of the law; the concentration is corrected by it. For "these users", what their own spread
    adds to that of the reports is taken off again, by the second coefficient where that is not too small.

    >>> from deniable.core import make_mechanism
    >>> mean_direction = direction(make_mechanism("circular-window", epsilon=4).randomize_many([1.5] * 1000))
    >>> abs(mean_direction.angle - 1.5) < 0.2
    True
    """
    check_target(target)
    sums = accumulated(source)
    mechanism = sums.mechanism
    if not isinstance(mechanism, CircularMechanism):
        raise NotSupported(f"{mechanism.name} does not report directions; a mean direction needs a mechanism on a Circle")
    shrinkage = first_coefficient(mechanism.channel)
    first, second = _turned(sums, mechanism, 1), _turned(sums, mechanism, 2)
    angle, resultant = math.atan2(first.imag, first.real), abs(first)
    # Along and across the mean direction: cos**2 = (1 + cos 2t)/2, sin**2 = (1 - cos 2t)/2, sin t averages to 0.
    turned = second * complex(math.cos(2 * angle), -math.sin(2 * angle))
    doubled, sideways = turned.real, turned.imag
    along, across = (1 + doubled) / 2 - resultant**2, (1 - doubled) / 2
    tilt = sideways / 2
    again = coefficient(mechanism.channel, 2)
    if target == "these users" and abs(again) >= LEAST_COEFFICIENT:
        users = min(max(doubled / again, -1.0), 1.0)
        along -= max(shrinkage**2 * (1 + users) / 2 - resultant**2, 0.0)
        across -= shrinkage**2 * (1 - users) / 2
        tilt -= shrinkage**2 * min(max(sideways / again, -1.0), 1.0) / 2
    n = max(sums.n - 1, 1)
    # A single report could be anywhere: the largest spread there is.
    along, across = (_on_the_safe_side(along, n), _on_the_safe_side(across, n)) if sums.n > 1 else (1.0, 1.0)
    tilt = min(max(tilt, -math.sqrt(along * across)), math.sqrt(along * across))
    error = math.sqrt(across / n) / resultant if resultant else math.inf
    period = float(mechanism.domain.period)
    return Direction(
        angle=angle % (2 * math.pi) / (2 * math.pi) * period,
        standard_error=error / (2 * math.pi) * period,
        concentration=resultant / shrinkage,
        concentration_error=math.sqrt(along / n) / shrinkage,
        period=period,
        n=sums.n,
        target=target,
        tilt=tilt / n / shrinkage**2,
        # Half a cell turns a direction by this chord.
        rounding=0.0 if mechanism.channel.between is not None else 2 * math.sin(math.pi / (2 * mechanism.grid.steps)),
    )


def _on_the_safe_side(spread: float, n: int) -> float:
    """A mean square of numbers between -1 and 1, and something for not knowing it exactly."""
    seen = min(max(spread, 0.0), 1.0)
    return seen + UNSURE * math.sqrt(seen * (1 - seen) / n)


def _turned(sums: Accumulator, mechanism: CircularMechanism, order: int) -> complex:
    """The mean of e**(i order t) over the reports' directions t."""
    seen = np.nonzero(sums.sums)[0]
    turns = 2 * math.pi * order * positions(mechanism.reading, seen)
    share = sums.sums[seen] / sums.n
    return complex(float(share @ np.cos(turns)), float(share @ np.sin(turns)))


def first_coefficient(channel: Channel) -> float:
    """E cos(output - input) of a channel that treats all directions alike: how much the resultant shrinks.

    >>> from deniable.core import CircularWindow
    >>> 0.30 < first_coefficient(CircularWindow(epsilon=1).channel) < 0.31
    True
    """
    return coefficient(channel, 1)


def coefficient(channel: Channel, order: int) -> float:
    """E cos(order (output - input)) of a channel that treats all directions alike."""
    cells = channel.outputs
    if channel.inputs != cells or not channel.wraps:
        raise NotSupported("a mean direction needs a mechanism that treats all directions alike, for example circular-window")
    step = 2 * math.pi * order / cells
    layers = channel.layers()
    if layers is not None:
        # The same weight everywhere has no such coefficient; a window's is a Dirichlet kernel.
        kernels = (
            height * math.sin(window.members * step / 2) * math.cos((window.offset + (window.members - 1) / 2) * step)
            for window, height in layers.windows
        )
        return sum(kernels) / channel.total / math.sin(step / 2)
    weights = np.array([weight / channel.total for weight in channel.row(0)])
    return float((weights * np.cos(step * np.arange(cells))).sum())
