"""Folding at memory speed: counts of outputs, of bits, and of the values a hashed report supports; compiled by numba."""

from __future__ import annotations

import numpy as np
from numba import njit, uint8, uint16, uint32


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


LANES = 64
"""Bytes that are worked on side by side: lines are read that far, into the line that follows, and what is too much is not used."""
LINE, ENOUGH = 512, 512
"""Short rows make a line of about so many bytes, as long as there are so many lines: that costs less than each by itself."""
AT_ONCE = 8
FEW_LINES = 248
"""Counts of 8 binary digits are full after so many lines."""
MANY_LINES = 264 * FEW_LINES
"""Counts of 16 digits are full after so many."""


@njit(nogil=True, cache=True)
def count_bits(rows, sums):  # type: ignore[no-untyped-def]
    """sums[v] += how many rows have bit v, which is bit v % 8 of byte v // 8.

    Counters lie across the bytes, one binary digit of 8 neighbours in each: eight lines at a time are added to counts of 8 digits,
    those now and then to counts of 16, and only these are read. Nothing is copied but the end, after which nothing
    follows that could be read with it.
    """
    if rows.size == 0:
        return
    flat = rows.reshape(rows.size)
    together = max(1, min(LINE // rows.shape[1], rows.shape[0] // ENOUGH))
    size = together * rows.shape[1]
    width = -(-size // LANES) * LANES
    few, many = np.zeros((8, width), np.uint8), np.zeros((16, width), np.uint8)
    whole = (flat.size - width) // size // AT_ONCE * AT_ONCE if flat.size > width else 0
    counted = 0
    for start in range(0, whole, FEW_LINES):
        end = min(start + FEW_LINES, whole)
        _add_lines(flat, size, width, start, end, few)
        _add_counts(few, many)
        counted += end - start
        if counted + FEW_LINES > MANY_LINES:
            _read_counts(many, counted, together, rows.shape[1], sums)
            counted = 0
    left = flat.size - whole * size
    lines = -(-left // (AT_ONCE * size)) * AT_ONCE
    rest = np.zeros(lines * size + width, np.uint8)
    rest[:left] = flat[whole * size :]
    _add_lines(rest, size, width, 0, lines, few)
    _add_counts(few, many)
    _read_counts(many, counted + lines, together, rows.shape[1], sums)


@njit(nogil=True, cache=True)
def _full(a, b, c):  # type: ignore[no-untyped-def]
    """Sum and carry of three bits, in bytes: numba would widen them."""
    one = uint8(a ^ b)
    return uint8(one ^ c), uint8(uint8(a & b) | uint8(c & one))


@njit(nogil=True, cache=True)
def _half(a, b):  # type: ignore[no-untyped-def]
    return uint8(a ^ b), uint8(a & b)


@njit(nogil=True, cache=True)
def _add_lines(flat, size, width, start, end, digits):  # type: ignore[no-untyped-def]
    """Add lines to counts of 8 digits, eight at a time."""
    d0, d1, d2, d3, d4, d5, d6, d7 = digits[0], digits[1], digits[2], digits[3], digits[4], digits[5], digits[6], digits[7]
    for row in range(start * size, end * size, AT_ONCE * size):
        # Slices: with offsets of their own, the loop would not use vectors.
        r0, r1 = flat[row : row + width], flat[row + size : row + size + width]
        r2, r3 = flat[row + 2 * size : row + 2 * size + width], flat[row + 3 * size : row + 3 * size + width]
        r4, r5 = flat[row + 4 * size : row + 4 * size + width], flat[row + 5 * size : row + 5 * size + width]
        r6, r7 = flat[row + 6 * size : row + 6 * size + width], flat[row + 7 * size : row + 7 * size + width]
        for i in range(width):
            a0, a1, a2, a3, a4, a5, a6, a7 = r0[i], r1[i], r2[i], r3[i], r4[i], r5[i], r6[i], r7[i]
            # Three rows at a time, then their sums: a count of 0 to 8 in four digits.
            s0, c0 = _full(a0, a1, a2)
            s1, c1 = _full(a3, a4, a5)
            s2, c2 = _full(s0, s1, a6)
            ones, c3 = _half(s2, a7)
            t0, e0 = _full(c0, c1, c2)
            twos, e1 = _half(t0, c3)
            fours, eights = _half(e0, e1)
            # Add that count to the counters, and let the carry run to the top.
            d0[i], carry = _half(d0[i], ones)
            d1[i], carry = _full(d1[i], twos, carry)
            d2[i], carry = _full(d2[i], fours, carry)
            d3[i], carry = _full(d3[i], eights, carry)
            d4[i], carry = _half(d4[i], carry)
            d5[i], carry = _half(d5[i], carry)
            d6[i], carry = _half(d6[i], carry)
            d7[i] = uint8(d7[i] ^ carry)


@njit(nogil=True, cache=True)
def _add_counts(few, many):  # type: ignore[no-untyped-def]
    """Add counts of 8 digits to counts of 16, and begin the former anew."""
    carry = np.zeros(few.shape[1], np.uint8)
    for digit in range(16):
        wide = many[digit]
        if digit < 8:
            own = few[digit]
            for i in range(wide.size):
                wide[i], carry[i] = _full(wide[i], own[i], carry[i])
            own[:] = 0
        else:
            for i in range(wide.size):
                wide[i], carry[i] = _half(wide[i], carry[i])


@njit(nogil=True, cache=True)
def _read_counts(many, most, together, size, sums):  # type: ignore[no-untyped-def]
    """Add counts of at most `most` to the sums, and begin them anew; a line is several rows of `size` bytes together."""
    width = many.shape[1]
    counts = np.zeros((8, width), np.uint16)
    digit = uint16(0)
    while most >> digit:
        lanes = many[digit]
        for bit in range(8):
            own, shift = counts[bit], uint8(bit)
            for i in range(width):
                own[i] |= uint16(uint16(uint8(lanes[i] >> shift) & uint8(1)) << digit)
        lanes[:] = 0
        digit += uint16(1)
    for start in range(0, together * size, size):
        for v in range(sums.size):
            sums[v] += counts[v & 7, start + (v >> 3)]


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
