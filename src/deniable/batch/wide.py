"""64 by 64 bit multiplication: the high half, which numba does not offer by itself."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def _multiply_high(typing_context: Any, a: Any, b: Any) -> Any:
    """floor(a * b / 2**64) for unsigned 64-bit a and b: one machine instruction."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


multiply_high: Any = _multiply_high  # numba passes the typing context itself


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
