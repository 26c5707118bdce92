"""Sums over all wanted hyperplanes of a projective space at once (after Feldman, Nelson, Nguyen and Talwar, 2022).

Every hyperplane holds about K/q of the K points, so asking each of k hyperplanes costs k K/q. Here the digits of x are
worked in one after the other, for all x with the same first digits, its prefix p, together. Points are scaled so that
their last nonzero digit is 1. With y' the digits of y that met the prefix, and `rest` the others,

    T[p, r, rest] = sum of the points y = (y', rest) with <p, y'> = r,
    T[(p, c), r, rest] = sum over digits d of T[p, r - c d, (d, rest)].

The points that end here, rest = (1), are complete: those with r = -c are on the hyperplanes of all x that begin with
(p, c). What they sum to is handed down to these. A prefix 0 … 0, 1 lets all digits before the 1 be anything.

Prefixes are numbered as points are: (0 … 0, 1) is 0 and (p, c) is 1 + q p + c. So the first k hyperplanes have the first
k/q prefixes of one digit less, and only those are followed: every step has about k entries of q additions each.
All in all K + k q log K / log q.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.core import Projective
from deniable.estimators.walsh_hadamard import Number

LANES = 8
"""32-bit numbers that are added at once; rows of residues are padded to whole multiples."""

Entries = NDArray[Any]


@njit(nogil=True, cache=True)
def _sum_rows(table, start, by_residue, by_digit, residue, c, prime, row):  # type: ignore[no-untyped-def]
    """row[i] = the sum over digits d of table[start + ((residue - c d) mod prime) by_residue + d by_digit + i].

    Rows are cut out first: then the compiler knows that no place is negative, and adds eight at a time.
    """
    size = row.size
    r0 = residue
    r1 = r0 - c if r0 >= c else r0 - c + prime
    at0, at1 = start + r0 * by_residue, start + r1 * by_residue + by_digit
    a, b = table[at0 : at0 + size], table[at1 : at1 + size]
    if prime == 2:
        for i in range(size):
            row[i] = a[i] + b[i]
        return
    r2 = r1 - c if r1 >= c else r1 - c + prime
    at2 = start + r2 * by_residue + 2 * by_digit
    third = table[at2 : at2 + size]
    for i in range(size):
        row[i] = a[i] + b[i] + third[i]
    # What is left of an odd prime: fours, and perhaps two.
    digit, r3 = 3, r2
    while digit + 4 <= prime:
        r0 = r3 - c if r3 >= c else r3 - c + prime
        r1 = r0 - c if r0 >= c else r0 - c + prime
        r2 = r1 - c if r1 >= c else r1 - c + prime
        r3 = r2 - c if r2 >= c else r2 - c + prime
        at0, at1 = start + r0 * by_residue + digit * by_digit, start + r1 * by_residue + (digit + 1) * by_digit
        at2, at3 = start + r2 * by_residue + (digit + 2) * by_digit, start + r3 * by_residue + (digit + 3) * by_digit
        a, b, third, fourth = table[at0 : at0 + size], table[at1 : at1 + size], table[at2 : at2 + size], table[at3 : at3 + size]
        for i in range(size):
            row[i] += a[i] + b[i] + third[i] + fourth[i]
        digit += 4
    if digit < prime:
        r0 = r3 - c if r3 >= c else r3 - c + prime
        r1 = r0 - c if r0 >= c else r0 - c + prime
        at0, at1 = start + r0 * by_residue + digit * by_digit, start + r1 * by_residue + (digit + 1) * by_digit
        a, b = table[at0 : at0 + size], table[at1 : at1 + size]
        for i in range(size):
            row[i] += a[i] + b[i]


@njit(nogil=True, cache=True)
def _step_by_rests(table, prime, prefixes, rests, wanted, summed):  # type: ignore[no-untyped-def]
    """table[p, r, rest] to summed[(p, c), r, rest], for as many prefixes (p, c) as are wanted."""
    before = 1 + prime * rests
    for p in range(prefixes):
        for c in range(min(prime, wanted - 1 - prime * p)):
            for r in range(prime):
                at = ((1 + prime * p + c) * prime + r) * rests
                _sum_rows(table, p * prime * before + 1, before, rests, r, c, prime, summed[at : at + rests])


@njit(nogil=True, cache=True)
def _step_by_prefixes(table, prime, prefixes, rests, summed):  # type: ignore[no-untyped-def]
    """table[r, rest, p] to summed[r, rest, 1 + c prefixes + p]."""
    before, after = 1 + prime * rests, 1 + prime * prefixes
    for c in range(prime):
        for r in range(prime):
            for rest in range(rests):
                at = (r * rests + rest) * after + 1 + c * prefixes
                _sum_rows(
                    table, (1 + rest) * prefixes, before * prefixes, rests * prefixes, r, c, prime, summed[at : at + prefixes]
                )


@njit(nogil=True, cache=True)
def _step_by_residues(table, prime, prefixes, padded, wanted, summed):  # type: ignore[no-untyped-def]
    """table[p, rest, r] to summed[(p, c), r] when no rest is left; rows of residues go on with the first ones."""
    for p in range(prefixes):
        for c in range(min(prime, wanted - 1 - prime * p)):
            at = (1 + prime * p + c) * padded
            start = (p * (1 + prime) + 1) * (prime + padded)
            _sum_rows(table, start, 1, prime + padded, 0, c, prime, summed[at : at + padded])


@njit(nogil=True, cache=True)
def _hand_down(above, table, order, by_prefix, by_residue, prime, below):  # type: ignore[no-untyped-def]
    """below[(p, c)] = above[p] + T[p, -c, (1)]."""
    for p in range(above.size):
        at = order[p] * by_prefix
        for c in range(min(prime, below.size - 1 - prime * p)):
            below[1 + prime * p + c] = above[p] + table[at + (prime - c if c else 0) * by_residue]


@njit(nogil=True, cache=True)
def _reorder(points, numbers, scaled, inverse, prime, ordered):  # type: ignore[no-untyped-def]
    """The points (1, 0 … 0), then (d, rest) for d = 0, 1, … and every rest in this same order.

    Points whose first two digits have the same ratio stand together in `points`: one ratio after the other, what is
    read stays in the cache.
    """
    rests, rows = numbers.size, scaled.shape[1]
    block = (points.size - rests) // prime
    ordered[0] = points[rests]
    for i in range(rests):
        ordered[1 + i] = points[numbers[i]]
    for first in range(1, prime):
        ordered[1 + first * rests] = points[rests + inverse[first] * block]
    for ratio in range(prime if rows else 0):
        read = points[rests + ratio * block : rests + (ratio + 1) * block]
        for first in range(1, prime):
            at = 2 + first * rests + ratio * first % prime * rows
            row, order = ordered[at : at + rows], scaled[inverse[first]]
            for i in range(rows):
                row[i] = read[order[i]]


@lru_cache(maxsize=16)
def _order(prime: int, dimension: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """What `_reorder` needs to know of a space: rests and rests of rests, in its order.

    The numbers of all rests; the digits of the rests of these as one number, multiplied by 0, 1, …; and 1/1, 1/2, ….
    """
    factors = np.arange(prime, dtype=np.int32)
    inverse = np.array([0, *(pow(a, -1, prime) for a in range(1, prime))])
    numbers, scaled = np.zeros(0, np.int32), np.zeros((prime, 0), np.int32)
    for digits in range(dimension - 1):
        first = (prime**digits - 1) // (prime - 1)
        # (0, rest) has the number of the rest; (d, rest) has the digits of rest / d after the leading 1.
        numbers = np.concatenate([[first], numbers, (first + scaled[inverse[1:]]).reshape(-1)], dtype=np.int32)
        if digits < dimension - 2:
            leading = np.outer(factors, factors) % prime * np.int32(prime**digits)
            longer = (leading[:, :, None] + scaled[:, None, :]).reshape(prime, -1)
            scaled = np.concatenate([leading[:, 1:2], longer], axis=1)
    return numbers, scaled, inverse


@dataclass
class _ByRests:
    """T[p, r, rest]: the layout of the first steps, which have few prefixes and many rests."""

    prime: int
    prefixes: int
    rests: int
    table: Entries

    @property
    def strides(self) -> tuple[int, int]:
        """How far it is to the next prefix and to the next residue."""
        return self.prime * self.rests, self.rests

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Where each prefix stands."""
        return np.arange(self.prefixes)

    def step(self, wanted: int, alone: Entries) -> _ByRests:
        """One digit further; `alone` is what the prefix (0 … 0, 1) has, which takes the digit as it is."""
        rests = self.rests // self.prime
        summed = np.empty(wanted * self.prime * rests, self.table.dtype)
        summed[: len(alone)] = alone
        _step_by_rests(self.table, self.prime, self.prefixes, rests, wanted, summed)
        return _ByRests(self.prime, wanted, rests, summed)

    def best(self) -> _ByRests | _ByPrefixes | _ByResidues:
        """The layout with the longest rows for the next step."""
        prime, rests = self.prime, self.rests // self.prime
        if rests >= max(self.prefixes, prime) or not rests:
            return self
        if self.prefixes >= prime:
            turned = np.ascontiguousarray(self.table.reshape(self.prefixes, -1).T).reshape(-1)
            return _ByPrefixes(prime, self.prefixes, self.rests, turned, self.order)
        residues = np.arange(prime + _padded(prime)) % prime
        turned = self.table.reshape(self.prefixes, prime, self.rests).transpose(0, 2, 1)[:, :, residues]
        return _ByResidues(prime, self.prefixes, self.rests, np.ascontiguousarray(turned).reshape(-1))


