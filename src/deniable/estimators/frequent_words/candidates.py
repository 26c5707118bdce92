"""Prefixes that may be frequent: extended by a few bits, tested, and cut to the best."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.core import Text, Whole
from deniable.errors import OutOfDomain

Prefixes = NDArray[np.uint64]
WANTED = 0.75
"""A word is reported from this part of the wanted share on: halfway between the share itself and half of it."""


def extend(prefixes: Prefixes, bits: int) -> Prefixes:
    """Every prefix with every ending of so many bits, in ascending order.

    >>> extend(np.array([0, 2], np.uint64), 1).tolist()
    [0, 1, 4, 5]
    """
    moved = np.sort(prefixes) << np.uint64(bits)
    return (moved[:, None] | np.arange(1 << bits, dtype=np.uint64)).ravel()


def best(passed: NDArray[np.intp], scores: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """The places among `passed` with the largest scores, at most so many."""
    return passed[np.argsort(-scores[passed], kind="stable")[:most]]


def readable(domain: Text | Whole, words: Prefixes) -> tuple[list[Any], Prefixes]:
    """The words that are values of the domain: random bits are rarely a text."""
    values, good = [], []
    for word in words.tolist():
        try:
            values.append(domain.decode(word))
        except OutOfDomain:
            continue
        good.append(word)
    return values, np.array(good, np.uint64)
