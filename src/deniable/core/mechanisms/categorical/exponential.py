"""The exponential mechanism: outputs by their public score (McSherry and Talwar, 2007)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.channels.table import Table, level_rows
from deniable.core.domains.categories import Categories
from deniable.core.exact.epsilon import EpsilonLike
from deniable.core.exact.exponential import exp_floor
from deniable.core.exact.numbers import Number, as_fraction, fits_a_double
from deniable.core.mechanisms.categorical_base import CategoricalMechanism
from deniable.errors import InvalidParameter

WEIGHT_BITS = 96
TOTAL_BITS = 100
MOST_SCORES = 1 << 20
DEEPEST = -40
"""An output more than 40 nats below a row's best counts as 40 below."""

SHRINKS = (Fraction(0), *(Fraction(1, 1 << bits) for bits in (60, 50, 40, 30, 20, 14, 10)))
FINENESS = 1 << 20
"""`calibrate="exact"` tries multiples of a millionth of the published scale, up to 64 times it."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Exponential(CategoricalMechanism):
    """Answer y for x with weight e**(epsilon * scores[x][y] / (2 * sensitivity)).

    Law: the weights are floored at 96 bits, every row is brought to the total 2**100, and the largest
    ratio is compared with e**epsilon exactly; a hair is taken off the scale where rounding needs it. An
    output less likely than e**-40 times its row's best is given that much, which costs no privacy.
    `scores` has one row per category and one column per output; left out, the truth scores 1 and
    everything else 0. `sensitivity` defaults to the table's own: how much any output's score can
    change with the input.
    Guarantee: epsilon-LDP. The exact level is often only half of epsilon, because the published factor 2
    pays for normalisers that may hardly move: see `certificate().epsilon_exact`. `calibrate="exact"`
    takes the largest scale whose exact level still fits, instead of the published one.
    Cost: one draw, log2(outputs) bits on the wire; building takes all inputs times all outputs.
    Source: McSherry and Talwar, "Mechanism design via differential privacy", 2007.

    >>> near = Exponential.distance(points=10, epsilon=1)
    >>> round(near.certificate().epsilon_exact, 6)
    0.5
    >>> round(Exponential.distance(points=10, epsilon=1, calibrate="exact").certificate().epsilon_exact, 5)
    1.0
    """

    scores: Sequence[Sequence[Number]] | None = None
    sensitivity: Number | None = None
    calibrate: str = "sensitivity"
    name: ClassVar[str] = "exponential"
    source: ClassVar[str] = "McSherry, Talwar 2007"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "scores", _table(self.scores, self.domain.size))
        if self.calibrate not in ("sensitivity", "exact"):
            raise InvalidParameter("calibrate must be 'sensitivity' (as published) or 'exact'")
        if self.table_sensitivity == 0:
            raise InvalidParameter("scores must depend on the input: every column of the table is constant")
        if not fits_a_double(1 / self.table_sensitivity):
            raise InvalidParameter("scores must differ between inputs by more than 1e-300 somewhere: scale them up")
        if self.sensitivity is not None:
            exact = as_fraction(self.sensitivity)
            if exact is None or exact <= 0:
                raise InvalidParameter("sensitivity must be a positive number, or None for the table's own")
            object.__setattr__(self, "sensitivity", exact)

    @classmethod
    def distance(
        cls,
        *,
        points: int,
        epsilon: EpsilonLike,
        domain: Categories | None = None,
        sensitivity: Number | None = None,
        calibrate: str = "sensitivity",
    ) -> Self:
        """The points 0, 1/points, …, 1 with the score -|x - y|: near answers are likelier."""
        if isinstance(points, bool) or not isinstance(points, int) or points < 1:
            raise InvalidParameter("points must be a whole number, at least 1")
        scores = [[Fraction(-abs(x - y), points) for y in range(points + 1)] for x in range(points + 1)]
        chosen = Categories(points + 1) if domain is None else domain
        return cls(domain=chosen, epsilon=epsilon, scores=scores, sensitivity=sensitivity, calibrate=calibrate)

    @cached_property
    def _rows(self) -> tuple[tuple[Fraction, ...], ...]:
        """Scores below each row's best: what a row's law depends on."""
        assert self.scores is not None
        rows = tuple(tuple(Fraction(score) for score in row) for row in self.scores)
        return tuple(tuple(score - best for score in row) for row, best in ((row, max(row)) for row in rows))

    @cached_property
    def table_sensitivity(self) -> Fraction:
        """The largest range of any column of the score table."""
        assert self.scores is not None
        return max(Fraction(max(column)) - Fraction(min(column)) for column in zip(*self.scores, strict=True))

    @property
    def scale(self) -> Fraction:
        """The published factor of the scores: epsilon / (2 sensitivity)."""
        sensitivity = self.table_sensitivity if self.sensitivity is None else Fraction(self.sensitivity)
        return self.privacy.exact / (2 * sensitivity)

    def build(self) -> Table:
        """The table of floored weights, certified."""
        if self.calibrate == "exact":
            return self._largest()
        for shrink in SHRINKS:
            table = self.weights_at(self.scale * (1 - shrink))
            if self._fits(table):
                return table
        raise InvalidParameter(
            "sensitivity is too small for these scores: the exact level exceeds epsilon; leave it out, or use calibrate='exact'"
        )

    def weights_at(self, scale: Fraction) -> Table:
        """The integer table for one factor of the scores."""
        # Clipping a score at a distance below its row's best does not raise the sensitivity: both move by
        # at most as much, so the larger of the two does too.
        known: dict[Fraction, int] = {}
        rows = []
        for row in self._rows:
            weights = []
            for score in row:
                if score not in known:
                    known[score] = exp_floor(1 << WEIGHT_BITS, max(scale * score, Fraction(DEEPEST)))
                weights.append(known[score])
            rows.append(weights)
        return level_rows(rows, 1 << TOTAL_BITS)

    def _fits(self, table: Table) -> bool:
        ratio = table.max_ratio()
        return ratio is not None and self.privacy.allows(ratio)

    def _largest(self) -> Table:
        """The largest scale that fits, by integers; doubles only say where to look."""
        unit = self.privacy.exact / (2 * self.table_sensitivity * FINENESS)
        low, high = FINENESS // 2, 64 * FINENESS
        while high - low > 1:
            middle = (low + high) // 2
            if self._level(float(unit * middle)) <= float(self.privacy):
                low = middle
            else:
                high = middle
        back = 1
        table = self.weights_at(unit * low)
        while not self._fits(table):
            low, back = max(low - back, 1), back * 2
            table = self.weights_at(unit * low)
        while low < 64 * FINENESS:
            finer = self.weights_at(unit * (low + 1))
            if not self._fits(finer):
                break
            low, table = low + 1, finer
        return table

    def _level(self, scale: float) -> float:
        """ln of the largest ratio at a scale, in doubles."""
        logs: list[list[float]] = []
        for row in self._floats:
            steps = [max(scale * score, DEEPEST) for score in row]
            mass = math.log(math.fsum(map(math.exp, steps)))
            logs.append([step - mass for step in steps])
        widest: float = max(max(column) - min(column) for column in zip(*logs, strict=True))
        return widest

    @cached_property
    def _floats(self) -> list[list[float]]:
        return [[float(score) for score in row] for row in self._rows]

    def decode(self, output: int) -> int | str:
        """The category itself when there is one output per category, else the output's number."""
        self.channel.check(0, output)
        return self.domain.decode(output) if self.channel.outputs == self.domain.size else output

    def __repr__(self) -> str:
        if self.domain.size <= 8:
            return super().__repr__()
        assert self.scores is not None
        return (
            f"Exponential(domain={self.domain!r}, epsilon={self.privacy}, "
            f"scores=… {self.domain.size} x {len(self.scores[0])}, sensitivity={self.sensitivity}, calibrate={self.calibrate!r})"
        )

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A tiny table, more outputs than inputs, names, and points on a line."""
        yield cls(domain=Categories(2), epsilon=1, scores=[[0, -1], ["-1/2", 0]])
        yield cls(domain=Categories(["a", "b", "c"]), epsilon=2, scores=[[3, 1, 0, 2], [0, 3, 1, 2], [1, 0, 3, 2]])
        yield cls(domain=Categories(5), epsilon=1, calibrate="exact")
        yield cls.distance(points=20, epsilon=4)


def _table(scores: Sequence[Sequence[Number]] | None, inputs: int) -> tuple[tuple[Fraction, ...], ...]:
    """The score table as exact numbers, one row per input."""
    if scores is None:
        if inputs * inputs > MOST_SCORES:
            raise InvalidParameter(f"domain: the table of scores has at most {MOST_SCORES} entries; use k-rr")
        return tuple(tuple(Fraction(int(x == y)) for y in range(inputs)) for x in range(inputs))
    if isinstance(scores, str) or any(isinstance(row, str) for row in scores):
        raise InvalidParameter("scores must be rows of numbers")
    if len(scores) != inputs:
        raise InvalidParameter(f"scores must have one row per category: {inputs}, got {len(scores)}")
    widths = {len(row) for row in scores}
    if len(widths) != 1 or not 2 <= min(widths) <= MOST_SCORES // inputs:
        raise InvalidParameter(f"scores must have rows of one length, at least 2, and at most {MOST_SCORES} entries in all")
    rows = []
    for row in scores:
        exact = [as_fraction(score) for score in row]
        if any(score is None or not fits_a_double(score) for score in exact):
            raise InvalidParameter("scores must be finite numbers below 1e300")
        rows.append(tuple(score for score in exact if score is not None))
    return tuple(rows)
