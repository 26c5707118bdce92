"""Is an order of many people uniformly random? Statistics with known laws, at sizes where trying all orders is impossible."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deniable.privacy import goodness_of_fit

Order = Callable[[int], NDArray[np.int64]]
FALSE_ALARM = 1e-9
"""Of one statistic; some hundred of them are looked at, so that all together stay below 1e-6."""
BLOCKS = 8


def check_orders(order: Order, size: int, rounds: int) -> None:
    """Every place is taken from every block of people alike; neighbours, fixed places and parities are those of chance."""
    blocks = np.zeros((BLOCKS, BLOCKS))
    fixed = together = odd = 0
    ends = np.zeros((2, BLOCKS))
    for _ in range(rounds):
        drawn = np.asarray(order(size))
        assert sorted(drawn.tolist()) == list(range(size)), "somebody is missing or there twice"
        place, person = np.arange(size) * BLOCKS // size, drawn * BLOCKS // size
        np.add.at(blocks, (place, person), 1)
        fixed += int(np.count_nonzero(drawn == np.arange(size)))
        together += int(np.count_nonzero(np.abs(np.diff(drawn)) == 1))
        odd += _is_odd(drawn)
        ends[0, person[0]] += 1
        ends[1, person[-1]] += 1
    shares = [math.ceil((block + 1) * size / BLOCKS) - math.ceil(block * size / BLOCKS) for block in range(BLOCKS)]
    for row in (*blocks, *blocks.T, *ends):
        assert goodness_of_fit([int(count) for count in row], shares) > FALSE_ALARM, "places and people are not independent"
    assert _poisson_tail(fixed, rounds) > FALSE_ALARM, f"{fixed} people stayed where they were, in {rounds} orders"
    assert _poisson_tail(together, 2 * rounds * (1 - 1 / size)) > FALSE_ALARM, f"{together} neighbours stayed neighbours"
    assert goodness_of_fit([odd, rounds - odd], [1, 1]) > FALSE_ALARM, "orders of one parity are preferred"


def _is_odd(order: NDArray[np.int64]) -> bool:
    """Is the permutation odd? As many swaps as its size less its cycles."""
    seen = np.zeros(len(order), bool)
    cycles = 0
    for start in range(len(order)):
        if not seen[start]:
            cycles += 1
            place = start
            while not seen[place]:
                seen[place] = True
                place = int(order[place])
    return (len(order) - cycles) % 2 == 1


def _poisson_tail(count: int, mean: float) -> float:
    """An upper bound of the chance of a count as far from its mean (Chernoff); fixed places and neighbours are nearly Poisson."""
    if count == mean:
        return 1.0
    exponent = count - mean - (count * math.log(count / mean) if count else 0.0)
    return 2 * math.exp(exponent)


def fisher_yates(words: list[int], size: int) -> list[int]:
    """The reference: from the last place down, a uniform place by the top bits of word times places, biased words left out."""
    order = list(range(size))
    source = iter(words)
    for last in range(size - 1, 0, -1):
        places = last + 1
        while True:
            product = next(source) * places
            if product % 2**64 >= 2**64 % places:
                break
        other = product >> 64
        order[last], order[other] = order[other], order[last]
    return order
