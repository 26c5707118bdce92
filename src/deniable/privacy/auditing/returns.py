"""Values that should never come back, and do: twin workers that draw the same randomness, and pools of random words.

Independent reports of one input can be put into any order without changing their law. So where a value comes exactly
twice, its two places are a random pair: near each other no more often than pairs are, in one run as often as across
two, and not in the order of other pairs. How often values come back does not matter.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

NEAR = (1 / 256, 1 / 32, 1 / 8, 1 / 2)
"""How near is near: shares of a run."""
RETURNS = "values that"
Result = tuple[float, float, str]


def returns(values: NDArray[Any], where: str) -> Result:
    """Do values that come exactly twice come back soon? The log of the chance, the share that does, and a label."""
    pairs = _twice(values)
    if not len(pairs):
        return 0.0, 0.0, "nothing"
    n, distances = len(values), pairs[:, 1] - pairs[:, 0]
    best: Result = (0.0, 0.0, "nothing")
    for share in NEAR:
        reach = max(1, int(share * n))
        near = float((distances <= reach).mean())
        expected = (2 * n - reach - 1) * reach / (n * (n - 1))
        best = min(best, (_tail(near, expected, len(pairs)), near, f"{where}: {RETURNS} come back within {reach} reports"))
    return min(best, _replayed(pairs, where))


def _replayed(pairs: NDArray[np.intp], where: str) -> Result:
    """Do values come back in the order in which they came? Of two values, by chance two times in three.

    The pairs are in the order of their values, which has nothing to do with their places; each is used once.
    """
    one, two = pairs[: len(pairs) // 2 * 2 : 2], pairs[1::2]
    if not len(two):
        return 0.0, 0.0, "nothing"
    same = float(((one[:, 0] < two[:, 0]) == (one[:, 1] < two[:, 1])).mean())
    return _tail(same, 2 / 3, len(two)), same, f"{where}: {RETURNS} come back in the same order"


def shared(first: NDArray[Any], second: NDArray[Any], where: str) -> Result:
    """Do values that come exactly twice come once in each of two runs? By chance half of them do."""
    pairs = _twice(np.concatenate([first, second]))
    if not len(pairs):
        return 0.0, 0.0, "nothing"
    apart = float(((pairs[:, 0] < len(first)) & (pairs[:, 1] >= len(first))).mean())
    n, m = len(first), len(second)
    expected = 2 * n * m / ((n + m) * (n + m - 1))
    both = _tail(apart, expected, len(pairs)), apart, f"{where}: {RETURNS} are in both"
    return min(both, _replayed(pairs, where))


def _twice(values: NDArray[Any]) -> NDArray[np.intp]:
    """The places of values that come exactly twice, smaller place first."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    order = np.argsort(codes.ravel(), kind="stable")
    starts = (np.cumsum(counts) - counts)[counts == 2]
    return np.stack([order[starts], order[starts + 1]], axis=1)


def _tail(share: float, expected: float, count: int) -> float:
    """The log of a bound (Hoeffding) of the chance of so large a share.

    The pairs are drawn without replacement from the places of a run. That keeps them from crowding together, so the
    bound for independent pairs is used.
    """
    if share <= expected or expected <= 0:
        return 0.0
    if share >= 1:
        return count * math.log(expected)
    return -count * (share * math.log(share / expected) + (1 - share) * math.log((1 - share) / (1 - expected)))
