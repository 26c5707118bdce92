"""The curve P-384 for blinded evaluations: points, hashing to points and numbers (RFC 9380), bytes.

`cryptography` multiplies no point that it did not make itself, so this is Python's arithmetic: some milliseconds a
multiplication, and not in constant time. It is for issuers and clients of tokens, never for long-lived signatures.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

from deniable.errors import BadMessage

P = 2**384 - 2**128 - 2**96 + 2**32 - 1
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973
B = 0xB3312FA7E23EE7E4988E056BE3F82D19181D9C6EFE8141120314088F5013875AC656398D8A2ED19D2A85C8EDD3EC2AEF
SIZE, POINT = 48, 49
"""Bytes of a number and of a compressed point."""
_FIELD_BYTES = 72
_Z = P - 12
_Jacobian = tuple[int, int, int]
_NOTHING: _Jacobian = (1, 1, 0)


@dataclass(frozen=True)
class Point:
    """A point of the curve other than the neutral one."""

    x: int
    y: int

    def __mul__(self, factor: int) -> Point:
        return _affine(_times((self.x, self.y, 1), factor % ORDER))

    def __add__(self, other: Point) -> Point:
        return _affine(_sum((self.x, self.y, 1), (other.x, other.y, 1)))

    def to_bytes(self) -> bytes:
        """Compressed: 02 or 03, and x."""
        return bytes([2 + (self.y & 1)]) + self.x.to_bytes(SIZE, "big")

    @staticmethod
    def from_bytes(data: bytes) -> Point:
        """A point on the curve, or BadMessage."""
        x = int.from_bytes(data[1:], "big")
        if len(data) != POINT or data[0] not in (2, 3) or x >= P:
            raise BadMessage("a group element is not a compressed point of P-384")
        square = (x * x * x - 3 * x + B) % P
        y = pow(square, (P + 1) // 4, P)
        if y * y % P != square:
            raise BadMessage("a group element is not a point of P-384")
        return Point(x, y if y & 1 == data[0] & 1 else P - y)


def _twice(point: _Jacobian) -> _Jacobian:
    x, y, z = point
    delta, gamma = z * z % P, y * y % P
    beta = x * gamma % P
    alpha = 3 * (x - delta) * (x + delta) % P
    new_x = (alpha * alpha - 8 * beta) % P
    new_z = ((y + z) * (y + z) - gamma - delta) % P
    return new_x, (alpha * (4 * beta - new_x) - 8 * gamma * gamma) % P, new_z


def _sum(one: _Jacobian, other: _Jacobian) -> _Jacobian:
    if not one[2]:
        return other
    if not other[2]:
        return one
    (x1, y1, z1), (x2, y2, z2) = one, other
    square1, square2 = z1 * z1 % P, z2 * z2 % P
    u1, u2 = x1 * square2 % P, x2 * square1 % P
    s1, s2 = y1 * z2 * square2 % P, y2 * z1 * square1 % P
    if u1 == u2:
        return _twice(one) if s1 == s2 else _NOTHING
    h = u2 - u1
    i = 4 * h * h % P
    j, r, v = h * i % P, 2 * (s2 - s1) % P, u1 * i % P
    x = (r * r - j - 2 * v) % P
    return x, (r * (v - x) - 2 * s1 * j) % P, ((z1 + z2) * (z1 + z2) - square1 - square2) * h % P


def _times(point: _Jacobian, factor: int) -> _Jacobian:
    multiples = [_NOTHING, point]
    for _ in range(14):
        multiples.append(_sum(multiples[-1], point))
    total = _NOTHING
    for shift in range(380, -4, -4):
        for _ in range(4):
            total = _twice(total) if total[2] else total
        total = _sum(total, multiples[factor >> shift & 15])
    return total


def _affine(point: _Jacobian) -> Point:
    x, y, z = point
    if not z:
        raise BadMessage("a group element is the neutral one")
    inverse = pow(z, -1, P)
    square = inverse * inverse % P
    return Point(x * square % P, y * square * inverse % P)


GENERATOR = Point(
    0xAA87CA22BE8B05378EB1C71EF320AD746E1D3B628BA79B9859F741E082542A385502F25DBF55296C3A545E3872760AB7,
    0x3617DE4A96262C6F5D9E98BF9292DC29F8F41DBD289A147CE9DA3113B5F0B8C00A60B1CE1D7E819D7A431D7C90EA0E5F,
)


def random_scalar() -> int:
    """A number from 1 to the order less 1, drawn uniformly by rejection."""
    while not 0 < (value := int.from_bytes(os.urandom(SIZE), "big")) < ORDER:
        pass
    return value


def scalar_from_bytes(data: bytes) -> int:
    """A number below the order, or BadMessage."""
    value = int.from_bytes(data, "big")
    if len(data) != SIZE or value >= ORDER:
        raise BadMessage("a scalar is not a number below the order of P-384")
    return value


def _expanded(message: bytes, domain: bytes, length: int) -> bytes:
    """expand_message_xmd with SHA-384."""
    suffix = domain + bytes([len(domain)])
    first = hashlib.sha384(bytes(128) + message + length.to_bytes(2, "big") + b"\0" + suffix).digest()
    block = hashlib.sha384(first + b"\x01" + suffix).digest()
    blocks = block
    for counter in range(2, -(-length // SIZE) + 1):
        mixed = bytes(a ^ b for a, b in zip(first, block, strict=True))
        block = hashlib.sha384(mixed + bytes([counter]) + suffix).digest()
        blocks += block
    return blocks[:length]


def hash_to_scalar(message: bytes, domain: bytes) -> int:
    """A number below the order that nobody can choose."""
    return int.from_bytes(_expanded(message, domain, _FIELD_BYTES), "big") % ORDER


def hash_to_point(message: bytes, domain: bytes) -> Point:
    """A point whose logarithm nobody knows (P384_XMD:SHA-384_SSWU_RO_)."""
    data = _expanded(message, domain, 2 * _FIELD_BYTES)
    one, other = (_mapped(int.from_bytes(data[at : at + _FIELD_BYTES], "big") % P) for at in (0, _FIELD_BYTES))
    return one + other


def _mapped(u: int) -> Point:
    """The simplified map of Shallue, van de Woestijne and Ulas."""
    a = P - 3
    tv1 = _Z * u * u % P
    tv2 = (tv1 * tv1 + tv1) % P
    x = B * (tv2 + 1) * pow(a * (-tv2 if tv2 else _Z), -1, P) % P
    square = (x * x * x + a * x + B) % P
    y = pow(square, (P + 1) // 4, P)
    if y * y % P != square:
        x = tv1 * x % P
        y = pow((x * x * x + a * x + B) % P, (P + 1) // 4, P)
    return Point(x, y if y & 1 == u & 1 else P - y)
