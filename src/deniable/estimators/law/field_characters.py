"""The signs whose average says whether an output passes a category's checks (`core.Hadamard`).

For every element a of the field, (-1)**(lowest bit of a (r * y)) is a sign that depends on y by the parity of some of its bits.
Their average over all a is 1 where r * y = 0, and 0 elsewhere.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Integers
from deniable.core import Hadamard
from deniable.estimators.walsh_hadamard import walsh_hadamard


@lru_cache(maxsize=16)  # a tree asks for one at every level
def masks(sets: Hadamard) -> Integers:
    """The bits of y whose parity is the sign of category x and element a > 0: a row per category.

    >>> masks(Hadamard(3)).tolist()
    [[1], [2], [3]]
    """
    elements = 1 << sets.checks
    bits = [
        [sum((sets.times(sets.times(a, b), 1 << place) & 1) << place for place in range(sets.checks)) for b in range(elements)]
        for a in range(1, elements)
    ]
    table = np.array(bits, np.int64)
    rows = row_numbers(sets)
    masked = np.zeros((len(rows), elements - 1), np.int64)
    for place in range(sets.digits):
        digit = (rows >> (sets.checks * place)) & (elements - 1)
        masked |= table[:, digit].T << (sets.checks * place)
    return masked


def row_numbers(sets: Hadamard) -> Integers:
    """Every category's vector as a number: the numbers whose leading digit is 1."""
    numbers = []
    for place in range(sets.digits):
        start = 1 << (sets.checks * place)
        numbers.append(np.arange(start, 2 * start))
    return np.concatenate(numbers)[: sets.size]


def values_favouring(sets: Hadamard, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """For every output y, the sum of values[v] over the categories v whose checks it passes."""
    signed = np.zeros(sets.outputs)
    # No two signs of different categories are the same: two vectors with a leading 1 are no multiples of each other.
    signed[masks(sets)] = values[:, None]
    signed[0] = values.sum()
    return np.asarray(walsh_hadamard(signed) / (1 << sets.checks))
