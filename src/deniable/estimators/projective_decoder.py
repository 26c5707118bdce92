"""Sums over all hyperplanes of a projective space at once (after Feldman, Nelson, Nguyen and Talwar, 2022).

Every hyperplane holds about K/q of the K points, so asking each one costs K**2/q. Here the points whose first
nonzero digit stands at one place are one block, a function f of the m digits after it; for the point
y = (0 … 0, 1, d) and x = (…, a, b), <x, y> = 0 means <b, d> = -a. So a block needs

    G[b, r] = sum of f(d) over the d with <b, d> = r,

for every b up to a factor, because G[c b, c r] = G[b, r]. G is built one digit after the other: with
T[b, rest, r] the sum over the first digits, so far multiplied by b, of what leaves `rest`,

    T'[(b, c), rest, r] = sum over digits d of T[b, (d, rest), r - c d].

All tables have about q**m <= K entries, a step costs q additions for each, and there are m steps: K q log K / log q.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.batch.parallel import in_parallel, worthwhile_threads
from deniable.channels.projective import Projective
from deniable.estimators.walsh_hadamard import Number

WIDE = 16
"""From this prime on, loops over residues are long enough to be fast; below, loops over points are."""


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
    """The same sums in tables with the residue first and the point last."""
    points, rest = table.shape[2], found.shape[1]
    row = 1 + c * points
    for r in range(prime):
        for tail in range(rest):
            for point in range(points):
                found[r, tail, row + point] = table[r, tail, point]
            residue = r
            for d in range(1, prime):
                residue -= c
                if residue < 0:
                    residue += prime
                at = d * rest + tail
                for point in range(points):
                    found[r, tail, row + point] += table[residue, at, point]


@njit(nogil=True, cache=True)
def _vectors(count, prime, dimension):  # type: ignore[no-untyped-def]
    """The digits of the first points, by counting up: channels.projective.Projective.vector of each."""
    digits = np.zeros((count, dimension), np.int64)
    lead = dimension - 1
    digits[0, lead] = 1
    for index in range(1, count):
        for place in range(lead, dimension):
            digits[index, place] = digits[index - 1, place]
        place = dimension - 1
        while place > lead and digits[index, place] == prime - 1:
            digits[index, place] = 0
            place -= 1
        if place > lead:
            digits[index, place] += 1
        else:
            digits[index, lead] = 0
            lead -= 1
            digits[index, lead] = 1
    return digits


@njit(nogil=True, cache=True)
def _collect(sums, table, total, block, prime, digits, inverse):  # type: ignore[no-untyped-def]
    """Add one block's share G[b, -a] to the sum of every hyperplane x; `block` is the place of its leading 1."""
    dimension = digits.shape[1]
    part = 1.0 / prime
    for index in range(sums.size):
        first = block + 1
        points = np.int64(0)  # how many b there are with the digits up to here
        while first < dimension and digits[index, first] == 0:
            points = prime * points + 1
            first += 1
        if first == dimension:
            if digits[index, block] == 0:
                sums[index] += total
            continue
        scale = inverse[digits[index, first]]
        point = np.int64(0)
        for place in range(first + 1, dimension):
            points = prime * points + 1
            # Modulo the prime: the rounded quotient is off by one at most, and much faster than a division.
            product = digits[index, place] * scale
            product -= np.int64(product * part) * prime
            if product < 0:
                product += prime
            elif product >= prime:
                product -= prime
            point += 1 + product * points
        sums[index] += table[point, (prime - digits[index, block]) * scale % prime]


def hyperplane_sums(space: Projective, points: NDArray[Number], hyperplanes: int) -> NDArray[Number]:
    """For each of the first `hyperplanes` x, the sum of points[y] over the points y on its hyperplane.

    >>> plane = Projective(size=7, prime=2, dimension=3)
    >>> hyperplane_sums(plane, np.arange(7), 7).tolist()
    [9, 7, 11, 3, 11, 11, 11]
    """
    prime: int = space.prime
    dimension: int = space.dimension
    sums = np.zeros(hyperplanes, points.dtype)
    inverse = np.array([0, *(pow(a, -1, prime) for a in range(1, prime))], np.int64)
    vectors = _vectors(hyperplanes, prime, dimension)
    begin = 0
    for digits in range(dimension):
        block = points[begin : begin + prime**digits]
        begin += prime**digits
        _collect(sums, _block_sums(block, prime, digits), block.sum(), dimension - 1 - digits, prime, vectors, inverse)
    return sums


def _block_sums(block: NDArray[Number], prime: int, digits: int) -> NDArray[Number]:
    """G[b, r]. The points b are in the order of the steps: first (0 … 0, 1), then c = 0, 1, … after the ones before."""
    zeros = block  # the sums over the first digits without any condition
    table: NDArray[Number] = np.empty((prime, len(block), 0), block.dtype)
    if prime >= WIDE:
        table = table.transpose(2, 1, 0)
    before = 0
    for done in range(1, digits + 1):
        rest, after = prime ** (digits - done), prime * before + 1
        by_digit = zeros.reshape(prime, rest)
        if prime >= WIDE:
            found = np.empty((after, rest, prime), block.dtype)
            # (0 … 0, 1) picks the digit itself.
            found[0] = by_digit.T
        else:
            found = np.empty((prime, rest, after), block.dtype)
            found[:, :, 0] = by_digit
        _step(table, prime, found)
        zeros, table, before = by_digit.sum(axis=0), found, after
    return table.reshape(before, prime) if prime >= WIDE else np.ascontiguousarray(table.reshape(prime, before).T)


def _step(table: NDArray[Number], prime: int, found: NDArray[Number]) -> None:
    """Work one digit into the table, every c on its own."""
    kernel = _step_by_residues if prime >= WIDE else _step_by_points

    def work(thread: int, share: list[int]) -> None:
        for c in share:
            kernel(table, c, prime, found)

    if table.size:
        in_parallel(work, range(prime), worthwhile_threads(found.size * prime // 8))
