"""The statistics themselves: tails are as small as they say, and faults are far below the threshold."""

from __future__ import annotations

from collections import Counter

from deniable.core import Table
from deniable.privacy import FixedCoins, binomial_tail, goodness_of_fit


def test_tail_probabilities_are_as_small_as_they_say() -> None:
    """Sound draws: about one tail in ten below 0.1, one in a hundred below 0.01, over 600 fixed samples."""
    weights = [50, 30, 10, 5, 3, 1, 1, 0]
    table = Table([weights])
    found = []
    for seed in range(600):
        coins = FixedCoins(seed)
        drawn = Counter(table.draw(0, coins) for _ in range(800))
        found.append(goodness_of_fit([drawn[output] for output in range(8)], weights))
    for level in (0.1, 0.01):
        assert binomial_tail(sum(tail < level for tail in found), len(found), level) > 1e-6
    assert min(found) > 1e-6


def test_wrong_weights_are_far_below_the_threshold() -> None:
    coins = FixedCoins(1)
    table = Table([[55, 45]])
    ones = sum(table.draw(0, coins) for _ in range(5000))
    assert goodness_of_fit([5000 - ones, ones], [1, 1]) < 1e-9 < goodness_of_fit([5000 - ones, ones], [55, 45])
