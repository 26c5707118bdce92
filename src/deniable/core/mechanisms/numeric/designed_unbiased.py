"""Unbiased rows on a reference written out output by output: what a design returns for means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import ClassVar, Self

from deniable.core.channels.chain import Interpolated
from deniable.core.channels.table import Table
from deniable.core.domains.interval import Interval
from deniable.core.exact.lattice import Grid, points
from deniable.core.mechanisms.numeric.designed import whole_numbers
from deniable.core.mechanisms.numeric_base import NumericMechanism
from deniable.core.mechanisms.reading import Affine
from deniable.errors import InvalidParameter

MOST_OUTPUTS = 1 << 12
MOST_ROWS = 1 << 10
STEPS = 1 << 12
"""How finely the input is rounded between two rows."""


@dataclass(frozen=True, kw_only=True, repr=False)
class DesignedUnbiased(NumericMechanism):
    """A number whose mean is exactly the true one, on any reference: the least worst-case variance.

    Law: outputs j = 0 … 2J are equally spaced numbers, `weights[j]` their reference. Row i of `rows` + 1
    raises a stretch of outputs towards floor(e**epsilon weights[j]) so that the row sums to `total` and
    its mean is exactly (i - rows/2) `slope`/`total` steps from the middle. A value between two rows
    takes either at random, which keeps the mean.
    Guarantee: epsilon-LDP, exactly the largest ratio of weights.
    Worst variance: what its designer measured; see `deniable design --unbiased`.
    Cost: two draws, log2(outputs) bits on the wire.

    >>> DesignedUnbiased(epsilon=1, rows=2, weights=[400, 100, 400], total=1600, slope=600).certificate().holds
    True
    """

    rows: int
    weights: Sequence[int]
    total: int
    slope: int
    name: ClassVar[str] = "designed-unbiased"
    source: ClassVar[str] = "this project"
    unbiased: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        weights = whole_numbers("weights", self.weights)
        rows, total, slope = whole_numbers("rows, total and slope", [self.rows, self.total, self.slope])
        if not 3 <= len(weights) <= MOST_OUTPUTS or len(weights) % 2 == 0 or min(weights) < 1:
            raise InvalidParameter(f"weights must be an odd number of positive whole numbers, 3 to {MOST_OUTPUTS}")
        if rows % 2 or not 2 <= rows <= MOST_ROWS:
            raise InvalidParameter(f"rows must be an even number from 2 to {MOST_ROWS}")
        if slope < 1:
            raise InvalidParameter("slope must be positive: the mean has to grow with the value")
        if not sum(weights) <= total < sum(self.privacy.floor(weight) for weight in weights):
            raise InvalidParameter("total must be at least the sum of weights, and below e**epsilon times it")
        object.__setattr__(self, "weights", weights)
        _ = self.table  # built here, so that a slope no row can have is refused at once

    @cached_property
    def table(self) -> Table:
        """The channel: one row of weights for each grid value."""
        return Table([self._row(i) for i in range(self.rows + 1)])

    @cached_property
    def _gains(self) -> list[int]:
        return [self.privacy.floor(weight) - weight for weight in self.weights]

    @cached_property
    def _sums(self) -> tuple[list[int], list[int]]:
        """Running sums of the gains, and of the gains times their outputs."""
        moments = (gain * j for j, gain in enumerate(self._gains))
        return [0, *accumulate(self._gains)], [0, *accumulate(moments)]

    def _row(self, index: int) -> list[int]:
        """The stretch with the wanted mean, and a correction of less than one output's step."""
        middle = len(self.weights) // 2
        budget = self.total - sum(self.weights)
        wanted = (2 * index - self.rows) * self.slope // 2 + middle * self.total
        wanted -= sum(j * weight for j, weight in enumerate(self.weights))
        low, high = 0, self._sums[0][-1] - budget
        if not self._moment(low, budget) <= wanted <= self._moment(high, budget):
            raise InvalidParameter("slope is too large: no row within e**epsilon has such a mean")
        while high - low > 1:
            between = (low + high) // 2
            low, high = (between, high) if self._moment(between, budget) <= wanted else (low, between)
        start = high if self._moment(high, budget) <= wanted else low
        for begin in (start, min(start + 1, self._sums[0][-1] - budget)):
            extra = self._extra(begin, budget)
            # The mean is off by less than one unit of the stretch; moving units between neighbours makes it exact.
            if _moved(extra, self._gains, wanted - self._moment(begin, budget)):
                return [weight + more for weight, more in zip(self.weights, extra, strict=True)]
        raise InvalidParameter("weights are too coarse for an exact mean; multiply weights, total and slope by a large number")

    def _extra(self, start: int, budget: int) -> list[int]:
        """What every output gains when the units of gain from `start` on are taken."""
        return [max(min(end, start + budget) - max(begin, start), 0) for begin, end in pairwise(self._sums[0])]

    def _moment(self, start: int, budget: int) -> int:
        """The first moment of the gains between two running sums."""
        return self._upto(start + budget) - self._upto(start)

    def _upto(self, mass: int) -> int:
        """The first moment of the first `mass` units of gain."""
        sums, moments = self._sums
        low, high = 0, len(self._gains)
        while high - low > 1:
            between = (low + high) // 2
            low, high = (between, high) if sums[between] <= mass else (low, between)
        return moments[low] + (mass - sums[low]) * low

    @property
    def grid(self) -> Grid:
        """A fine lattice of points between the rows."""
        return points(self.rows * STEPS)

    def build(self) -> Interpolated:
        """The rows, entered between them."""
        return Interpolated(self.table, STEPS)

    @cached_property
    def reading(self) -> Affine:
        """Equally spaced numbers around the middle, with the step that makes the mean exact."""
        step = Fraction(self.total, self.rows * self.slope)
        return Affine(Fraction(1, 2) - len(self.weights) // 2 * step, step)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Three outputs, a few, and many."""
        yield cls(domain=Interval(0, 1), epsilon=1, rows=2, weights=[400, 100, 400], total=1600, slope=600)
        few = [5 << 20, 1 << 20, 2 << 20, 1 << 20, 5 << 20]
        yield cls(domain=Interval(-1, 3), epsilon=2, rows=8, weights=few, total=50 << 20, slope=12 << 20)
        yield cls(epsilon=4, rows=32, weights=[1 << 24] * 101, total=1 << 33, slope=1 << 34)


def _moved(extra: list[int], gains: list[int], units: int) -> bool:
    """Move units up by one output (down when negative), where there is room; False when there is none."""
    if units == 0:
        return True
    for j in range(len(extra) - 1):
        source, target = (j, j + 1) if units > 0 else (j + 1, j)
        if extra[source] >= abs(units) and gains[target] - extra[target] >= abs(units):
            extra[source] -= abs(units)
            extra[target] += abs(units)
            return True
    return False
