"""Sums over all hyperplanes of a projective space at once (after Feldman, Nelson, Nguyen and Talwar, 2022).

Every hyperplane holds about K/q of the K points, so asking each one costs K**2/q. Here the points whose first
nonzero digit stands at one place are one block, a function f of the m digits after it; for the point
y = (0 … 0, 1, d) and x = (…, a, b), <x, y> = 0 means <b, d> = -a. So a block needs

    G[b, r] = sum of f(d) over the d with <b, d> = r,

for every b up to a factor, because G[c b, c r] = G[b, r]. G is built one digit after the other: with
T[b, rest, r] the sum over the first digits, so far multiplied by b, of what leaves `rest`,

    T'[(b, c), rest, r] = sum over digits d of T[b, (d, rest), r - c d].

All tables have about q**m <= K entries, a step costs q additions for each, and there are m steps: K q log K / log q.
The shares of a block then go to all hyperplanes by plain additions of whole stretches: x is a number whose last m + 1
digits are (a, b), so the block's shares, written out for every (a, b), repeat with period q**(m + 1).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.batch.parallel import in_parallel, worthwhile_threads
from deniable.channels.projective import Projective
from deniable.estimators.walsh_hadamard import Number

WIDE = 64
"""From this prime on, loops over residues touch the least memory; below, loops over points or rests are faster."""


@njit(nogil=True, cache=True)
def _step_by_residues(table, c, prime, found):  # type: ignore[no-untyped-def]
    """found[(b, c), rest, r] = the sum over d of table[b, (d, rest), r - c d], for one c and every b."""
    points, rest = table.shape[0], found.shape[1]
    for point in range(points):
        row = 1 + c * points + point
        for tail in range(rest):
            for r in range(prime):
                found[row, tail, r] = table[point, tail, r]
            shift = 0
            for d in range(1, prime):
                shift += c
                if shift >= prime:
                    shift -= prime
                # The residues move round by c * d: two runs without a division.
                at = d * rest + tail
                for r in range(shift, prime):
                    found[row, tail, r] += table[point, at, r - shift]
                for r in range(shift):
                    found[row, tail, r] += table[point, at, r + prime - shift]


@njit(nogil=True, cache=True)
def _step_by_points(table, c, prime, found):  # type: ignore[no-untyped-def]
    """found[r, rest, (b, c)] = the sum over d of table[r - c d, (d, rest), b], for one c and every b; two d at a time."""
    points, rest = table.shape[2], found.shape[1]
    row = 1 + c * points
    for r in range(prime):
        for tail in range(rest):
            one = r - c if r >= c else r - c + prime
            for point in range(points):
                found[r, tail, row + point] = table[r, tail, point] + table[one, rest + tail, point]
            for d in range(2, prime, 2):
                first = one - c if one >= c else one - c + prime
                one = first - c if first >= c else first - c + prime
                at = d * rest + tail
                if d + 1 < prime:
                    for point in range(points):
                        found[r, tail, row + point] += table[first, at, point] + table[one, at + rest, point]
                else:
                    for point in range(points):
                        found[r, tail, row + point] += table[first, at, point]


@njit(nogil=True, cache=True)
def _step_by_rests(table, c, prime, found):  # type: ignore[no-untyped-def]
    """The same sums in tables with the point second and the rest last."""
    points, rest = table.shape[1], found.shape[2]
    for r in range(prime):
        for point in range(points):
            row = 1 + c * points + point
            one = r - c if r >= c else r - c + prime
            for tail in range(rest):
                found[r, row, tail] = table[r, point, tail] + table[one, point, rest + tail]
            for d in range(2, prime, 2):
                first = one - c if one >= c else one - c + prime
                one = first - c if first >= c else first - c + prime
                at = d * rest
                if d + 1 < prime:
                    for tail in range(rest):
                        found[r, row, tail] += table[first, point, at + tail] + table[one, point, at + rest + tail]
                else:
                    for tail in range(rest):
                        found[r, row, tail] += table[first, point, at + tail]


@njit(nogil=True, cache=True)
def _numbering(prime, digits, inverse, point, scale):  # type: ignore[no-untyped-def]
    """For every b of so many digits but 0: where its line stands in G, and what its first digit must be multiplied by."""
    vector = np.empty(digits, np.int64)
    for number in range(1, point.size):
        left = number
        for place in range(digits - 1, -1, -1):
            vector[place] = left % prime
            left //= prime
        first = 0
        points = np.int64(0)  # how many lines there are with the digits up to here
        while vector[first] == 0:
            points = prime * points + 1
            first += 1
        factor = inverse[vector[first]]
        found = np.int64(0)
        for place in range(first + 1, digits):
            points = prime * points + 1
            found += 1 + vector[place] * factor % prime * points
        point[number] = found
        scale[number] = factor


@njit(nogil=True, cache=True)
def _write_out(table, total, point, scale, prime, begin, shares):  # type: ignore[no-untyped-def]
    """shares[i] = G[b, -a] for the number begin + i = (a, b); a block's total stands at a = b = 0."""
    a, b = begin // point.size, begin % point.size
    residues = np.empty(prime, np.int64)
    i = 0
    while i < shares.size:
        for factor in range(prime):
            residues[factor] = (prime - a) * factor % prime
        if b == 0:
            shares[i] = 0 if a else total
            i, b = i + 1, 1
        count = min(point.size - b, shares.size - i)
        for j in range(count):
            shares[i + j] = table[residues[scale[b + j]], point[b + j]]
        i, a, b = i + count, a + 1, 0


