"""Verifiable secret sharing (Feldman): a secret scalar for a committee, each share checked against public points.

The secret is the constant term of a random polynomial of degree threshold - 1. Its coefficients times the
generator are public, so every member checks its own share, every lie about a share is seen, and the opened secret
is the dealt one: there is only one scalar for each point. Fewer than `threshold` shares say nothing beyond the
public points, which hide a uniform secret as long as discrete logarithms are hard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from deniable.errors import BrokenCommitment, InvalidParameter
from deniable.studies.joint.protocol.ristretto import ORDER, checked_point, plus, random_scalar, times, times_base


def threshold_for(members: int) -> int:
    """How many of the members open a secret: an honest majority can, a dishonest minority cannot."""
    if members < 3:
        raise InvalidParameter("committee must have at least 3 members: with fewer, one dishonest member is not a minority")
    return (members + 1) // 2


@dataclass(frozen=True)
class Dealing:
    """What a dealer makes: public points for everyone, and one secret share for each member 1, 2, …"""

    points: tuple[bytes, ...]
    shares: Mapping[int, int] = field(repr=False)


def deal(secret: int, members: int) -> Dealing:
    """Share a secret scalar among so many committee members."""
    if not 0 < secret < ORDER:
        raise InvalidParameter("secret must be a scalar of ristretto255")
    polynomial = [secret] + [random_scalar() for _ in range(threshold_for(members) - 1)]
    shares = {member: _value_at(polynomial, member) for member in range(1, members + 1)}
    return Dealing(tuple(times_base(coefficient) for coefficient in polynomial), shares)


def checked_points(points: Sequence[bytes], members: int) -> tuple[bytes, ...]:
    """The points if there are as many as the threshold, each of them valid."""
    if len(points) != threshold_for(members):
        raise BrokenCommitment("a dealing must hold one point for each member of the threshold")
    return tuple(checked_point(point) for point in points)


def share_fits(points: Sequence[bytes], member: int, share: int) -> bool:
    """Whether a share is the one these points promise to this member."""
    if not 0 <= share < ORDER:
        return False
    expected = points[-1]
    for point in reversed(points[:-1]):
        expected = plus(_few_times(member, expected), point)
    return times_base(share) == expected


def fitting(points: Sequence[bytes], shares: Mapping[int, int]) -> dict[int, int]:
    """The shares that fit, by member; whoever gave another one lied."""
    return {member: share for member, share in sorted(shares.items()) if share_fits(points, member, share)}


def open_secret(threshold: int, good: Mapping[int, int]) -> int:
    """The dealt secret from enough shares that fit; it does not depend on which."""
    if len(good) < threshold:
        raise BrokenCommitment(f"opening needs {threshold} good shares; there are {len(good)}")
    used = dict(list(good.items())[:threshold])
    return sum(share * _weight_at_zero(member, list(used)) for member, share in used.items()) % ORDER


def _few_times(member: int, point: bytes) -> bytes:
    if member > 4:
        return times(member, point)
    total = point
    for _ in range(member - 1):
        total = plus(total, point)
    return total


def _value_at(polynomial: Sequence[int], place: int) -> int:
    value = 0
    for coefficient in reversed(polynomial):
        value = (value * place + coefficient) % ORDER
    return value


def _weight_at_zero(member: int, members: Sequence[int]) -> int:
    above = below = 1
    for other in members:
        if other != member:
            above = above * other % ORDER
            below = below * (other - member) % ORDER
    return above * pow(below, -1, ORDER) % ORDER
