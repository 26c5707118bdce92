"""1-out-of-2 oblivious transfer on ristretto255, after Chou and Orlandi: the chooser gets one of two keys.

The sender does not learn which; the chooser learns nothing of the other key (semi-honest; Diffie-Hellman).
Keys are bound to the session, the place and all public points.
"""

from __future__ import annotations

from collections.abc import Sequence

from deniable.errors import BadMessage
from deniable.studies.joint.protocol.hashing import tagged_hash
from deniable.studies.joint.protocol.ristretto import SIZE, checked_point, minus, plus, random_scalar, times, times_base

KEY = 16
"""Bytes of a transferred key."""


class TransferSender:
    """The side that ends with both keys of every place."""

    def __init__(self, session: bytes) -> None:
        self._session = session
        self._secret = random_scalar()
        self.opening = times_base(self._secret)
        """The first message, 32 bytes."""

    def keys(self, replies: bytes) -> list[tuple[bytes, bytes]]:
        """Both keys of each place, from the chooser's points."""
        if len(replies) % SIZE:
            raise BadMessage("replies must be a whole number of 32-byte points")
        shift = times(self._secret, self.opening)
        pairs = []
        for place in range(len(replies) // SIZE):
            reply = checked_point(replies[place * SIZE : (place + 1) * SIZE])
            shared = times(self._secret, reply)
            both = (shared, minus(shared, shift))
            pairs.append(tuple(transfer_key(self._session, place, self.opening, reply, point) for point in both))
        return [(zero, one) for zero, one in pairs]


class TransferChooser:
    """The side that ends with the key of its choice at every place."""

    def __init__(self, session: bytes, opening: bytes, choices: Sequence[int]) -> None:
        checked_point(opening)
        replies = []
        self.keys: list[bytes] = []
        for place, choice in enumerate(choices):
            secret = random_scalar()
            plain = times_base(secret)
            # Both are computed, so the time does not depend on the choice.
            reply = (plain, plus(plain, opening))[choice]
            replies.append(reply)
            self.keys.append(transfer_key(session, place, opening, reply, times(secret, opening)))
        self.replies = b"".join(replies)
        """The answer to the opening, 32 bytes for each choice."""


def transfer_key(session: bytes, place: int, opening: bytes, reply: bytes, shared: bytes) -> bytes:
    """The key of one place from its shared point."""
    return tagged_hash("transfer", session, place.to_bytes(4, "big"), opening, reply, shared)[:KEY]
