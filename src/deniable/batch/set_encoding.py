"""Sets and keyed numbers to their indices, in arrays: exactly the indices that the domains give one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch.digits import WIDE
from deniable.batch.grids import GridEncoder
from deniable.batch.sampler import Indices
from deniable.core import ItemSet, KeyValue
from deniable.errors import OutOfDomain

EXACT_IN_DOUBLES = 1 << 53


class SetNumbering:
    """Sets by size, then in the order of their binary numbers, then by the levels of their items, the first item's first.

    `starts` holds the first index of every size. Indices must fit into machine words.
    """

    def __init__(self, starts: Sequence[int], items: int, levels: int) -> None:
        sizes = range(len(starts) - 1)
        self.levels, self.at_most = levels, len(starts) - 2
        self.starts = np.array(starts, np.int64)
        self.powers = np.array([levels**size for size in sizes], np.int64)
        self.binomials = [np.array([math.comb(item, size) for item in range(items)], np.int64) for size in sizes]

    def indices(self, sizes: Indices, items: Indices, levels: Indices | None = None) -> Indices | None:
        """Indices of sets of these sizes, whose items and levels come set by set; None if a set names an item twice."""
        rows = np.repeat(np.arange(len(sizes)), sizes)
        order = np.lexsort((items, rows))
        items = items[order]
        if ((items[1:] == items[:-1]) & (rows[1:] == rows[:-1])).any():
            return None
        place = np.arange(len(rows)) - (np.cumsum(sizes) - sizes)[rows]
        rank, digits = np.zeros(len(sizes), np.int64), np.zeros(len(sizes), np.int64)
        for column in range(self.at_most):
            mine = place == column
            rank[rows[mine]] += self.binomials[column + 1][items[mine]]
            if levels is not None:
                digits[rows[mine]] = digits[rows[mine]] * self.levels + levels[order][mine]
        return self.starts[sizes] + rank * self.powers[sizes] + digits


class SetEncoder:
    """Sets as lists, or as a table of yes and no with one column per item, to their indices."""

    def __init__(self, domain: ItemSet) -> None:
        self.domain = domain
        self.wide = domain.size >= WIDE
        if not self.wide:
            self.numbering = SetNumbering(domain.starts, domain.items.size, 1)

    def __call__(self, values: NDArray[Any]) -> NDArray[Any]:
        if values.ndim == 2:
            values = self._checked(values)
            if not self.wide:
                indices = self.numbering.indices(values.sum(axis=1), np.nonzero(values)[1])
                assert indices is not None  # a column stands for one item
                return indices
            return np.array([self.domain.index_of(np.flatnonzero(row).tolist()) for row in values], object)
        indices = None if self.wide else self._at_once(values)
        # What the arrays do not take, the domain takes or refuses in its own words.
        return indices if indices is not None else _one_by_one(self.domain, values)

    def _at_once(self, values: NDArray[Any]) -> Indices | None:
        if not set(map(type, values)) <= {list, tuple, set, frozenset}:
            return None
        sizes = np.fromiter(map(len, values), np.int64, len(values))
        items = item_numbers(self.domain, list(chain.from_iterable(values)))
        if items is None or sizes.max(initial=0) > self.domain.at_most:
            return None
        return self.numbering.indices(sizes, items)

    def _checked(self, table: NDArray[Any]) -> NDArray[Any]:
        if table.dtype != np.bool_ or table.shape[1] != self.domain.items.size:
            raise self.domain.refuse("a table must have a column of yes and no for every item to belong to")
        if len(table) and int(table.sum(axis=1).max()) > self.domain.at_most:
            raise OutOfDomain(f"at least one row has more than {self.domain.at_most} items; it is not shown because it is private")
        return table


class KeyValueEncoder:
    """Mappings from keys to numbers, or a table of numbers with one column per key (nan: the key is missing), to their indices."""

    def __init__(self, domain: KeyValue) -> None:
        self.domain = domain
        self.wide = domain.size >= WIDE
        self.points = GridEncoder(domain.values, domain.grid)
        if not self.wide:
            self.numbering = SetNumbering(domain.starts, domain.keys.items.size, domain.grid.size)

    def __call__(self, values: NDArray[Any]) -> NDArray[Any]:
        if values.ndim == 2:
            return self._of_table(values)
        indices = None if self.wide else self._at_once(values)
        return indices if indices is not None else _one_by_one(self.domain, values)

    def _at_once(self, values: NDArray[Any]) -> Indices | None:
        if set(map(type, values)) != {dict}:
            return None
        flat = list(chain.from_iterable(map(dict.values, values)))
        if not set(map(type, flat)) <= {float, int}:
            return None
        sizes = np.fromiter(map(len, values), np.int64, len(values))
        items = item_numbers(self.domain.keys, list(chain.from_iterable(values)))
        if items is None or sizes.max(initial=0) > self.domain.at_most:
            return None
        levels = self._levels(flat)
        return None if levels is None else self.numbering.indices(sizes, items, levels)

    def _levels(self, numbers: Sequence[float]) -> Indices | None:
        """The points of the numbers; None where one is outside or is not itself as a double."""
        try:
            doubles = np.array(numbers, np.float64)
        except OverflowError:
            return None
        inside = (doubles >= self.points.least) & (doubles <= self.points.most) & (np.abs(doubles) < EXACT_IN_DOUBLES)
        return self.points(doubles) if inside.all() else None

    def _of_table(self, table: NDArray[Any]) -> NDArray[Any]:
        domain = self.domain
        if table.dtype.kind != "f" or table.shape[1] != domain.keys.items.size:
            raise domain.refuse("a table must have a column of numbers for every key, nan where a key is missing, to belong to")
        held = ~np.isnan(table)
        if len(table) and int(held.sum(axis=1).max()) > domain.at_most:
            raise OutOfDomain(f"at least one row has more than {domain.at_most} keys; it is not shown because it is private")
        levels = self._levels(table[held])
        if levels is None:
            raise domain.refuse("at least one number is outside")
        if not self.wide:
            indices = self.numbering.indices(held.sum(axis=1), np.nonzero(held)[1], levels)
            assert indices is not None  # a column stands for one key
            return indices
        maps = [{domain.labels[key]: float(row[key]) for key in np.flatnonzero(~np.isnan(row)).tolist()} for row in table]
        return np.array([domain.encode(one) for one in maps], object)


def item_numbers(domain: ItemSet, items: list[Any]) -> Indices | None:
    """The numbers of many items; None where one is not known, or is not plainly a name or a number."""
    labels = domain.items.labels
    if not set(map(type, items)) <= {int if labels is None else str}:
        return None
    if labels is not None:
        known = {label: number for number, label in enumerate(labels)}
        numbers = [known.get(item, -1) for item in items]
    else:
        numbers = items
    try:
        array = np.array(numbers, np.int64)
    except OverflowError:
        return None
    return array if not len(array) or (array.min() >= 0 and array.max() < domain.items.size) else None


def _one_by_one(domain: ItemSet | KeyValue, values: NDArray[Any]) -> NDArray[Any]:
    return np.array([domain.encode(value) for value in values], np.int64 if domain.size < WIDE else object)
