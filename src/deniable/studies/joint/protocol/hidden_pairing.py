"""A user's side of hidden pairing: hand the committee a secret-shared key and mask, find the partner in its result.

The committee sorts the users by secret keys without seeing them (committee.py), and publishes one row for each place:
the key, and the partner's number plus the mask. Keys are random and go with no name, so the rows say nothing to
others; the user knows his own key, finds his row and takes off his mask.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from deniable.errors import BadMessage, InvalidParameter
from deniable.studies.joint.protocol.shares import threshold_for

PRIME = 2**127 - 1
"""The field of the shares."""
KEY_BITS = 60
"""Equal keys among 128 users: less than once in 2**47 rounds, and then the committee starts again."""


@dataclass(frozen=True)
class BlindRequest:
    """What one user keeps to himself until the result is there."""

    key: int = field(repr=False)
    mask: int = field(repr=False)

    @classmethod
    def new(cls) -> BlindRequest:
        """A random key to be sorted by, and a random mask for the answer."""
        return cls(secrets.randbits(KEY_BITS), secrets.randbelow(PRIME))

    def shares(self, members: int) -> list[tuple[int, int]]:
        """For each committee member a share of key and mask; less than a majority of them are random numbers."""
        both = [_shamir(value, members) for value in (self.key, self.mask)]
        return list(zip(*both, strict=True))


@dataclass(frozen=True)
class BlindRow:
    """One published row: whose key this is finds his partner's number under his mask."""

    key: int
    masked_partner: int


def read_partner(request: BlindRequest, rows: Sequence[BlindRow], users: int) -> int | None:
    """The number of this user's partner, or None if he answers alone (the number of users is odd)."""
    own = [row for row in rows if row.key == request.key]
    if len(rows) != users or len(own) != 1:
        raise BadMessage("the committee's result must hold each user's key once")
    partner = (own[0].masked_partner - request.mask) % PRIME
    if partner > users:
        raise BadMessage("the committee's result names no user of this round")
    return None if partner == users else partner


def member_input(requests: Mapping[int, list[tuple[int, int]]], member: int) -> dict[str, list[str]]:
    """The document of one committee member: shares of all users, in their order."""
    if sorted(requests) != list(range(len(requests))):
        raise InvalidParameter("requests must be numbered 0, 1, 2, … without gaps")
    rows = [requests[user][member] for user in range(len(requests))]
    return {"keys": [hex(key) for key, _ in rows], "masks": [hex(mask) for _, mask in rows]}


def _shamir(value: int, members: int) -> list[int]:
    coefficients = [secrets.randbelow(PRIME) for _ in range(threshold_for(members) - 1)]
    shares = []
    for place in range(1, members + 1):
        total = 0
        for coefficient in coefficients:
            total = (total + coefficient) * place
        shares.append((total + value) % PRIME)
    return shares
