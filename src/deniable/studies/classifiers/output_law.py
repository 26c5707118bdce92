"""The law of what a model sees: the probability of every number a mechanism may put in place of the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from deniable.batch import Floats, Integers
from deniable.core import Channel, Circle, Mechanism, as_fraction
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import MOST_OUTPUTS, Runs, dense, pieces, runs
from deniable.studies.classifiers.perturbation import Feature, Perturbation

READ_AT_ONCE = 1024
"""Up to so many outputs are read at once; more are searched."""
Seen = Callable[[Floats], Floats]
"""A non-decreasing function: what a model makes of a number before it compares it with a threshold."""


class OutputLaw:
    """The law of the number that replaces one private value.

    Outputs are read in a few stretches, in each of which the decoded numbers never fall; so the outputs
    up to a threshold are counted, with the decoder's own doubles, and their integer weights added.

    >>> from deniable.core import OGPM
    >>> law = OutputLaw(OGPM(epsilon=2), 0.5)
    >>> round(law.probability(0.2, 0.8), 4), law.mass(0.2, 0.8) < 1
    (0.8528, True)
    """

    def __init__(self, mechanism: Perturbation | Mechanism, value: Any) -> None:
        self.perturbation = mechanism if isinstance(mechanism, Perturbation) else Perturbation(mechanism)
        self.index = self.perturbation.index(value)
        self.channel: Channel = self.perturbation.mechanism.channel
        if self.channel.outputs > MOST_OUTPUTS and self._stretches is None:
            raise NotSupported(f"{self.channel.outputs} outputs are too many to write out; the most is {MOST_OUTPUTS}")

    @cached_property
    def _stretches(self) -> list[tuple[int, int]] | None:
        """Ranges of outputs whose numbers never fall, or None when they must be sorted."""
        reading = getattr(self.perturbation.mechanism, "reading", None)
        if reading is None:
            return [(0, self.channel.outputs)]
        straight = pieces(reading, self.channel.outputs)
        if straight is None:
            return None
        if isinstance(self.perturbation.mechanism.domain, Circle):
            ends = [(piece.start, piece.start + piece.step * (piece.end - piece.begin - 1)) for piece in straight]
            if any(not 0 <= place < 1 for pair in ends for place in pair):
                return None
        return [(piece.begin, piece.end) for piece in straight]

    @cached_property
    def _order(self) -> Integers | None:
        """Outputs sorted by their numbers, only when they are not in stretches."""
        if self._stretches is not None:
            return None
        return np.argsort(self.perturbation.decode(np.arange(self.channel.outputs)), kind="stable")

    def _decoded(self, ranks: Integers) -> Floats:
        return self.perturbation.decode(ranks if self._order is None else self._order[ranks])

    def counts(self, thresholds: Any, *, strictly: bool = False, seen: Seen | None = None) -> list[tuple[int, Integers]]:
        """For every stretch its first rank, and the first rank beyond each threshold.

        An output belongs to a threshold t when its number is <= t (or < t). `seen` is applied to the number
        first: pass a model's own arithmetic to get the model's own comparison.
        """
        limits = np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
        stretches = [(0, self.channel.outputs)] if self._stretches is None else self._stretches
        return [(begin, self._bisect(begin, end, limits, strictly, seen)) for begin, end in stretches]

    def _bisect(self, begin: int, end: int, limits: Floats, strictly: bool, seen: Seen | None) -> Integers:
        if end - begin <= READ_AT_ONCE:
            numbers = self._decoded(np.arange(begin, end))
            numbers = numbers if seen is None else seen(numbers)
            return begin + np.searchsorted(numbers, limits, side="left" if strictly else "right").astype(np.int64)
        low = np.full(limits.shape, begin, dtype=np.int64)
        high = np.full(limits.shape, end, dtype=np.int64)
        if seen is None:
            low, high = self._bracket(begin, end, limits, strictly)
        while bool((low < high).any()):
            middle = np.minimum((low + high) // 2, end - 1)
            numbers = self._decoded(middle)
            numbers = numbers if seen is None else seen(numbers)
            inside = (numbers < limits) if strictly else (numbers <= limits)
            inside &= low < high
            low, high = np.where(inside, middle + 1, low), np.where(inside, high, np.minimum(high, middle))
        return low

    def _bracket(self, begin: int, end: int, limits: Floats, strictly: bool) -> tuple[Integers, Integers]:
        """A few ranks around where equal steps put the threshold; everything where that guess fails."""
        ends = self._decoded(np.array([begin, end - 1]))
        step = (ends[1] - ends[0]) / (end - 1 - begin)
        whole = np.full(limits.shape, begin, dtype=np.int64), np.full(limits.shape, end, dtype=np.int64)
        if not step > 0:
            return whole
        guess = np.clip((limits - ends[0]) / step, -4.0, end - begin + 4.0)
        low = np.clip(begin + np.floor(guess).astype(np.int64) - 2, begin, end)
        high = np.clip(low + 5, begin, end)
        numbers = self._decoded(np.concatenate([np.maximum(low - 1, 0), np.minimum(high, self.channel.outputs - 1)]))
        below, above = numbers[: low.size], numbers[low.size :]
        fits_low = (low == begin) | ((below < limits) if strictly else (below <= limits))
        fits_high = (high == end) | ((above >= limits) if strictly else (above > limits))
        fits = fits_low & fits_high
        return np.where(fits, low, whole[0]), np.where(fits, high, whole[1])

    def up_to(self, thresholds: Any, *, strictly: bool = False, seen: Seen | None = None) -> Floats:
        """Pr[number <= t] (or < t) for an array of thresholds, in doubles."""
        chances = np.zeros(np.atleast_1d(np.asarray(thresholds)).shape)
        for begin, stops in self.counts(thresholds, strictly=strictly, seen=seen):
            chances += self.before(stops) - self.before(np.array([begin]))
        return np.clip(chances, 0.0, 1.0)

    def probability(self, low: Any, high: Any) -> float:
        """Pr[low <= number <= high], in doubles."""
        if not low <= high:
            return 0.0
        # Strictly below `low` is up to the number before it: both ends are looked up at once.
        below, above = self.up_to([np.nextafter(float(low), -np.inf), float(high)])
        return float(max(above - below, 0.0))

    def mass(self, low: Any, high: Any) -> Fraction:
        """Pr[low <= number <= high], exactly, from the integer weights."""
        bottom, top = as_fraction(low), as_fraction(high)
        if bottom is None or top is None:
            raise InvalidParameter("low and high must be finite numbers")
        if top < bottom:
            return Fraction(0)
        starts = self.counts([float(bottom)], strictly=True)
        stops = self.counts([float(top)])
        weight = sum(self._weight_between(int(start[0]), int(stop[0])) for (_, start), (_, stop) in zip(starts, stops, strict=True))
        return Fraction(weight, self.channel.total)

    def before(self, ranks: Integers) -> Floats:
        """The probability of the outputs before each rank."""
        if self._order is None and self.perturbation.profile_sums is not None:
            return self._shifted(self.perturbation.profile_sums, np.asarray(ranks))
        if self._runs is None or self._order is not None:
            return self._sums[ranks]
        starts, stops, chances = self._runs
        places = np.asarray(ranks)[..., None]
        lengths = np.clip(places - starts[:, 0], 0, np.maximum(stops[:, 0] - starts[:, 0], 0))
        covered: Floats = lengths @ chances[:, 0]
        return covered

    def _shifted(self, sums: Floats, ranks: Integers) -> Floats:
        """Noise is the same for every input: its running sums, moved to this one; what lies beyond counts to the ends."""
        shifted = sums[np.clip(ranks - self.index - self.perturbation.profile_start, 0, sums.size - 1)]
        return np.where(ranks <= 0, 0.0, np.where(ranks >= self.channel.outputs, 1.0, shifted))

    @cached_property
    def _runs(self) -> Runs | None:
        return runs(self.channel, np.array([self.index]))

    @cached_property
    def _row(self) -> Floats:
        """The probability of every output, by rank."""
        row: Floats = dense(self.channel, np.array([self.index]))[0]
        return row if self._order is None else row[self._order]

    @cached_property
    def _sums(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(self._row)])

    def _weight_between(self, start: int, stop: int) -> int:
        """The integer weight of the outputs between two ranks."""
        if self._order is None:
            with suppress(NotSupported):
                return self.channel.mass(self.index, start, stop)
        return self._weights[stop] - self._weights[start]

    @cached_property
    def _weights(self) -> list[int]:
        """Running sums of the integer weights, by rank: the slow and general way."""
        if self.channel.outputs > MOST_OUTPUTS:
            raise NotSupported(f"a row of {self.channel.outputs} exact weights is too long; use probability(low, high)")
        row = list(self.channel.row(self.index))
        ranked = row if self._order is None else [row[output] for output in self._order.tolist()]
        return [0, *accumulate(ranked)]

    @cached_property
    def atoms(self) -> tuple[Floats, Floats]:
        """Every different number, rising, and its probability."""
        numbers = self._decoded(np.arange(self.channel.outputs))
        chances = self._row
        if bool(np.any(numbers[1:] < numbers[:-1])):
            order = np.argsort(numbers, kind="stable")
            numbers, chances = numbers[order], chances[order]
        fresh = np.concatenate([[True], numbers[1:] > numbers[:-1]])
        if bool(fresh.all()):
            return numbers, chances
        return numbers[fresh], np.add.reduceat(chances, np.flatnonzero(fresh))

    def span(self) -> tuple[float, float]:
        """The least and the greatest number that can be seen."""
        if self._stretches is None:
            ends = self._decoded(np.array([0, self.channel.outputs - 1]))
        else:
            ends = self._decoded(np.array([end for begin, stop in self._stretches for end in (begin, stop - 1)]))
        return float(ends.min()), float(ends.max())


class ProductLaw:
    """Several sensitive features, perturbed independently.

    >>> from deniable.core import OGPM
    >>> law = OutputLaw(OGPM(epsilon=2), 0.5)
    >>> round(ProductLaw([law, law]).probability([0.2, 0.2], [0.8, 0.8]), 4)
    0.7274
    """

    def __init__(self, laws: Sequence[OutputLaw]) -> None:
        if not laws:
            raise InvalidParameter("laws must hold at least one sensitive feature")
        self.laws = tuple(laws)

    def __len__(self) -> int:
        return len(self.laws)

    def probability(self, lows: Sequence[Any], highs: Sequence[Any]) -> float:
        """The probability of a box, in doubles."""
        self._check(lows, highs)
        return prod(law.probability(low, high) for law, low, high in zip(self.laws, lows, highs, strict=True))

    def mass(self, lows: Sequence[Any], highs: Sequence[Any]) -> Fraction:
        """The probability of a box, exactly."""
        self._check(lows, highs)
        return prod((law.mass(low, high) for law, low, high in zip(self.laws, lows, highs, strict=True)), start=Fraction(1))

    def _check(self, lows: Sequence[Any], highs: Sequence[Any]) -> None:
        if len(lows) != len(self.laws) or len(highs) != len(self.laws):
            raise InvalidParameter(f"a box needs {len(self.laws)} lower and upper ends, one per sensitive feature")


def product_law(perturbations: Sequence[Perturbation | Mechanism], values: Sequence[Any]) -> ProductLaw:
    """The law of several features' numbers when these are the private values."""
    if len(perturbations) != len(values):
        raise InvalidParameter("there must be one private value per perturbed feature")
    return ProductLaw([OutputLaw(one, value) for one, value in zip(perturbations, values, strict=True)])


def concentration(name: str, epsilon: float, x: float, theta: float, *, feature: Feature | None = None, **parameters: Any) -> float:
    """Pr[|M(x) - x| <= theta] of the mechanism that runs, from its integer weights.

    >>> round(concentration("ogpm", 2, 0.5, 0.3), 4)
    0.8528
    """
    perturbation = (feature or Feature()).perturbed_by(name, epsilon, **parameters)
    return OutputLaw(perturbation, x).probability(x - theta, x + theta)
