"""The best mechanism on a circle: a window, and nothing is better.

Averaging a mechanism over all rotations keeps epsilon and does not raise the worst error, so some best one is
rotation-invariant: its reference is even, and its rows favour an arc (proofs/circle-optimality.md).
"""

from __future__ import annotations

import math
import time
from fractions import Fraction

from deniable.core import Circle, CircularOGPM, CircularWindow, Epsilon, best_share
from deniable.errors import NotSupported
from deniable.estimators import worst_case
from deniable.planning.designs.answer import Answer
from deniable.planning.designs.problem import DistanceLoss


def design_circle(domain: Circle, loss: DistanceLoss, epsilon: Epsilon, objective: str) -> Answer:
    """The least worst-case (and, by symmetry, average) error on a circle."""
    begin = time.monotonic()
    if loss.exponent is None:
        raise NotSupported("on a circle the loss must be a power of the distance: 'absolute', 'squared' or 'power:K'")
    exponent = Fraction(loss.exponent)
    mechanism = CircularWindow(domain=domain, epsilon=epsilon, loss_exponent=exponent)
    published = CircularOGPM(domain=domain, epsilon=epsilon)
    farthest = float(domain.width) / 2
    return Answer(
        mechanism=mechanism,
        worst_case=worst_case(mechanism, loss.exponent).error,
        lower_bound=math.pow(best_share(epsilon, exponent) * farthest, loss.exponent) * (1 - 1e-12),
        published={"name": published.name, "worst_case": worst_case(published, loss.exponent).error},
        seconds=time.monotonic() - begin,
        method="closed form: the best arc is the best of all mechanisms",
        objective=f"{objective} {loss.name} error",
    )
