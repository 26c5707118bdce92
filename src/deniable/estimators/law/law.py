"""The law of what a mechanism's output is read as: everything numeric is computed from here."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import Any

import numpy as np

from deniable.batch import Floats, Integers
from deniable.core import Binary, Circle, Grid, Interval, Mechanism, Reading, as_fraction, points, ticks
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators.law.loss import LossFunction, distance, distance_sums
from deniable.estimators.law.positions import pieces, positions
from deniable.estimators.law.rows import MOST_OUTPUTS, Runs, dense, runs

CHUNK = 1 << 22
"""Numbers held at once when rows are written out."""


class Law:
    """Probabilities and positions of a mechanism that reports numbers.

    Positions run from 0 to 1 through the domain, so nothing is lost when the domain lies far from 0;
    only the last step returns to the domain's own units.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        reading = getattr(mechanism, "reading", None)
        domain = mechanism.domain
        if isinstance(domain, Binary):
            # A yes or no beside something else says how it is read.
            reading, self.grid = reading if isinstance(reading, Reading) else ticks(1), points(1)
            self.low, self.width = Fraction(0), Fraction(1)
        elif isinstance(domain, Interval | Circle) and isinstance(reading, Reading):
            grid: Grid = getattr(mechanism, "grid")  # noqa: B009 - every mechanism on an interval or a circle has one
            self.grid = grid
            self.low, self.width = domain.low, domain.width
        else:
            raise NotSupported(
                f"{type(mechanism).__name__} on {type(domain).__name__} does not report a single number, so it has no mean, error "
                "or cdf; use pmf(mechanism, value) or, for categories, support(mechanism)"
            )
        self.mechanism = mechanism
        self.channel = mechanism.channel
        self.reading: Reading = reading
        self.circular = isinstance(domain, Circle)

    def place(self, value: Any) -> tuple[int, Fraction]:
        """The channel's input of a value, and its exact position."""
        domain = self.mechanism.domain
        index = self.mechanism.encode(value)
        return index, domain.position(value) if isinstance(domain, Interval | Circle) else Fraction(index)

    def value(self, position: float) -> float:
        """A position in the domain's units."""
        return float(self.low) + float(self.width) * position

    def exact(self, threshold: Any) -> Fraction:
        """A threshold in the domain's units as an exact position.

        A double that is what some output is decoded as means that output, though its exact position may
        lie a rounding error beside it.
        """
        value = as_fraction(threshold)
        if value is None:
            raise InvalidParameter("a threshold must be a finite number")
        place = (value - self.low) / self.width
        same = [near for near in self._neighbours(place) if float(self.low + self.width * near) == float(value)]
        return same[0] if same else place

    def _neighbours(self, place: Fraction) -> list[Fraction]:
        """The outputs' positions that may be meant by a position."""
        if self.pieces is None:
            return [self.reading.position(int(np.abs(self.positions - float(place)).argmin()))]
        nearest = []
        for piece in self.pieces:
            steps = round((place - piece.start) / piece.step) if piece.step else 0
            nearest.append(piece.start + piece.step * min(max(steps, 0), piece.end - piece.begin - 1))
        return nearest

    @cached_property
    def pieces(self) -> Any:
        """The straight pieces of the reading, or None."""
        return pieces(self.reading, self.channel.outputs)

    @cached_property
    def positions(self) -> Floats:
        """The position of every output."""
        if self.channel.outputs > MOST_OUTPUTS:
            raise NotSupported(f"{self.channel.outputs} outputs are too many to write out; the most is {MOST_OUTPUTS}")
        return positions(self.reading, self.channel.outputs)

    @cached_property
    def is_short(self) -> bool:
        """Are rows a few stretches over straight pieces?"""
        return self.pieces is not None and runs(self.channel, np.zeros(1, dtype=np.int64)) is not None

    def progressions(self, indices: Integers) -> tuple[Floats, Floats, Floats, Floats]:
        """first, step, count and chance of equally spaced positions; one column per input."""
        stretches = runs(self.channel, indices)
        assert stretches is not None
        firsts, steps, counts, chances = [], [], [], []
        for piece in self.pieces:
            begin = np.maximum(stretches.starts, piece.begin)
            counts.append(np.maximum(np.minimum(stretches.stops, piece.end) - begin, 0).astype(np.float64))
            firsts.append(float(piece.start) + float(piece.step) * (begin - piece.begin))
            steps.append(np.full_like(firsts[-1], float(piece.step)))
            chances.append(stretches.chances)
        return np.concatenate(firsts), np.concatenate(steps), np.concatenate(counts), np.concatenate(chances)

    def power_errors(self, indices: Integers, at: Floats, exponent: float) -> Floats:
        """E |y - x|**exponent for inputs and the true positions they come from, in units of the domain's width."""
        if self.is_short:
            first, step, count, chance = self.progressions(indices)
            return np.asarray((chance * distance_sums(first - at, step, count, exponent, self.circular)).sum(axis=0))
        return self._by_chunks(indices, at, lambda rows, x: rows * distance(self.positions - x, self.circular) ** exponent)

    def function_errors(self, indices: Integers, at: Floats, loss: LossFunction) -> Floats:
        """E loss(y, x) for a function in the domain's own units."""
        place = self.positions % 1.0 if self.circular else self.positions
        values = float(self.low) + float(self.width) * place
        errors = []
        for index, x in zip(indices.tolist(), at.tolist(), strict=True):
            row = dense(self.channel, np.array([index]))[0]
            errors.append(float(row @ np.asarray(loss(values, self.value(x)), dtype=np.float64)))
        return np.array(errors)

    def moments(self, indices: Integers) -> tuple[Floats, Floats]:
        """Mean and variance of the position."""
        if self.is_short:
            first, step, count, chance = self.progressions(indices)
            middle = first + step * (count - 1) / 2
            mass = chance * count
            mean = (mass * middle).sum(axis=0)
            spread = step**2 * np.maximum(count**2 - 1, 0) / 12
            return mean, (mass * ((middle - mean) ** 2 + spread)).sum(axis=0)
        at = np.zeros(indices.size)
        mean = self._by_chunks(indices, at, lambda rows, x: rows * self.positions)
        return mean, self._by_chunks(indices, mean, lambda rows, m: rows * (self.positions - m) ** 2)

    def _by_chunks(self, indices: Integers, at: Floats, term: Any) -> Floats:
        size = max(1, CHUNK // self.channel.outputs)
        sums = [
            term(dense(self.channel, indices[i : i + size]), at[i : i + size, None]).sum(axis=1)
            for i in range(0, indices.size, size)
        ]
        return np.concatenate(sums)

    def up_to(self, index: int, thresholds: list[Fraction], *, strictly: bool = False) -> Floats:
        """Pr[position <= t] (or < t) for each exact threshold: outputs are counted, not approximated."""
        if self.is_short:
            stretches = runs(self.channel, np.array([index]))
            assert stretches is not None
            return np.array([self._counted(stretches, t, strictly) for t in thresholds])
        row = dense(self.channel, np.array([index]))[0]
        order = np.argsort(self.positions, kind="stable")
        sums = np.concatenate([[0.0], np.cumsum(row[order])])
        ranked = self.positions[order]
        side = "left" if strictly else "right"
        return np.array([sums[self._rank(ranked, order, t, side)] for t in thresholds])

    def _counted(self, stretches: Runs, threshold: Fraction, strictly: bool) -> float:
        total = 0.0
        for piece in self.pieces:
            if piece.step:
                steps = (threshold - piece.start) / piece.step
                count = ceil(steps) if strictly else floor(steps) + 1
            else:
                count = piece.end if piece.start < threshold or (piece.start == threshold and not strictly) else 0
            stop = min(max(piece.begin + count, piece.begin), piece.end)
            length = np.minimum(stretches.stops, stop) - np.maximum(stretches.starts, piece.begin)
            total += float((np.maximum(length, 0) * stretches.chances).sum())
        return total

    def _rank(self, ranked: Floats, order: Integers, threshold: Fraction, side: Any) -> int:
        """How many sorted positions lie below a threshold; doubles that tie with it are compared exactly."""
        real = float(threshold)
        margin = 1e-12 * max(1.0, abs(real))
        low = int(np.searchsorted(ranked, real - margin, "left"))
        high = int(np.searchsorted(ranked, real + margin, "right"))
        exact = [self.reading.position(int(output)) for output in order[low:high]]
        return low + sum(bool(place < threshold or (place == threshold and side == "right")) for place in exact)
