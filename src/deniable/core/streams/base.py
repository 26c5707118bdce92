"""The contract of every stream."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, NamedTuple

from deniable.core.channels.base import Channel
from deniable.core.exact.exponential import log_float
from deniable.core.randomness.coins import Coins
from deniable.errors import InvalidParameter

Output = int | None
"""What a device sends in a period; None when it is silent."""
MOST_ENUMERATED = 300_000
"""Weights that are looked at one by one."""


class Loss(NamedTuple):
    """The largest ratio of probabilities; `exact` says whether some reports reach it. None when it is unbounded."""

    ratio: Fraction | None
    exact: bool

    @property
    def level(self) -> float:
        """ln of the ratio."""
        return float("inf") if self.ratio is None else log_float(self.ratio)


@dataclass(frozen=True)
class Stream(ABC):
    """What one person reports over `periods` periods, one of `values` values in each.

    Reports y_0 … y_{T-1} of the values x_0 … x_{T-1} have exactly the probability weight(x, y) / total. The memory that a device
    keeps from period to period is drawn by the same coins; losing it is drawing it again, which the law does not allow.
    """

    periods: int

    @property
    @abstractmethod
    def values(self) -> int:
        """How many values there are."""

    @abstractmethod
    def start(self, coins: Coins) -> dict[str, Any]:
        """What a device draws before it knows any value. Plain JSON, kept for life."""

    @abstractmethod
    def report(self, memory: dict[str, Any], period: int, value: int, coins: Coins) -> Output:
        """What is sent in a period. May add to the memory, which must be kept before anything is sent."""

    @abstractmethod
    def weight(self, values: Sequence[int], outputs: Sequence[Output]) -> int:
        """The integer weight of a whole row of reports for a whole row of values."""

    @property
    @abstractmethod
    def total(self) -> int:
        """The sum of the weights of all rows of reports."""

    @abstractmethod
    def shown(self, period: int) -> Sequence[Output]:
        """What may be sent in a period."""

    @abstractmethod
    def price(self, memory: dict[str, Any], period: int, value: int) -> Fraction:
        """What a report of this value adds to the epsilon already spent: 0 where it adds nothing."""

    @abstractmethod
    def lifetime(self) -> Loss:
        """Between any two rows of values."""

    @abstractmethod
    def window(self, width: int) -> Loss:
        """Between any two rows of values that differ in `width` neighbouring periods at the most."""

    @abstractmethod
    def changing(self, changes: int) -> Loss:
        """Between any two rows of values that change `changes` times each at the most."""

    @abstractmethod
    def tracking(self) -> Fraction:
        """How far two reports of one person are from those of two people with the same value: what an observer gains over guessing.

        The total variation between the two laws, for the worst value: 0 when reports cannot be linked by what they say, 1 when
        they always can.
        """

    def tracking_bound(self, reports: int) -> Fraction:
        """At most how far so many reports of one person are from those of as many people with the same value.

        0 for streams whose reports do not depend on each other; those that keep something say more.
        """
        return Fraction(0) if self.tracking() == 0 else Fraction(1)

    def check(self, period: int, value: int) -> None:
        """Refuse periods and values that the stream does not have."""
        if not 0 <= period < self.periods or not 0 <= value < self.values:
            raise InvalidParameter(f"the stream has the periods 0 to {self.periods - 1} and the values 0 to {self.values - 1}")

    def rows(self) -> Iterator[tuple[Output, ...]]:
        """Every row of reports."""
        return product(*(self.shown(period) for period in range(self.periods)))

    def few_rows(self, most: int) -> bool:
        """Are there at most so many rows of reports?"""
        count = 1
        for period in range(self.periods):
            count *= len(self.shown(period)) if count <= most else 1
        return count <= most


def checked_periods(periods: int, most: int = 1 << 20) -> None:
    """Refuse a number of periods that is not one."""
    if isinstance(periods, bool) or not isinstance(periods, int) or not 1 <= periods <= most:
        raise InvalidParameter(f"periods must be a whole number from 1 to {most}")


def power(ratio: Fraction | None, times: int) -> Fraction | None:
    """A ratio so many times; unbounded stays unbounded."""
    return Fraction(1) if times == 0 else None if ratio is None else ratio**times


def linked(joint: dict[tuple[int, int], Fraction], single: dict[int, Fraction]) -> Fraction:
    """Half of what two reports of one person differ from two independent ones."""
    pairs = ((first, second) for first in single for second in single)
    gaps = (abs(joint.get((first, second), Fraction(0)) - single[first] * single[second]) for first, second in pairs)
    return sum(gaps, Fraction(0)) / 2


def by_enumeration(stream: Stream, groups: Sequence[Sequence[Sequence[int]]]) -> Fraction | None:
    """The largest ratio between two rows of values of one group, over every row of reports: for short streams, and for checking."""
    everyone = {tuple(values) for group in groups for values in group}
    worst = Fraction(1)
    for outputs in stream.rows():
        weight = {values: stream.weight(values, outputs) for values in everyone}
        for group in groups:
            weights = [weight[tuple(values)] for values in group]
            most, least = max(weights), min(weights)
            if most and not least:
                return None
            if most * worst.denominator > worst.numerator * least:
                worst = Fraction(most, least)
    return worst


def rows_of_values(stream: Stream, changes: int | None = None) -> list[tuple[int, ...]]:
    """Every row of values, or those that change at most so many times."""
    rows = product(range(stream.values), repeat=stream.periods)
    return [row for row in rows if changes is None or sum(a != b for a, b in pairwise(row)) <= changes]


def rows_by_window(stream: Stream, width: int) -> list[list[tuple[int, ...]]]:
    """Rows of values in groups that differ in `width` neighbouring periods only."""
    groups: dict[tuple[int, tuple[int, ...]], list[tuple[int, ...]]] = {}
    for row in rows_of_values(stream):
        for begin in range(stream.periods - width + 1):
            groups.setdefault((begin, row[:begin] + row[begin + width :]), []).append(row)
    return list(groups.values())


def enumerable(stream: Stream) -> bool:
    """Are there few enough rows of values and of reports?"""
    values = int(stream.values**stream.periods) if stream.periods <= 64 else MOST_ENUMERATED + 1
    return values <= MOST_ENUMERATED and stream.few_rows(MOST_ENUMERATED // values)


def outputs_of(channel: Channel) -> Sequence[int]:
    """The outputs of a channel, where they are few enough to be listed."""
    return range(channel.outputs)
