"""Reports when the collector asks for them, and never more of epsilon than one window allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.core.mechanisms.base import Mechanism
from deniable.core.randomness.coins import Coins
from deniable.core.streams.base import Loss, Output, Stream, checked_periods, outputs_of
from deniable.errors import InvalidParameter

MOST_PARTS = 256


@dataclass(frozen=True, init=False)
class WhenAsked(Stream):
    """The collector says in public how many of `parts` parts of epsilon a report may cost; the device keeps to its window.

    In each period the device is asked for 0 to `parts` parts, and draws a fresh report by `mechanism` at that share of epsilon.
    Where the last `window` periods would cost more than all parts, it stays silent, whatever the collector asks.
    Law: given what was asked (`asked`, over and over), the product of one channel per period.
    Loss: for what was asked, exactly the product of the channels' ratios; `promised` is the most that any way of asking can reach,
    also one that depends on the reports: epsilon in every window (w-event privacy).
    With one part this is what a device does under population division (LPU and LPA of LDP-IDS); with two for each period of the
    window, under budget division (LBU, LBA); `asked=(1, 0, …, 0)` is one report of everyone at the same time (LSP).
    Tracking: 0. Reports of one person are no more alike than those of two people with the same value.
    Source: Ren, Shi, Yu, Wang, Wu, Yao and Liu, "LDP-IDS: local differential privacy for infinite data streams", 2022.

    >>> from deniable.core import RandomizedResponse
    >>> month = WhenAsked(30, RandomizedResponse(epsilon=1), window=7, parts=14, asked=(1, 1, 5))
    >>> round(month.promised(7).level, 6), month.granted[:8]
    (1.0, (1, 1, 5, 1, 1, 5, 0, 1))
    """

    mechanism: Mechanism
    window_periods: int
    parts: int = 1
    asked: tuple[int, ...] = (1,)

    def __init__(self, periods: int, mechanism: Mechanism, *, window: int, parts: int = 1, asked: Sequence[int] = (1,)) -> None:
        checked_periods(periods)
        for name, number, most in (("window", window, periods), ("parts", parts, MOST_PARTS)):
            if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
                raise InvalidParameter(f"{name} must be a whole number from 1 to {most}")
        wanted = tuple(asked)
        if not wanted or not all(isinstance(one, int) and not isinstance(one, bool) and 0 <= one <= parts for one in wanted):
            raise InvalidParameter(f"asked must be whole numbers from 0 to {parts}, one for each period, over and over")
        named = {"periods": periods, "mechanism": mechanism, "window_periods": window, "parts": parts, "asked": wanted}
        for name, value in named.items():
            object.__setattr__(self, name, value)

    def at(self, parts: int) -> Mechanism:
        """The mechanism with so many parts of epsilon."""
        if parts not in self._levels:
            share = self.mechanism.privacy.exact * Fraction(parts, self.parts)
            self._levels[parts] = replace(self.mechanism, epsilon=share)
        return self._levels[parts]

    @cached_property
    def _levels(self) -> dict[int, Mechanism]:
        return {self.parts: self.mechanism}

    @property
    def values(self) -> int:
        return self.mechanism.channel.inputs

    def start(self, coins: Coins) -> dict[str, Any]:
        return {"asked": None, "given": []}

    def grant(self, memory: dict[str, Any], period: int) -> int:
        """How many parts the device gives: what is asked, or nothing where the window does not allow it."""
        wanted = self.asked[period % len(self.asked)] if memory["asked"] is None else memory["asked"]
        if isinstance(wanted, bool) or not isinstance(wanted, int) or not 0 <= wanted <= self.parts:
            raise InvalidParameter(f"a collector may ask for 0 to {self.parts} parts of epsilon")
        lately = sum(parts for when, parts in memory["given"] if when > period - self.window_periods)
        return wanted if lately + wanted <= self.parts else 0

    def report(self, memory: dict[str, Any], period: int, value: int, coins: Coins) -> Output:
        self.check(period, value)
        parts = self.grant(memory, period)
        recent = [[when, given] for when, given in memory["given"] if when > period - self.window_periods]
        memory["given"] = [*recent, [period, parts]] if parts else recent
        memory["asked"] = None
        return self.at(parts).channel.draw(value, coins) if parts else None

    @cached_property
    def granted(self) -> tuple[int, ...]:
        """What a device that is never offline gives in each period, for what is asked."""
        memory: dict[str, Any] = {"asked": None, "given": []}
        row = []
        for period in range(self.periods):
            parts = self.grant(memory, period)
            memory["given"] = [*memory["given"][-self.window_periods :], [period, parts]]
            row.append(parts)
        return tuple(row)

    def weight(self, values: Sequence[int], outputs: Sequence[Output]) -> int:
        weight = 1
        for parts, x, y in zip(self.granted, values, outputs, strict=True):
            if (y is None) != (parts == 0):
                return 0
            weight *= 1 if y is None else self.at(parts).channel.weight(x, y)
        return weight

    @property
    def total(self) -> int:
        return math.prod(self.at(parts).channel.total for parts in self.granted if parts)

    def shown(self, period: int) -> Sequence[Output]:
        parts = self.granted[period]
        return outputs_of(self.at(parts).channel) if parts else [None]

    def price(self, memory: dict[str, Any], period: int, value: int) -> Fraction:
        return self.mechanism.privacy.exact * Fraction(self.grant(memory, period), self.parts)

    def _ratio(self, parts: int) -> Fraction:
        ratio = self.at(parts).channel.max_ratio() if parts else Fraction(1)
        assert ratio is not None
        return ratio

    def lifetime(self) -> Loss:
        return self.window(self.periods)

    def window(self, width: int) -> Loss:
        """For what is asked: the costliest `width` periods in a row."""
        width = min(width, self.periods)
        ratios = [self._ratio(parts) for parts in self.granted]
        windows = (math.prod(ratios[begin : begin + width]) for begin in range(self.periods - width + 1))
        return Loss(Fraction(max(windows)), True)

    def promised(self, width: int) -> Loss:
        """Whatever is asked, also after looking at the reports: the parts of a window divided as badly as they can be.

        The device checks every window of its own width, so the worst is a choice of whole numbers whose sum is at most `parts`, in
        each window that fits beside another. Exact for widths up to that one.
        """
        width = min(width, self.periods)
        inside = min(width, self.window_periods)
        # The best product of at most n reports with so many parts in all, for n = 1, 2, 4, …: put together as n is in binary.
        best, several = [Fraction(1)] * (self.parts + 1), [self._ratio(parts) for parts in range(self.parts + 1)]
        while inside:
            best = _together(best, several) if inside & 1 else best
            several, inside = _together(several, several), inside >> 1
        return Loss(best[self.parts] ** -(-width // self.window_periods), width <= self.window_periods)

    def changing(self, changes: int) -> Loss:
        return self.lifetime()

    def tracking(self) -> Fraction:
        return Fraction(0)


def _together(first: Sequence[Fraction], second: Sequence[Fraction]) -> list[Fraction]:
    """The largest product of one of the first and one of the second, for every number of parts that they have together."""
    return [max(first[total - one] * second[one] for one in range(total + 1)) for total in range(len(first))]
