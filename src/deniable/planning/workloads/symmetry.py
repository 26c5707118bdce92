"""Permutations of the values that leave a workload and the spread of people as they are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from deniable.planning.workloads.rows import packed
from deniable.planning.workloads.workload import Gram, Spread

Permutations = NDArray[np.int64]
MOST_ELEMENTS = 4096


def generators(size: int, attributes: tuple[int, ...] | None) -> Iterator[tuple[int, ...]]:
    """Permutations worth trying: rotation, reflection; of records: rotated values, exchanged attributes."""
    places = np.arange(size)
    if attributes is not None:
        cells = places.reshape(attributes)
        for axis, count in enumerate(attributes):
            yield tuple(np.roll(cells, 1, axis=axis).ravel().tolist())
            for other in range(axis):
                if attributes[other] == count:
                    yield tuple(np.swapaxes(cells, axis, other).ravel().tolist())
        return
    yield tuple(np.roll(places, 1).tolist())
    yield tuple(places[::-1].tolist())


def group(workload: Gram, people: Spread, attributes: tuple[int, ...] | None) -> Permutations:
    """All permutations that the generators which change nothing make together, the identity first.

    The centred matrix decides: constants added to a question do not count.
    """
    centred, weights = workload.centred, np.array(people.weights, dtype=object)
    size = len(weights)
    kept = []
    for one in generators(size, attributes):
        order = list(one)
        if (centred[np.ix_(order, order)] == centred).all() and (weights[order] == weights).all():
            kept.append(one)
    identity = tuple(range(size))
    members, fresh = {identity: None}, [identity]
    while fresh:
        grown = []
        for member in fresh:
            for one in kept:
                image = tuple(member[x] for x in one)
                if image not in members:
                    members[image] = None
                    grown.append(image)
        if len(members) > MOST_ELEMENTS:
            return np.array([identity], np.int64)
        fresh = grown
    return np.array(list(members), np.int64)


def canonical(raised: NDArray[np.bool_], elements: Permutations) -> NDArray[np.bool_]:
    """One row for every orbit: that with the smallest number (of its first 62 values, and then the rest)."""
    return np.asarray(np.unique(representatives(raised, elements), axis=0), np.bool_)


def representatives(raised: NDArray[np.bool_], elements: Permutations) -> NDArray[np.bool_]:
    """For every row, in their order, that of its orbit with the smallest number."""
    best = raised.copy()
    for one in elements[1:]:
        image = raised[:, one]
        best = np.where(_before(image, best)[:, None], image, best)
    return best


def _before(left: NDArray[np.bool_], right: NDArray[np.bool_]) -> NDArray[np.bool_]:
    if left.shape[1] <= 62:
        return np.asarray(packed(left) < packed(right), np.bool_)
    first = (left != right).argmax(axis=1)
    places = np.arange(len(left))
    return np.asarray(right[places, first] & ~left[places, first], np.bool_)


def orbit(raised: NDArray[np.bool_], elements: Permutations) -> NDArray[np.bool_]:
    """All images of one row, each once."""
    return np.asarray(np.unique(raised[elements], axis=0), np.bool_)


def orbits_of_values(elements: Permutations) -> NDArray[np.int64]:
    """For every value the smallest value that it can become."""
    return np.asarray(elements.min(axis=0), np.int64)
