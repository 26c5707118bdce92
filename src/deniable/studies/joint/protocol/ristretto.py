"""The group ristretto255 (by libsodium, through rbcl): prime order, 32-byte points and scalars."""

from __future__ import annotations

import secrets

from deniable._extras import required
from deniable.errors import BadMessage

rbcl = required("rbcl")

ORDER = 2**252 + 27742317777372353535851937790883648493
"""How many points the group has, a prime."""

SIZE = 32
IDENTITY = bytes(SIZE)


def random_scalar() -> int:
    """A uniform scalar from 1 to ORDER - 1, from the system's generator."""
    return 1 + secrets.randbelow(ORDER - 1)


def scalar_bytes(scalar: int) -> bytes:
    """The 32 bytes of a scalar, least significant first."""
    return (scalar % ORDER).to_bytes(SIZE, "little")


def checked_point(data: bytes) -> bytes:
    """The same bytes if they are a point other than the identity."""
    if len(data) != SIZE or data == IDENTITY or not rbcl.crypto_core_ristretto255_is_valid_point(data):
        raise BadMessage("a point must be 32 bytes of a ristretto255 element other than the identity")
    return data


def times_base(scalar: int) -> bytes:
    """The scalar times the group's generator."""
    return bytes(rbcl.crypto_scalarmult_ristretto255_base_allow_scalar_zero(scalar_bytes(scalar)))


def times(scalar: int, point: bytes) -> bytes:
    """The scalar times a checked point."""
    return bytes(rbcl.crypto_scalarmult_ristretto255_allow_scalar_zero(scalar_bytes(scalar), point))


def plus(one: bytes, other: bytes) -> bytes:
    """The sum of two points."""
    return bytes(rbcl.crypto_core_ristretto255_add(one, other))


def minus(one: bytes, other: bytes) -> bytes:
    """The difference of two points."""
    return bytes(rbcl.crypto_core_ristretto255_sub(one, other))
