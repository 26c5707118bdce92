"""Sets of at most so many numbers, one after the other: by size, then in the order of their binary numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence


def count_up_to(size: int, most: int) -> int:
    """How many sets of at most `most` out of `size` numbers there are, the empty one included."""
    return sum(math.comb(size, chosen) for chosen in range(most + 1))


def rank_of(members: Sequence[int]) -> int:
    """The place of a set, given in growing order, among all sets of as many numbers.

    >>> rank_of([0, 1]), rank_of([0, 2]), rank_of([1, 2]), rank_of([0, 3])
    (0, 1, 2, 3)
    """
    return sum(math.comb(member, place) for place, member in enumerate(members, start=1))


def members_of(rank: int, size: int, chosen: int) -> list[int]:
    """The set of `chosen` out of `size` numbers at this place, in growing order.

    >>> members_of(3, 4, 2)
    [0, 3]
    """
    members = []
    above = size
    for place in range(chosen, 0, -1):
        low, high = place - 1, above - 1
        while low < high:  # the largest number whose binomial is not beyond the rank
            middle = (low + high + 1) // 2
            if math.comb(middle, place) <= rank:
                low = middle
            else:
                high = middle - 1
        members.append(low)
        rank -= math.comb(low, place)
        above = low
    return members[::-1]