@dataclass
class _ByPrefixes:
    """T[r, rest, p]: the layout of the last steps, which have many prefixes. The digit c moves to the front of p."""

    prime: int
    prefixes: int
    rests: int
    table: Entries
    order: NDArray[np.int64]

    @property
    def strides(self) -> tuple[int, int]:
        return 1, self.rests * self.prefixes

    def step(self, wanted: int, alone: Entries) -> _ByPrefixes:
        prime, rests, after = self.prime, self.rests // self.prime, 1 + self.prime * self.prefixes
        summed = np.empty(after * prime * rests, self.table.dtype)
        summed[::after] = alone
        _step_by_prefixes(self.table, prime, self.prefixes, rests, summed)
        order = 1 + self.prefixes * np.arange(prime) + self.order[:, None]
        return _ByPrefixes(prime, after, rests, summed, np.concatenate([[0], order.reshape(-1)])[:wanted])

    def best(self) -> _ByPrefixes:
        return self


@dataclass
class _ByResidues:
    """T[p, rest, r]: the layout of the last step before the end for large primes."""

    prime: int
    prefixes: int
    rests: int
    table: Entries
    width: int = field(init=False)

    def __post_init__(self) -> None:
        self.width = len(self.table) // (self.prefixes * self.rests)

    @property
    def strides(self) -> tuple[int, int]:
        return self.rests * self.width, 1

    @cached_property
    def order(self) -> NDArray[np.int64]:
        return np.arange(self.prefixes)

    def step(self, wanted: int, alone: Entries) -> _ByResidues:
        padded = _padded(self.prime)
        summed = np.empty(wanted * padded, self.table.dtype)
        summed[: self.prime] = alone
        _step_by_residues(self.table, self.prime, self.prefixes, padded, wanted, summed)
        return _ByResidues(self.prime, wanted, 1, summed)

    def best(self) -> _ByResidues:
        return self


