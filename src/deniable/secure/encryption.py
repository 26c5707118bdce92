"""End-to-end encryption between two users who know each other's public key (from a roster, not from the relay).

X25519 of fresh and lasting keys in all four combinations, HKDF-SHA-256, then ChaCha20-Poly1305 with one key for each
direction. A relay, or anyone else in between, sees lengths and times. Every message carries its number.
"""

from __future__ import annotations

from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from deniable.errors import BadMessage, Replayed
from deniable.secure.conversation import Link
from deniable.secure.hashing import tagged_hash

KEY = 32


@dataclass(frozen=True)
class Identity:
    """A user's lasting key pair."""

    private: X25519PrivateKey

    @classmethod
    def new(cls) -> Identity:
        """A fresh key pair."""
        return cls(X25519PrivateKey.generate())

    @classmethod
    def from_bytes(cls, data: bytes) -> Identity:
        """The key pair of 32 private bytes."""
        return cls(X25519PrivateKey.from_private_bytes(data))

    def to_bytes(self) -> bytes:
        """The 32 private bytes, for a file that only the user can read."""
        return self.private.private_bytes_raw()

    @property
    def public(self) -> bytes:
        """What the others know."""
        return self.private.public_key().public_bytes_raw()

    def __repr__(self) -> str:
        return f"Identity(public={self.public.hex()})"


class SealedLink:
    """A link whose messages only the two users can read, forge or repeat unnoticed."""

    def __init__(self, link: Link, identity: Identity, peer: bytes, *, first: bool, context: bytes) -> None:
        """Shake hands. Both must name the same context (law, round, names), or nothing they say is understood."""
        fresh = Identity.new()
        link.send(fresh.public)
        theirs = link.receive()
        if len(theirs) != KEY or len(peer) != KEY:
            raise BadMessage("a public key must be 32 bytes")
        secrets = [(fresh, theirs), (identity, theirs), (fresh, peer), (identity, peer)]
        if not first:
            # The middle two are each other's mirror image.
            secrets[1], secrets[2] = secrets[2], secrets[1]
        shared = b"".join(_exchange(own, other) for own, other in secrets)
        ours, others = (identity.public, fresh.public), (peer, theirs)
        self.context = tagged_hash("handshake", context, *(ours + others if first else others + ours))
        """32 bytes that bind both users, both fresh keys and the given context."""
        keys = HKDF(SHA256(), 2 * KEY, salt=self.context, info=b"deniable sealed link 1").derive(shared)
        halves = keys[:KEY], keys[KEY:]
        self._link = link
        self._seal, self._open = (ChaCha20Poly1305(key) for key in (halves if first else halves[::-1]))
        self._sent = self._received = 0

    def send(self, message: bytes) -> None:
        """Send one message, sealed and numbered."""
        number = self._sent.to_bytes(8, "big")
        self._sent += 1
        self._link.send(number + self._seal.encrypt(bytes(4) + number, message, self.context))

    def receive(self) -> bytes:
        """Wait for the next message; an old one, or one out of order, is refused."""
        frame = self._link.receive()
        if len(frame) < 8 + 16:
            raise BadMessage("a sealed message must have at least 24 bytes")
        if int.from_bytes(frame[:8], "big") != self._received:
            raise Replayed("a message came again or out of order")
        try:
            message = self._open.decrypt(bytes(4) + frame[:8], frame[8:], self.context)
        except InvalidTag as forged:
            raise BadMessage("a message is not from the user it should be from, or was changed on its way") from forged
        self._received += 1
        return message


def _exchange(own: Identity, other: bytes) -> bytes:
    try:
        return own.private.exchange(X25519PublicKey.from_public_bytes(other))
    except ValueError as weak:
        raise BadMessage("a public key is not usable") from weak
