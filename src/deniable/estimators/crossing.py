"""Where a bound that rises in steps passes a share: the outer end of where a quantile may be."""

from __future__ import annotations

from collections.abc import Callable

STEPS = 384
"""The ends of quantiles are looked for on so many steps from one end of the domain to the other."""
ROUGH = 0.06
"""How exactly, of its distance from the middle, an end of a quantile is looked for."""


def crossing_step(share: float, middle: float, side: Callable[[int], float], *, upper: bool) -> int:
    """The step at which a side of the band of shares up to a value passes a share.

    Straight lines between the two nearest known steps say where to look next, in turn with halves. An end that is far from
    the middle need not be known as exactly as a near one.
    """
    left, right, below, above = 0, STEPS, 0.0, 1.0
    number = min(max(round(middle), 1), STEPS - 1)
    for turn in range(STEPS):
        if right - left <= max(1, round(ROUGH * abs(middle - (left if upper else right)))):
            break
        bound = side(number)
        left, right, below, above = (left, number, below, bound) if bound >= share else (number, right, bound, above)
        part = (share - below) / (above - below) if above > below and turn % 2 == 0 else 0.5
        number = min(max(left + round(part * (right - left)), left + 1), right - 1)
    return left if upper else right
