"""Tables of several fields taken apart: what every set of fields says beyond its smaller sets.

The interaction of the fields T is their table, centred along each of them: its sum over any field is 0. A table of the fields m
is the sum of the interactions of all T within m, each spread evenly over the other fields of m. Fields are places in a
record; tables are arrays with one axis for each, in their order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations

import numpy as np

from deniable.batch import Floats

Fields = tuple[int, ...]


def subsets(fields: Sequence[int]) -> Iterator[Fields]:
    """All sets of these fields but the empty one, the smaller ones first.

    >>> list(subsets([0, 2]))
    [(0,), (2,), (0, 2)]
    """
    return chain.from_iterable(combinations(fields, count) for count in range(1, len(fields) + 1))


def interaction(tables: Floats, fields: Fields, wanted: Fields) -> Floats:
    """The interaction of the wanted fields in tables of more fields; axes before the last ones number the tables.

    >>> interaction(np.array([[0.5, 0.2], [0.1, 0.2]]), (0, 1), (0,)).round(9).tolist()
    [0.2, -0.2]
    """
    first = tables.ndim - len(fields)
    others = tuple(first + axis for axis, field in enumerate(fields) if field not in wanted)
    summed = tables.sum(axis=others)
    for axis in range(first, summed.ndim):
        summed = summed - summed.mean(axis=axis, keepdims=True)
    return np.asarray(summed, np.float64)


def spread(tables: Floats, wanted: Fields, fields: Fields, sizes: Sequence[int]) -> Floats:
    """Tables of the wanted fields as tables of more fields, the same for every value of the others: not divided by their number."""
    first = tables.ndim - len(wanted)
    shape = [sizes[field] if field in wanted else 1 for field in fields]
    whole = [sizes[field] for field in fields]
    return np.broadcast_to(tables.reshape(*tables.shape[:first], *shape), (*tables.shape[:first], *whole))


def others(wanted: Fields, fields: Fields, sizes: Sequence[int]) -> int:
    """How many values the fields have together that are not wanted."""
    return math.prod(sizes[field] for field in fields if field not in wanted)


def pull(questions: Floats, fields: Fields, own: Fields, sizes: Sequence[int], weight: Callable[[Fields], float]) -> Floats:
    """How much every cell of the fields `own` moves questions about the cells of a table of `fields`: a row for each, flat.

    `weight` says how much what `own` tells of an interaction counts beside what other fields tell.
    """
    pulled = np.zeros((len(questions), math.prod(sizes[field] for field in own)))
    for wanted in subsets([field for field in fields if field in own]):
        moved = interaction(questions, fields, wanted) * (weight(wanted) / others(wanted, fields, sizes))
        pulled += spread(moved, wanted, own, sizes).reshape(len(questions), -1)
    return pulled
