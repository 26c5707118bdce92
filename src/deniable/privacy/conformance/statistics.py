"""Do counts follow exact integer weights? Small numbers of false alarms, stated.

A check is alarmed when one of its m statistics has a nominal tail probability below 1e-9 / m. Binomial
tails are exact. Chi-square tails are approximate, with at least 25 expected in every cell; the three
orders of magnitude up to the promised false-alarm rate of 1e-6 per check are there for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from scipy import special

FALSE_ALARM = 1e-6
NOMINAL = 1e-9
LEAST_EXPECTED = 25.0


def binomial_tail(successes: int, trials: int, chance: Fraction | float) -> float:
    """The two-sided tail probability of a count, exactly binomial.

    >>> binomial_tail(50, 100, 0.5), binomial_tail(1, 100, 0)
    (1.0, 0.0)
    """
    p = float(chance)
    if p <= 0 or p >= 1:
        return 1.0 if successes == (trials if p >= 1 else 0) else 0.0
    below = float(special.bdtr(successes, trials, p))
    above = 1.0 if successes == 0 else float(special.bdtrc(successes - 1, trials, p))
    return min(1.0, 2 * min(below, above))


def goodness_of_fit(counts: Sequence[int], weights: Sequence[int]) -> float:
    """The tail probability of counts whose cells have chances proportional to integer weights.

    A count in a cell of weight 0 is impossible: 0. Cells are pooled, smallest first, until every one
    expects at least 25; what is left with two cells is tested as a binomial, exactly.

    >>> goodness_of_fit([50, 50, 0], [1, 1, 0]), goodness_of_fit([50, 49, 1], [1, 1, 0])
    (1.0, 0.0)
    """
    if len(counts) != len(weights):
        raise ValueError("there must be one count per weight")
    trials, total = sum(counts), sum(weights)
    if any(count and not weight for count, weight in zip(counts, weights, strict=True)):
        return 0.0
    pooled = _pool([(weight / total * trials, count) for count, weight in zip(counts, weights, strict=True) if weight])
    if len(pooled) < 2:
        return 1.0
    if len(pooled) == 2:
        return binomial_tail(pooled[0][1], trials, pooled[0][0] / trials)
    square = sum((count - expected) ** 2 / expected for expected, count in pooled)
    return float(special.chdtrc(len(pooled) - 1, square))


def _pool(cells: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """Merge the smallest cells until none expects less than 25."""
    pooled: list[tuple[float, int]] = []
    expected, count = 0.0, 0
    # By what is expected only: a pooling that looked at the counts would bend the statistic.
    for cell in sorted(cells, key=lambda cell: cell[0]):
        expected, count = expected + cell[0], count + cell[1]
        if expected >= LEAST_EXPECTED:
            pooled.append((expected, count))
            expected, count = 0.0, 0
    if expected:
        last = pooled.pop() if pooled else (0.0, 0)
        pooled.append((last[0] + expected, last[1] + count))
    return pooled


def alarms(tails: Sequence[tuple[str, float]]) -> list[str]:
    """The names of the statistics that are too unlikely to be chance, worst first."""
    unlikely = [(tail, name) for name, tail in tails if tail < NOMINAL / len(tails)]
    return [f"{name} (tail probability {tail:.1e})" for tail, name in sorted(unlikely)]
