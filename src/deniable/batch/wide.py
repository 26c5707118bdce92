"""64 by 64 bit multiplication: the high half, which numba does not offer by itself."""

from __future__ import annotations

from numba import njit, types


@njit(nogil=True, cache=True)
def multiply_high(a, b):  # type: ignore[no-untyped-def]
    """floor(a * b / 2**64) for unsigned 64-bit a and b, from products of their halves.

    LLVM knows these lines and makes them one instruction; a compiler that does not is slower and no less right.
    """
    half, low = types.uint64(32), types.uint64(0xFFFFFFFF)
    a, b = types.uint64(a), types.uint64(b)
    a_high, a_low, b_high, b_low = a >> half, a & low, b >> half, b & low
    middle = a_high * b_low + (a_low * b_low >> half)
    other = a_low * b_high + (middle & low)
    return a_high * b_high + (middle >> half) + (other >> half)


def reciprocal(divisor: int, largest: int) -> tuple[int, int]:
    """`(multiplier, shift)` with x // divisor == multiply_high(x, multiplier) >> shift for 0 <= x <= largest.

    Checked, not assumed: with multiplier * divisor = 2**(64 + shift) + excess the quotient is exact
    as long as largest * excess < 2**(64 + shift).

    >>> multiplier, shift = reciprocal(2718, 10**9)
    >>> (123456789 * multiplier >> 64 >> shift) == 123456789 // 2718
    True
    """
    shift = max(0, (divisor - 1).bit_length() - 1)
    multiplier = -(-(1 << (64 + shift)) // divisor)
    excess = multiplier * divisor - (1 << (64 + shift))
    if multiplier >= 1 << 64 or largest * excess >= 1 << (64 + shift):
        raise OverflowError(f"division by {divisor} up to {largest} has no 64-bit reciprocal")
    return multiplier, shift
