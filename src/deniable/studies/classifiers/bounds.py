"""Valid lower bounds of rho from a box in which the answer does not change."""

from __future__ import annotations

from math import prod

import numpy as np

from deniable.errors import InvalidParameter, NotSupported
from deniable.studies.classifiers.law import OutputLaw, ProductLaw
from deniable.studies.classifiers.region import Box, SampleTest

SAME_PLACE = 1e-9


def box_bound(box: Box, law: ProductLaw) -> float:
    """A lower bound of rho: Pr[M in B] when the box is proved, and less what the tolerance may hide when it was tested.

    A test says that at most a share tau of the box's points, all counted alike, get another answer. The
    mechanism does not count them alike: the worst case puts its likeliest outputs there. So what is taken
    off is tau times the number of points times the largest probability of one.
    """
    if len(box.low) != len(law):
        raise InvalidParameter(f"the box has {len(box.low)} sensitive features and the law {len(law)}")
    inside = law.probability(box.low, box.high)
    if not isinstance(box.evidence, SampleTest):
        return inside
    points, peak = 1.0, 1.0
    for one, low, high, place in zip(law.laws, box.low, box.high, box.evidence.places, strict=True):
        count, top = inside_points(one, low, high, place)
        points, peak = points * count, peak * top
    return max(inside - box.evidence.tolerance * points * peak, 0.0)


def inside_points(law: OutputLaw, low: float, high: float, place: tuple[float, float, int]) -> tuple[int, float]:
    """How many outputs lie in [low, high] and the largest probability of one; they must be the points that were tested."""
    numbers, chances = law.atoms
    first, last = int(np.searchsorted(numbers, low, "left")), int(np.searchsorted(numbers, high, "right"))
    if first == last:
        return 0, 0.0
    tested_first, tested_last, count = place
    scale = SAME_PLACE * max(1.0, abs(tested_first), abs(tested_last))
    same = abs(numbers[first] - tested_first) <= scale and abs(numbers[last - 1] - tested_last) <= scale
    if last - first != count or not same:
        raise NotSupported(
            "the box was tested on another lattice than this mechanism answers on, so the test says nothing about it; "
            "search the box again with this mechanism's law"
        )
    return last - first, float(chances[first:last].max())


def density_bound(inside: float, tolerance: float, volume: float, highest: float) -> float:
    """The same for a mechanism with a density: Pr[M in B] - tau |B| sup pdf.

    >>> round(density_bound(0.8528482235, 0.01, 0.6, 2.718281828), 6)
    0.836539
    """
    return max(inside - tolerance * volume * highest, 0.0)


def printed_product(inside: float, tolerance: float) -> float:
    """Pr[M in B] (1 - tau), as published. NOT a valid bound: kept to compare with."""
    return inside * (1 - tolerance)


def needed_tolerance(target: float, inside: float, volume: float, highest: float) -> float:
    """The tolerance at which the valid bound still reaches a target; nothing helps when Pr[M in B] is below it."""
    if inside < target:
        raise InvalidParameter("target is above Pr[M in B]: no tolerance reaches it; a larger box or epsilon does")
    return (inside - target) / prod((volume, highest))
