"""Unequal privacy: a level for every pair of values instead of one for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, Self

from deniable.core.channels.base import Channel
from deniable.core.exact.epsilon import Epsilon, EpsilonLike
from deniable.core.exact.exponential import log_float
from deniable.core.exact.meaning import odds_factor
from deniable.core.exact.numbers import Number, as_fraction, as_index, show_fraction
from deniable.errors import InvalidEpsilon, InvalidParameter, NotSupported

MOST_VALUES = 512
MOST_WEIGHTS = 1 << 24
MOST_NAMED = 6

Levels = Sequence[Sequence[EpsilonLike | None]]


class ValuePair(NamedTuple):
    """Where a channel comes nearest to breaking a promise, or breaks it: output, value, other value, their ratio and the level."""

    output: int
    value: int
    other: int
    ratio: Fraction | None
    """None where the other value never gives the output."""
    level: Epsilon

    @property
    def holds(self) -> bool:
        """Is the ratio within the level, exactly?"""
        return self.ratio is not None and self.level.allows(self.ratio)


@dataclass(frozen=True)
class Privacy:
    """What reports promise for every ordered pair of values: P(report | x) <= e**levels[x][x'] · P(report | x').

    A report raises the odds of x against x' by that factor at most. None promises nothing: a report may show that the value is x.
    What follows by way of a third value counts: ε(x, z) <= ε(x, y) + ε(y, z).

    >>> illness = Privacy.sensitive(3, [0], 1)
    >>> print(illness.words(["ill", "well", "no answer"]))
    A report can raise the odds of ill against any other value by a factor of at most 2.72 (epsilon 1).
    Nothing is promised for well, no answer: a report may show that it is the value.
    >>> Privacy.metric([0, 1, 3], "1/2").level(0, 2)
    Epsilon(1.5)
    """

    levels: Levels

    def __post_init__(self) -> None:
        if isinstance(self.levels, str) or not isinstance(self.levels, Sequence) or not 2 <= len(self.levels) <= MOST_VALUES:
            raise InvalidParameter(f"levels must be a square table for 2 to {MOST_VALUES} values")
        rows = []
        for x, row in enumerate(self.levels):
            if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != len(self.levels):
                raise InvalidParameter("levels must be a square table: one row, and in it one level, for every value")
            rows.append(tuple(None if level is None or x == y else Epsilon(level) for y, level in enumerate(row)))
        if not any(level is not None for row in rows for level in row):
            raise InvalidEpsilon("levels must promise something for at least one pair of values")
        object.__setattr__(self, "levels", tuple(rows))

    @classmethod
    def uniform(cls, size: int, epsilon: EpsilonLike) -> Self:
        """The same level for all pairs: ordinary local differential privacy."""
        return cls._of(size, lambda x, y: Epsilon(epsilon))

    @classmethod
    def sensitive(cls, size: int, values: Iterable[int], epsilon: EpsilonLike) -> Self:
        """Some values are sensitive: nobody becomes surer of one of them; of the others nothing is promised (utility-optimised)."""
        chosen = _values(values, size)
        return cls._of(size, lambda x, y: Epsilon(epsilon) if x in chosen else None)

    @classmethod
    def discriminative(cls, epsilons: Sequence[EpsilonLike]) -> Self:
        """A level for every value; a pair has the smaller of its two (input-discriminative)."""
        each = [Epsilon(epsilon) for epsilon in epsilons]
        return cls._of(len(each), lambda x, y: min(each[x], each[y]))

    @classmethod
    def metric(cls, positions: Sequence[Number], epsilon: Number) -> Self:
        """`epsilon` for one unit of distance between positions on a line: near values look alike, distant ones less."""
        places = [as_fraction(position) for position in positions]
        unit = as_fraction(epsilon)
        if unit is None or unit <= 0 or any(place is None for place in places) or len(set(places)) != len(places):
            raise InvalidParameter("positions must be different finite numbers, and epsilon a positive one for a unit of distance")
        exact = [place for place in places if place is not None]
        return cls._of(len(exact), lambda x, y: Epsilon(unit * abs(exact[x] - exact[y]), allow_large=True))

    @classmethod
    def blocks(cls, groups: Sequence[Iterable[int]], epsilon: EpsilonLike) -> Self:
        """Values of one group are protected from one another; which group it is may be seen (context-aware)."""
        listed = [list(group) for group in groups]
        size = sum(map(len, listed))
        place = {value: number for number, group in enumerate(listed) for value in _values(group, size)}
        if len(place) != size:
            raise InvalidParameter(f"groups must hold each of the values 0 … {size - 1} once")
        return cls._of(size, lambda x, y: Epsilon(epsilon) if place[x] == place[y] else None)

    @classmethod
    def _of(cls, size: int, level: Callable[[int, int], Epsilon | None]) -> Self:
        if isinstance(size, bool) or not isinstance(size, int) or not 2 <= size <= MOST_VALUES:
            raise InvalidParameter(f"a promise is for 2 to {MOST_VALUES} values")
        return cls([[None if x == y else level(x, y) for y in range(size)] for x in range(size)])

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.levels)

    @cached_property
    def closed(self) -> tuple[tuple[Fraction | None, ...], ...]:
        """The exact levels with what follows by way of other values; 0 between a value and itself."""
        paths = [[Fraction(0) if x == y else _exact(level) for y, level in enumerate(row)] for x, row in enumerate(self.levels)]
        for middle in range(self.size):
            onward = paths[middle]
            for row in paths:
                first = row[middle]
                if first is None:
                    continue
                for y, second in enumerate(onward):
                    if second is not None and (row[y] is None or first + second < row[y]):  # type: ignore[operator]
                        row[y] = first + second
        return tuple(map(tuple, paths))

    def level(self, value: int, other: int) -> Epsilon | None:
        """How much surer of `value` against `other` a report can make anyone; None without a bound."""
        exact = self.closed[value][other]
        return None if exact is None or value == other else Epsilon(exact, allow_large=True)

    def required(self) -> list[Fraction | None]:
        """The levels of all pairs of different values, one after another."""
        return [level for x, row in enumerate(self.closed) for y, level in enumerate(row) if x != y]

    @property
    def everywhere(self) -> Epsilon | None:
        """The level that holds for all pairs; None where some pair has none."""
        exact = self.required()
        known = [level for level in exact if level is not None]
        return Epsilon(max(known), allow_large=True) if len(known) == len(exact) else None

    @property
    def largest(self) -> Epsilon:
        """The largest level that is promised."""
        return Epsilon(max(level for row in self.closed for level in row if level is not None), allow_large=True)

    def covers(self, other: Privacy) -> bool:
        """Is every promise of the other one kept by this one?"""
        pairs = zip(self.closed, other.closed, strict=True) if self.size == other.size else ()
        return self.size == other.size and all(
            theirs is None or (mine is not None and mine <= theirs)
            for row, wanted in pairs
            for mine, theirs in zip(row, wanted, strict=True)
        )

    def among(self, values: Sequence[int]) -> Privacy:
        """The promise for some of the values, in this order."""
        return Privacy([[self.level(x, y) for y in values] for x in values])

    def plus(self, other: Privacy) -> Privacy:
        """What two reports promise together: levels add up pair by pair."""
        if self.size != other.size:
            raise InvalidParameter("only promises about the same values can be added up")
        return Privacy(
            [
                [
                    None if x == y or mine is None or theirs is None else Epsilon(mine + theirs, allow_large=True)
                    for y, (mine, theirs) in enumerate(zip(row, more, strict=True))
                ]
                for x, (row, more) in enumerate(zip(self.closed, other.closed, strict=True))
            ]
        )

    def nearest(self, channel: Channel) -> ValuePair:
        """The output and pair of values that come nearest to breaking the promise, or break it most. Decided by integers."""
        if channel.inputs != self.size:
            raise InvalidParameter(f"the promise is about {self.size} values, the channel has {channel.inputs}")
        if channel.inputs * channel.inputs * channel.outputs > MOST_WEIGHTS:
            raise NotSupported("the channel has too many outputs to look at every pair of values")
        rows = [list(channel.row(x)) for x in range(self.size)]
        worst: tuple[float, ValuePair] | None = None
        for x, row in enumerate(rows):
            for y, other in enumerate(rows):
                level = self.level(x, y)
                if level is None:
                    continue
                pair = _steepest(row, other, x, y, level)
                over = float("inf") if pair.ratio is None else log_float(pair.ratio) - float(level)
                # Floats choose which pair is shown; one that breaks its promise is never passed over.
                if worst is None or (pair.holds, -over) < (worst[1].holds, -worst[0]):
                    worst = over, pair
        assert worst is not None
        return worst[1]

    def holds(self, channel: Channel) -> bool:
        """Does the channel keep every promise, exactly?"""
        return self.nearest(channel).holds

    def words(self, labels: Sequence[object] | None = None) -> str:
        """What is promised for which pairs, one sentence a line."""
        names = [str(label) for label in (range(self.size) if labels is None else labels)]
        alike: dict[Fraction, list[str]] = {}
        pairs: dict[Fraction, list[str]] = {}
        open_, unbounded = [], []
        for x, row in enumerate(self.closed):
            others = {level for y, level in enumerate(row) if y != x}
            if others == {None}:
                open_.append(names[x])
            elif len(others) == 1:
                alike.setdefault(next(level for level in others if level is not None), []).append(names[x])
            else:
                for y, level in enumerate(row):
                    if level is None:
                        unbounded.append(f"{names[x]} against {names[y]}")
                    elif y != x:
                        pairs.setdefault(level, []).append(f"{names[x]} against {names[y]}")
        lines = [_promise(f"{_named(some)} against any other value", level) for level, some in sorted(alike.items())]
        lines += [_promise(_named(some), level) for level, some in sorted(pairs.items())]
        if unbounded:
            lines.append(f"Nothing is promised for {_named(unbounded)}.")
        if open_:
            lines.append(f"Nothing is promised for {_named(open_)}: a report may show that it is the value.")
        return "\n".join(lines)

    def written(self) -> list[list[str | None]]:
        """The table as plain values, for JSON."""
        return [[None if level is None else str(_exact(level)) for level in row] for row in self.levels]

    def __repr__(self) -> str:
        if self.size <= MOST_NAMED:
            return f"Privacy({self.levels!r})"
        shown = self.everywhere
        return f"Privacy(<{self.size} values, {'some pairs without a level' if shown is None else f'at most {shown}'}> …)"


def _exact(level: EpsilonLike | None) -> Fraction | None:
    assert level is None or isinstance(level, Epsilon)
    return None if level is None else level.exact


def _values(values: Iterable[int], size: int) -> set[int]:
    numbers = [as_index(value) for value in values]
    whole = {number for number in numbers if number is not None and 0 <= number < size}
    if not whole or len(whole) != len(numbers):
        raise InvalidParameter(f"values must be numbers of categories from 0 to {size - 1}, each once")
    return whole


def _steepest(row: Sequence[int], other: Sequence[int], x: int, y: int, level: Epsilon) -> ValuePair:
    top, bottom, place = 0, 1, 0
    for output, (mine, theirs) in enumerate(zip(row, other, strict=True)):
        if theirs == 0 < mine:
            return ValuePair(output, x, y, None, level)
        # Cross-multiplied: no fraction has to be reduced.
        if mine * bottom > top * theirs:
            top, bottom, place = mine, theirs, output
    return ValuePair(place, x, y, Fraction(top, bottom), level)


def _promise(pairs: str, level: Fraction) -> str:
    return f"A report can raise the odds of {pairs} by a factor of {odds_factor(level)} (epsilon {show_fraction(level)})."


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_NAMED])
    return shown if len(names) <= MOST_NAMED else f"{shown} and {len(names) - MOST_NAMED} more"