@njit(nogil=True, cache=True)
def _add_repeated(sums, shares):  # type: ignore[no-untyped-def]
    """sums[i] += shares[i modulo its length]."""
    for begin in range(0, sums.size, shares.size):
        for i in range(min(shares.size, sums.size - begin)):
            sums[begin + i] += shares[i]


@lru_cache(maxsize=64)
def _lines(prime: int, digits: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """`_numbering`, remembered: it depends on the space only."""
    inverse = np.array([0, *(pow(a, -1, prime) for a in range(1, prime))], np.int64)
    point, scale = np.zeros(prime**digits, np.int32), np.zeros(prime**digits, np.int32)
    _numbering(prime, digits, inverse, point, scale)
    return point, scale


def hyperplane_sums(space: Projective, points: NDArray[Number], hyperplanes: int) -> NDArray[Number]:
    """For each of the first `hyperplanes` x, the sum of points[y] over the points y on its hyperplane.

    >>> plane = Projective(size=7, prime=2, dimension=3)
    >>> hyperplane_sums(plane, np.arange(7), 7).tolist()
    [9, 7, 11, 3, 11, 11, 11]
    """
    prime: int = space.prime
    dimension: int = space.dimension
    sums = np.zeros(hyperplanes, points.dtype)
    # Hyperplanes and points are numbered alike: those with as many digits after the leading 1 come together.
    starts = [(prime**after - 1) // (prime - 1) for after in range(dimension + 1)]
    parts = [sums[begin:end] for begin, end in pairwise(starts)]
    for digits in range(dimension):
        block = points[starts[digits] : starts[digits + 1]]
        table, total, (point, scale) = _block_sums(block, prime, digits), block.sum(), _lines(prime, digits)
        longest = max((len(part) for part in parts[digits + 1 :]), default=0)
        repeated = np.empty(min(prime ** (digits + 1), longest), points.dtype)
        _write_out(table, total, point, scale, prime, 0, repeated)
        for after, part in enumerate(parts):
            if not len(part):
                break
            if after > digits:
                _add_repeated(part, repeated)
            else:
                # The leading 1 of x stands where the block's does, or later among the digits of b.
                shares = np.empty(len(part), points.dtype)
                _write_out(table, total, point, scale, prime, prime**after, shares)
                part += shares
    return sums


def _block_sums(block: NDArray[Number], prime: int, digits: int) -> NDArray[Number]:
    """G[r, b]. The points b are in the order of the steps: first (0 … 0, 1), then c = 0, 1, … after the ones before."""
    zeros = block  # the sums over the first digits without any condition
    wide = prime >= WIDE
    by_rests = not wide
    shape = (0, len(block), prime) if wide else (prime, 0, len(block))
    table: NDArray[Number] = np.empty(shape, block.dtype)
    before = 0
    for done in range(1, digits + 1):
        rest, after = prime ** (digits - done), prime * before + 1
        by_digit = zeros.reshape(prime, rest)
        if by_rests and rest < before:
            # From here on there are more points than rests: loops over points are the longer ones.
            table, by_rests = np.ascontiguousarray(table.transpose(0, 2, 1)), False
        # (0 … 0, 1) picks the digit itself.
        if wide:
            found = np.empty((after, rest, prime), block.dtype)
            found[0] = by_digit.T
        elif by_rests:
            found = np.empty((prime, after, rest), block.dtype)
            found[:, 0, :] = by_digit
        else:
            found = np.empty((prime, rest, after), block.dtype)
            found[:, :, 0] = by_digit
        _step(_step_by_residues if wide else _step_by_rests if by_rests else _step_by_points, table, prime, found)
        zeros, table, before = by_digit.sum(axis=0), found, after
    return np.ascontiguousarray(table.reshape(before, prime).T) if wide else table.reshape(prime, before)


def _step(kernel: Any, table: NDArray[Number], prime: int, found: NDArray[Number]) -> None:
    """Work one digit into the table, every c on its own."""

    def work(thread: int, share: list[int]) -> None:
        for c in share:
            kernel(table, c, prime, found)

    if table.size:
        in_parallel(work, range(prime), worthwhile_threads(found.size * prime // 8))