def _padded(prime: int) -> int:
    return -(-prime // LANES) * LANES


def hyperplane_sums(space: Projective, points: NDArray[Number], hyperplanes: int) -> NDArray[Number]:
    """For each of the first `hyperplanes` x, the sum of points[y] over the points y on its hyperplane.

    >>> plane = Projective(size=7, prime=2, dimension=3)
    >>> hyperplane_sums(plane, np.arange(7), 7).tolist()
    [9, 7, 11, 3, 11, 11, 11]
    """
    prime: int = space.prime
    dimension: int = space.dimension
    ordered = _ordered(space, points)
    wanted = [hyperplanes]
    for _ in range(dimension - 1):
        wanted.append(max(1, -(-(wanted[-1] - 1) // prime)))
    rests = len(ordered) // prime
    # What ends at the first digit, and what remains when the digits so far may be anything.
    ended, remaining = ordered[0], ordered[1:].reshape(prime, rests).sum(axis=0, dtype=ordered.dtype)
    table: _ByRests | _ByPrefixes | _ByResidues = _ByRests(prime, 1, rests, ordered[1:])
    sums = np.zeros(1, ordered.dtype)
    for prefixes in wanted[-2::-1]:
        table = table.best()
        below = np.empty(prefixes, ordered.dtype)
        below[0] = ended
        _hand_down(sums, table.table, table.order, *table.strides, prime, below)
        sums, ended = below, ended + remaining[0]
        if table.rests > 1:
            table = table.step(prefixes, remaining[1:])
            remaining = remaining[1:].reshape(prime, table.rests).sum(axis=0, dtype=ordered.dtype)
    return sums.astype(points.dtype, copy=False)


def _ordered(space: Projective, points: NDArray[Number]) -> Entries:
    """The points in the order of the recursion; counts whose sums fit 32 bits in these, which is twice as fast."""
    small = points.dtype.kind == "i" and points.min() >= 0 and points.sum() < 1 << 31
    ordered = np.empty(len(points), np.int32 if small else points.dtype)
    _reorder(points, *_order(space.prime, space.dimension), space.prime, ordered)
    return ordered
