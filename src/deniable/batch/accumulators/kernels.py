"""Folding at memory speed: counts of outputs, of bits, and of the values a hashed report supports; compiled by numba."""

from __future__ import annotations

import numpy as np
from numba import njit, uint32, uint64


@njit(nogil=True, cache=True)
def count_outputs(outputs, sums):  # type: ignore[no-untyped-def]
    """sums[y] += how often y occurs; every output is a place of `sums`.

    A million counters of 8 bytes leave the cache, counters of one byte stay: when one is full, 256 go to the sum.
    """
    if outputs.size < sums.size // 8:
        for i in range(outputs.size):
            sums[np.uint64(outputs[i])] += 1
        return
    few = np.zeros(sums.size, np.uint8)
    for i in range(outputs.size):
        output = np.uint64(outputs[i])
        count = np.uint8(few[output] + np.uint8(1))
        few[output] = count
        if count == 0:
            sums[output] += 256
    for place in range(sums.size):
        sums[place] += few[place]


@njit(nogil=True, cache=True)
def count_few_outputs(outputs, sums):  # type: ignore[no-untyped-def]
    """The same for few different outputs: four separate counters keep equal neighbours from waiting for each other."""
    lanes = np.zeros((4, sums.size), np.int64)
    whole = outputs.size & ~3
    for i in range(0, whole, 4):
        for lane in range(4):
            lanes[lane, np.uint64(outputs[i + lane])] += 1
    for i in range(whole, outputs.size):
        lanes[0, np.uint64(outputs[i])] += 1
    for place in range(sums.size):
        sums[place] += lanes[0, place] + lanes[1, place] + lanes[2, place] + lanes[3, place]


@njit(nogil=True, cache=True)
def count_bits(rows, sums):  # type: ignore[no-untyped-def]
    """sums[v] += how many rows have bit v; rows are 64-bit words.

    Eight rows at a time go through carry-save adders. Their counts of 0 to 8 go into counters that lie across eight words,
    one binary digit in each; those are read every 248 rows, before one of them can pass 255. Neighbouring words come last
    in the loops, so that several of them share a vector.
    """
    width = rows.shape[1]
    whole = rows.shape[0] & ~7
    one = uint64(1)
    digits = np.empty((8, width), np.uint64)
    for start in range(0, whole, 248):
        digits[:] = 0
        for row in range(start, min(start + 248, whole), 8):
            for block in range(width):
                a0, a1, a2, a3 = rows[row, block], rows[row + 1, block], rows[row + 2, block], rows[row + 3, block]
                a4, a5, a6, a7 = rows[row + 4, block], rows[row + 5, block], rows[row + 6, block], rows[row + 7, block]
                # Three full adders on pairs of three, then on their sums: a count of 0 to 8 in four bit planes.
                s0 = a0 ^ a1 ^ a2
                c0 = (a0 & a1) | (a2 & (a0 ^ a1))
                s1 = a3 ^ a4 ^ a5
                c1 = (a3 & a4) | (a5 & (a3 ^ a4))
                s2 = s0 ^ s1 ^ a6
                c2 = (s0 & s1) | (a6 & (s0 ^ s1))
                ones = s2 ^ a7
                c3 = s2 & a7
                t0 = c0 ^ c1 ^ c2
                d0 = (c0 & c1) | (c2 & (c0 ^ c1))
                twos = t0 ^ c3
                d1 = t0 & c3
                fours = d0 ^ d1
                eights = d0 & d1
                # Add that count to the counters, digit by digit, and let the carry run to the top.
                p0, p1, p2, p3 = digits[0, block], digits[1, block], digits[2, block], digits[3, block]
                p4, p5, p6, p7 = digits[4, block], digits[5, block], digits[6, block], digits[7, block]
                carry = p0 & ones
                h1, h2, h3 = p1 ^ twos, p2 ^ fours, p3 ^ eights
                digits[0, block] = p0 ^ ones
                digits[1, block] = h1 ^ carry
                carry = (p1 & twos) | (h1 & carry)
                digits[2, block] = h2 ^ carry
                carry = (p2 & fours) | (h2 & carry)
                digits[3, block] = h3 ^ carry
                carry = (p3 & eights) | (h3 & carry)
                digits[4, block] = p4 ^ carry
                carry &= p4
                digits[5, block] = p5 ^ carry
                carry &= p5
                digits[6, block] = p6 ^ carry
                digits[7, block] = p7 ^ (p6 & carry)
        for block in range(width):
            base = 64 * block
            for bit in range(min(64, sums.size - base)):
                count = uint64(0)
                for digit in range(8):
                    count |= ((digits[digit, block] >> uint64(bit)) & one) << uint64(digit)
                sums[base + bit] += np.int64(count)
    for row in range(whole, rows.shape[0]):
        for block in range(width):
            base, word = 64 * block, rows[row, block]
            for bit in range(min(64, sums.size - base)):
                sums[base + bit] += np.int64((word >> uint64(bit)) & one)


@njit(nogil=True, cache=True)
def count_support(seeds, lows, widths, spread, sums):  # type: ignore[no-untyped-def]
    """sums[v] += how many reports hash v into their own bucket.

    `spread[v]` is v times the golden constant modulo 2**32; a hash h lies in the bucket when the
    unsigned difference h - low is below the bucket's width. Everything stays in 32 bits, so eight
    values fit one vector.
    """
    for i in range(seeds.size):
        seed, low, width = seeds[i], lows[i], widths[i]
        for v in range(spread.size):
            h = uint32(seed + spread[v])
            h = uint32(uint32(h ^ (h >> uint32(16))) * uint32(0x7FEB352D))
            h = uint32(uint32(h ^ (h >> uint32(15))) * uint32(0x846CA68B))
            h = uint32(h ^ (h >> uint32(16)))
            sums[v] += uint32(uint32(h - low) < width)
