"""Two levels on top of a reference weight: the general form of an optimal mechanism on an interval."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from deniable.core.channels.base import Channel
from deniable.core.exact.epsilon import Epsilon
from deniable.core.randomness.coins import Coins
from deniable.errors import InvalidParameter


class Row(NamedTuple):
    """Outputs start … end-1 weigh high; `edge`, next to them, weighs `rest`; the others weigh low."""

    start: int
    end: int
    edge: int
    rest: int


@dataclass(frozen=True)
class Reference(Channel):
    """Output y weighs low[y], or high[y] <= e**epsilon * low[y] when it is near the input.

    Outputs and inputs lie on a line (`output_at`, `input_at`: growing integers). Each input takes its
    nearest outputs, as many as make every row sum to `total`; the last of them is taken in part.

    >>> channel = Reference(low=[2, 1, 1, 2], high=[4, 2, 2, 4], output_at=[0, 1, 3, 4], input_at=[1, 3], total=9)
    >>> list(channel.row(0)), list(channel.row(1))
    ([4, 2, 1, 2], [2, 1, 2, 4])
    """

    low: Sequence[int]
    high: Sequence[int]
    output_at: Sequence[int]
    input_at: Sequence[int]
    total: int

    def __post_init__(self) -> None:
        for name in ("low", "high", "output_at", "input_at"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not len(self.low) == len(self.high) == len(self.output_at) > 1:
            raise InvalidParameter("a reference channel needs one low, one high weight and one place per output")
        if any(not 0 < low <= high for low, high in zip(self.low, self.high, strict=True)):
            raise InvalidParameter("reference weights must satisfy 0 < low <= high")
        for places in (self.output_at, self.input_at):
            if any(a >= b for a, b in pairwise(places)):
                raise InvalidParameter("the places of inputs and outputs must increase")
        if not sum(self.low) <= self.total < sum(self.high):
            raise InvalidParameter("the total must lie between the sums of the low and of the high weights")

    @classmethod
    def at(cls, low: Sequence[int], epsilon: Epsilon, output_at: Sequence[int], input_at: Sequence[int], total: int) -> Reference:
        """The channel on these reference weights with the largest high weights epsilon allows."""
        memo: dict[int, int] = {}
        high = [memo[w] if w in memo else memo.setdefault(w, epsilon.floor(w)) for w in low]
        return cls(low, high, output_at, input_at, total)

    @property
    def inputs(self) -> int:
        return len(self.input_at)

    @property
    def outputs(self) -> int:
        return len(self.output_at)

    @cached_property
    def low_sums(self) -> list[int]:
        """Running sums of the low weights, from 0."""
        return [0, *accumulate(self.low)]

    @cached_property
    def gain_sums(self) -> list[int]:
        """Running sums of what outputs gain when they are favoured, from 0."""
        return [0, *accumulate(high - low for low, high in zip(self.low, self.high, strict=True))]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Every input's favoured stretch: nearest outputs first, until the total is reached."""
        budget = self.total - self.low_sums[-1]
        return tuple(self._row(place, budget) for place in self.input_at)

    def _row(self, place: int, budget: int) -> Row:
        start, end = self._within(place, self._radius(place, budget))
        left = budget - (self.gain_sums[end] - self.gain_sums[start])
        # What remains is smaller than the gain of the next outputs at equal distance (one or two of them).
        while True:
            before = place - self.output_at[start - 1] if start > 0 else None
            after = self.output_at[end] - place if end < self.outputs else None
            go_left = after is None or (before is not None and before <= after)
            edge = start - 1 if go_left else end
            gain = self.high[edge] - self.low[edge]
            if gain > left:
                return Row(start, end, edge, self.low[edge] + left)
            left -= gain
            start, end = (edge, end) if go_left else (start, edge + 1)

    def _within(self, place: int, radius: int) -> tuple[int, int]:
        """The outputs no farther than `radius` from a place (none for a negative radius)."""
        if radius < 0:
            middle = bisect_right(self.output_at, place)
            return middle, middle
        return bisect_right(self.output_at, place - radius - 1), bisect_right(self.output_at, place + radius)

    def _radius(self, place: int, budget: int) -> int:
        """The largest radius whose outputs all fit into the budget; -1 when not even the nearest fits."""
        low, high = -1, self.output_at[-1] - self.output_at[0] + abs(place) + 1
        while high - low > 1:
            middle = (low + high) // 2
            start, end = self._within(place, middle)
            low, high = (middle, high) if self.gain_sums[end] - self.gain_sums[start] <= budget else (low, middle)
        return low

    def cumulative(self, index: int, output: int) -> int:
        """The weight of all outputs before this one."""
        row = self.rows[index]
        gain = self.gain_sums[min(max(output, row.start), row.end)] - self.gain_sums[row.start]
        return self.low_sums[output] + gain + (output > row.edge) * (row.rest - self.low[row.edge])

    def mass(self, index: int, start: int, stop: int) -> int:
        return self.cumulative(index, stop) - self.cumulative(index, start)

    def draw(self, index: int, coins: Coins) -> int:
        """Binary search of the drawn integer among the running sums."""
        drawn = coins.below(self.total)
        low, high = 0, self.outputs
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.cumulative(index, middle) <= drawn else (low, middle)
        return low

    def weight(self, index: int, output: int) -> int:
        """High in the stretch, the rest at its edge, low elsewhere."""
        row = self.rows[index]
        if row.start <= output < row.end:
            return self.high[output]
        return row.rest if output == row.edge else self.low[output]

    @cached_property
    def _ratio(self) -> Fraction:
        favoured = [0] * (self.outputs + 1)
        edges: dict[int, list[int]] = {}
        for row in self.rows:
            favoured[row.start] += 1
            favoured[row.end] -= 1
            edges.setdefault(row.edge, []).append(row.rest)
        worst = Fraction(1)
        for output, count in enumerate(accumulate(favoured[:-1])):
            rests = edges.get(output, [])
            seen = rests + ([self.high[output]] if count else [])
            seen += [self.low[output]] if count + len(rests) < self.inputs else []
            if max(seen) * worst.denominator > worst.numerator * min(seen):
                worst = Fraction(max(seen), min(seen))
        return worst

    def max_ratio(self) -> Fraction:
        """Exactly, from the weights each output takes over all inputs."""
        return self._ratio

    def compiled(self) -> dict[str, Any]:
        return {
            "kind": "reference",
            "low": list(self.low),
            "high": list(self.high),
            "output_at": list(self.output_at),
            "input_at": list(self.input_at),
            "total": self.total,
        }
