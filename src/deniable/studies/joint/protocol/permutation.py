"""A permutation from 32 public random bytes: Fisher-Yates with integers from SHAKE-256, rejecting what would bias it."""

from __future__ import annotations

import hashlib
import sys
from array import array
from collections.abc import Iterator

from deniable.errors import InvalidParameter

BLOCK_WORDS = 1 << 15
SURE = 2**64 - 2**32


def words(key: bytes) -> Iterator[int]:
    """An endless stream of 64-bit words, little-endian, from SHAKE-256 of key and block number."""
    block = 0
    while True:
        drawn = array("Q")
        drawn.frombytes(hashlib.shake_256(b"deniable permutation 1" + key + block.to_bytes(8, "big")).digest(8 * BLOCK_WORDS))
        if sys.byteorder == "big":
            drawn.byteswap()
        yield from drawn
        block += 1


def permutation(key: bytes, size: int) -> list[int]:
    """A permutation of 0 … size - 1, the same for everyone who has the key; each one is equally likely.

    >>> sorted(permutation(bytes(32), 5))
    [0, 1, 2, 3, 4]
    """
    if len(key) != 32:
        raise InvalidParameter("key must be 32 bytes")
    if not 0 <= size < 2**32:
        raise InvalidParameter("size must be from 0 to 2**32 - 1")
    order = list(range(size))
    stream = words(key)
    for last in range(size - 1, 0, -1):
        bound = last + 1
        word = next(stream)
        # A word at or above the largest multiple of `bound` would favour small remainders; none below SURE is.
        while word >= SURE and word >= 2**64 - 2**64 % bound:
            word = next(stream)
        other = word % bound
        order[last], order[other] = order[other], order[last]
    return order
