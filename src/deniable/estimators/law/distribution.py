"""Probabilities: of every output, of an interval, up to a threshold, and as a curve to draw."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from deniable.batch import Floats
from deniable.core import Mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators.law.law import Law
from deniable.estimators.law.rows import dense


class Density(NamedTuple):
    """Middles of equal bins in the domain's units, and the probability per unit in each of them."""

    values: Floats
    heights: Floats


def pmf(mechanism: Mechanism, value: Any) -> Floats:
    """The probability of every output 0, 1, …, when the private value is `value`.

    >>> from deniable.core import KaryRandomizedResponse, Categories
    >>> pmf(KaryRandomizedResponse(domain=Categories(3), epsilon=1), 2).round(3).tolist()
    [0.212, 0.212, 0.576]
    """
    probabilities: Floats = dense(mechanism.channel, np.array([mechanism.encode(value)]))[0]
    return probabilities


def cdf(mechanism: Mechanism, value: Any, threshold: Any) -> float:
    """Pr[decoded output <= threshold]."""
    law = Law(mechanism)
    if law.circular:
        raise NotSupported("directions have no order; use interval_probability(mechanism, value, low, high)")
    return float(law.up_to(law.place(value)[0], [law.exact(threshold)])[0])


def interval_probability(mechanism: Mechanism, value: Any, low: Any, high: Any) -> float:
    """Pr[low <= decoded output <= high]; on a circle from `low` forward to `high`, also across zero."""
    law = Law(mechanism)
    index = law.place(value)[0]
    bottom, top = law.exact(low), law.exact(high)
    if not law.circular:
        return _between(law, index, bottom, top)
    if abs(top - bottom) >= 1:
        return 1.0
    bottom, top = bottom % 1, top % 1
    probability = 0.0
    for turn in _turns(law):
        if bottom <= top:
            probability += _between(law, index, bottom + turn, top + turn)
        else:
            probability += _between(law, index, bottom + turn, Fraction(turn + 1), open_end=True)
            probability += _between(law, index, Fraction(turn), top + turn)
    return min(probability, 1.0)


def _turns(law: Law) -> range:
    """The whole turns that positions on a circle may lie beyond the first one."""
    places = [piece.start for piece in law.pieces] if law.is_short else [law.positions.min()]
    ends = [p.start + p.step * (p.end - p.begin - 1) for p in law.pieces] if law.is_short else [law.positions.max()]
    return range(math.floor(min(places)), math.floor(max(ends)) + 1)


def _between(law: Law, index: int, low: Fraction, high: Fraction, *, open_end: bool = False) -> float:
    if high < low:
        return 0.0
    upper = law.up_to(index, [high], strictly=open_end)[0]
    return float(max(upper - law.up_to(index, [low], strictly=True)[0], 0.0))


def density(mechanism: Mechanism, value: Any, points: int = 201) -> Density:
    """The law of the decoded output as `points` equal bins over everything it can be.

    Bins are no narrower than the outputs are apart. Outputs that gather many cells (clipped ends, two-point
    mechanisms) show as tall bins: the area under the curve is 1.
    """
    if isinstance(points, bool) or not isinstance(points, int) or points < 1:
        raise InvalidParameter("points must be a positive whole number")
    law = Law(mechanism)
    index = law.place(value)[0]
    low, high, count = _range(law)
    bins = min(points, count)
    if bins == 1 or low == high:
        return Density(np.array([law.value(float(low))]), np.array([1.0]))
    margin = (high - low) / (bins - 1) / 2 if bins == count else Fraction(0)
    low, high = low - margin, high + margin
    edges = [low + (high - low) * Fraction(i, bins) for i in range(bins + 1)]
    sums = law.up_to(index, edges[:-1], strictly=True)
    sums = np.append(sums, law.up_to(index, edges[-1:]))
    width = float(high - low) / bins
    middles = np.array([law.value(float((a + b) / 2)) for a, b in pairwise(edges)])
    return Density(middles, np.diff(sums) / (width * float(law.width)))


def _range(law: Law) -> tuple[Fraction, Fraction, int]:
    """The lowest and highest position and about how many different ones there are."""
    if law.circular:
        return Fraction(0), Fraction(1), law.channel.outputs
    if law.pieces is not None:
        starts = [piece.start for piece in law.pieces]
        ends = [piece.start + piece.step * (piece.end - piece.begin - 1) for piece in law.pieces]
        return min(starts), max(ends), sum(piece.end - piece.begin if piece.step else 1 for piece in law.pieces)
    return Fraction(law.positions.min()), Fraction(law.positions.max()), law.channel.outputs
