"""The least error at one value: within the windows of the dissertation, since over all mechanisms it is 0.

A mechanism that always reports x0 has no error there and tells nothing, so the question only makes sense within a
family. Here it is the constant band (dissertation, section 5.5): a window, slid inward at the ends, whose length
is best for x0.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction

from deniable.core import OGPM, Epsilon, Interval, Pieces, golden_section
from deniable.errors import NotSupported
from deniable.estimators import expected_error
from deniable.planning.designs.answer import Answer
from deniable.planning.designs.problem import DistanceLoss

FINEST = 1 << 30


def best_window_at(position: float, exponent: float, e: float) -> tuple[float, float]:
    """The window length with the least error at a position, and the density inside it.

    >>> length, density = best_window_at(0.2, 1, math.e)
    >>> round(density, 4)
    1.5459
    """
    length = golden_section(lambda length: window_error_at(position, length, exponent, e), 0.0, 1.0, 100)
    return length, e / (1 + (e - 1) * length)


def window_error_at(position: float, length: float, exponent: float, e: float) -> float:
    """The error at a position of a window slid inside [0, 1]."""
    start = min(max(position - length / 2, 0.0), 1 - length)

    def within(a: float, b: float) -> float:
        below, above = max(position - a, 0.0), max(b - position, 0.0)
        beyond = max(a - position, 0.0) ** (exponent + 1) + max(position - b, 0.0) ** (exponent + 1)
        return float(below ** (exponent + 1) + above ** (exponent + 1) - beyond) / (exponent + 1)

    return (within(0, 1) + (e - 1) * within(start, start + length)) / (1 + (e - 1) * length)


def design_at(domain: Interval, loss: DistanceLoss, epsilon: Epsilon, position: float) -> Answer:
    """The window with the least error at a position; the bound over all mechanisms is 0, and says so."""
    begin = time.monotonic()
    if loss.exponent is None:
        raise NotSupported("at a point the loss must be a power of the distance: 'absolute', 'squared' or 'power:K'")
    e = math.exp(float(epsilon))
    length, _ = best_window_at(position, loss.exponent, e)
    share = Fraction(min(max(round(length * FINEST), 1), FINEST - 1), FINEST)
    mechanism = Pieces(domain=domain, epsilon=epsilon, widths=[share], weights=[epsilon.bounds()[1], 1])
    published = OGPM(domain=domain, epsilon=epsilon)
    value = domain.clip(domain.real(Fraction(position)))
    return Answer(
        mechanism=mechanism,
        worst_case=expected_error(mechanism, value, loss.measured),
        lower_bound=0.0,
        published={"name": published.name, "worst_case": expected_error(published, value, loss.measured)},
        seconds=time.monotonic() - begin,
        method="best window for this value; over all mechanisms the least error is 0, by always reporting it",
        objective=f"{loss.name} error at {value:g}",
    )
