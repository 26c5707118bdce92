"""How epsilon is divided between direction and distance: public numbers, the same on every machine."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from deniable.core.exact.epsilon import SMALLEST, Epsilon
from deniable.core.exact.numbers import Number, as_fraction
from deniable.errors import InvalidParameter

GRAIN = 1 << 40
"""The direction's epsilon is a multiple of 2**-40; the distance gets exactly the rest."""
PUBLISHED = Fraction("0.758546992994776844")
"""pi / (pi + 1), the published share of the direction."""
BEST_SHARES = (
    (2, "0.995"),
    (3, "0.99"),
    (4, "0.93"),
    (5, "0.83"),
    (6, "0.76"),
    (7, "0.715"),
    (8, "0.68"),
    (10, "0.64"),
    (12, "0.605"),
    (15, "0.585"),
)
"""The direction's share of epsilon with the least average error of walks on the unit square, for some epsilons.

Found by trying shares on 10**6 random places: `python benchmarks/trajectories.py --splits`. Near the best share the error is
flat, so the third digit is not meant. Below epsilon 3 nearly all should go to the direction.
"""


def split_parameter(split: Number | str) -> Fraction | str:
    """A split as it is kept: "auto", "published", or an exact share between 0 and 1."""
    if split in ("auto", "published"):
        return str(split)
    share = as_fraction(split)
    if share is None or not 0 < share < 1:
        raise InvalidParameter("split must be 'auto', 'published', or the direction's share of epsilon between 0 and 1")
    return share


def divided(epsilon: Epsilon, split: Fraction | str) -> tuple[Epsilon, Epsilon]:
    """The epsilons of direction and distance, which add up exactly."""
    if epsilon.exact < 64 * SMALLEST:
        raise InvalidParameter("epsilon must be at least 6.4e-8 to be divided between direction and distance")
    share = best_share_of_direction(epsilon) if split == "auto" else PUBLISHED if split == "published" else Fraction(split)
    least = 2 * SMALLEST
    first = min(max(Fraction(round(epsilon.exact * share * GRAIN), GRAIN), least), epsilon.exact - least)
    return Epsilon(first, allow_large=True), Epsilon(epsilon.exact - first, allow_large=True)


def best_share_of_direction(epsilon: Epsilon) -> Fraction:
    """The best share: linear between the known epsilons, constant beyond them.

    >>> float(best_share_of_direction(Epsilon(8))), float(best_share_of_direction(Epsilon(9)))
    (0.68, 0.66)
    """
    known = [(Fraction(at), Fraction(share)) for at, share in BEST_SHARES]
    if epsilon.exact <= known[0][0]:
        return known[0][1]
    for (start, share), (end, next_share) in pairwise(known):
        if epsilon.exact <= end:
            return share + (next_share - share) * (epsilon.exact - start) / (end - start)
    return known[-1][1]
