"""A yes or no that changes at most so often: its changes, summed up along a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

from deniable.core.exact.epsilon import Epsilon, EpsilonLike
from deniable.core.exact.weights import even_weights
from deniable.core.randomness.coins import Coins
from deniable.core.streams.base import (
    Loss,
    Output,
    Stream,
    by_enumeration,
    checked_periods,
    enumerable,
    rows_by_window,
    rows_of_values,
)
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class TreeOfChanges(Stream):
    """One of a person's changes, seen in stretches of 1, 2, 4, … periods; the length is drawn once, in public.

    There are as many lengths as fit into the periods; after the last whole stretch of its length a device is silent. A value
    begins at 0; its changes are +1 and -1, at most `changes` of them. The device draws a length 2**h and one number j of
    1 … changes, and keeps both. At the end of every stretch of that length it sends a sign: of the j-th change, when that lies in
    the stretch, with the odds e**epsilon, else a fair coin.
    Law: the mean over j of the product over stretches of high, low, or their average; times the share of the length.
    Loss: epsilon for people who change at most `changes` times, over their whole life, exactly: only one sign of the row speaks.
    People who change more often report their first `changes` changes; afterwards nothing is said about them.
    Tracking: 0 for people who do not change: all their signs are fair coins.
    What the device keeps names the last value, because only that tells a change: protect the file as the value itself.
    Source: Erlingsson, Feldman, Mironov, Raghunathan, Talwar and Thakurta, "Amplification by shuffling", 2019, section on
    longitudinal data, for boolean values.

    >>> month = TreeOfChanges(32, changes=3, epsilon=1)
    >>> round(month.lifetime().level, 6), month.tracking()
    (1.0, Fraction(0, 1))
    """

    changes: int
    epsilon: EpsilonLike

    def __post_init__(self) -> None:
        checked_periods(self.periods)
        if isinstance(self.changes, bool) or not isinstance(self.changes, int) or not 1 <= self.changes <= self.periods:
            raise InvalidParameter("changes must be a whole number from 1 to the number of periods")
        object.__setattr__(self, "epsilon", Epsilon(self.epsilon))

    @property
    def level(self) -> Epsilon:
        """epsilon, exactly."""
        assert isinstance(self.epsilon, Epsilon)
        return self.epsilon

    @cached_property
    def high(self) -> int:
        """The weight of the true sign beside `low`; their sum is even, so that a fair coin has a weight, too."""
        return even_weights(self.level)[1]

    @property
    def low(self) -> int:
        return even_weights(self.level)[0]

    @property
    def lengths(self) -> int:
        """How many lengths there are: 1, 2, 4, … up to all periods."""
        return self.periods.bit_length()

    @property
    def values(self) -> int:
        return 2

    def start(self, coins: Coins) -> dict[str, Any]:
        return {
            "length": 1 << coins.below(self.lengths),
            "number": coins.below(self.changes),
            "seen": 0,
            "before": 0,
            "sign": 0,
            "begun": False,
        }

    def report(self, memory: dict[str, Any], period: int, value: int, coins: Coins) -> Output:
        self.check(period, value)
        memory["begun"] = True
        change = value - memory["before"]
        if change:
            if memory["seen"] == memory["number"]:
                memory["sign"] = change
            memory["seen"] += 1
            memory["before"] = value
        drawn = coins.below(self.high + self.low)
        if (period + 1) % memory["length"]:
            return None
        sign, memory["sign"] = memory["sign"], 0
        plus = self.high if sign > 0 else self.low if sign < 0 else (self.high + self.low) // 2
        return int(drawn < plus)

    def weight(self, values: Sequence[int], outputs: Sequence[Output]) -> int:
        spoken = tuple(period for period, output in enumerate(outputs) if output is not None)
        length = spoken[0] + 1 if spoken else 0
        if not length or length & (length - 1) or spoken != tuple(range(length - 1, self.periods, length)):
            return 0
        places = [period for period in range(self.periods) if values[period] != (values[period - 1] if period else 0)]
        fair, every = (self.high + self.low) // 2, 0
        for number in range(self.changes):
            sign = fair
            if number < len(places):
                end = places[number] // length * length + length - 1
                if end < self.periods:
                    sign = self.high if outputs[end] == values[places[number]] else self.low
            every += sign
        every *= fair ** (len(spoken) - 1)
        return int(every * (2 * fair) ** (self.periods - len(spoken)))

    @property
    def total(self) -> int:
        return int(self.lengths * self.changes * (self.high + self.low) ** self.periods)

    def shown(self, period: int) -> Sequence[Output]:
        return (None, 0, 1)

    def rows(self) -> Iterator[tuple[Output, ...]]:
        """Those that a length can send: all others have weight 0."""
        for exponent in range(self.lengths):
            length = 1 << exponent
            yield from product(*((0, 1) if (period + 1) % length == 0 else (None,) for period in range(self.periods)))

    def few_rows(self, most: int) -> bool:
        return self.periods <= 64 and sum(2 ** (self.periods >> exponent) for exponent in range(self.lengths)) <= most

    def price(self, memory: dict[str, Any], period: int, value: int) -> Fraction:
        """Everything with the first report: the row as a whole costs epsilon."""
        return Fraction(0) if memory["begun"] else self.level.exact

    def lifetime(self) -> Loss:
        """At most one sign of a row speaks, for one row of values with `high` and for another with `low`."""
        if enumerable(self):
            return Loss(by_enumeration(self, [rows_of_values(self)]), True)
        # Attained where the changes of two rows of values fit side by side, one with all signs true, the other with none.
        return Loss(Fraction(self.high, self.low), 2 * self.changes <= self.periods)

    def window(self, width: int) -> Loss:
        if enumerable(self):
            return Loss(by_enumeration(self, rows_by_window(self, min(width, self.periods))), True)
        return Loss(Fraction(self.high, self.low), False)

    def changing(self, changes: int) -> Loss:
        if enumerable(self):
            return Loss(by_enumeration(self, [rows_of_values(self, changes)]), True)
        return Loss(Fraction(self.high, self.low), changes >= self.changes and 2 * self.changes <= self.periods)

    def tracking(self) -> Fraction:
        return Fraction(0)
