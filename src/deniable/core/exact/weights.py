"""Integer weights for two-level channels: as fine as the fast samplers allow, never above e**epsilon."""

from __future__ import annotations

import math

from deniable.core.exact.epsilon import Epsilon
from deniable.errors import InvalidParameter

TOTAL_BITS = 52
"""Row totals stay below 2**52 where they can: one 64-bit word draws them, and a double holds them."""

LEAST_BITS = 20
MOST_BITS = 40


def two_level_weights(members: int, outputs: int, epsilon: Epsilon) -> tuple[int, int]:
    """`(low, high)` with `low` a power of two and `high = floor(low * e**epsilon)`.

    `members` of the `outputs` get the high weight. The counts only matter up to a common factor,
    because a common factor is drawn separately.

    >>> low, high = two_level_weights(1, 2, Epsilon(1))
    >>> low, high == math.floor(low * math.e)
    (1099511627776, True)
    """
    if not 0 < members < outputs:
        raise InvalidParameter(f"the favoured set must be neither empty nor everything, got {members} of {outputs} outputs")
    common = math.gcd(members, outputs)
    members, outputs = members // common, outputs // common
    upper = epsilon.bounds()[1]
    total = outputs - members + members * math.ceil(upper)
    bits = min(MOST_BITS, TOTAL_BITS - total.bit_length())
    # A small epsilon needs fine weights: high - low must itself be known to about 20 bits.
    needed = LEAST_BITS + max(0, math.ceil(1 / epsilon.exact).bit_length() - 1)
    low = 1 << max(bits, needed)
    return low, epsilon.floor(low)


def even_weights(epsilon: Epsilon) -> tuple[int, int]:
    """`(low, high)` of a yes or no whose sum is even, so that a fair coin has a weight, too: the half of it.

    >>> low, high = even_weights(Epsilon(1))
    >>> (low + high) % 2, high <= math.e * low < high + 2
    (0, True)
    """
    low = 1 << MOST_BITS
    return low, epsilon.floor(low) & ~1
