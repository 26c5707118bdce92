"""End-to-end encryption between two users who know each other's public key (from a roster, not from the relay).

X25519 of fresh and lasting keys in all four combinations, HKDF-SHA-256, then ChaCha20-Poly1305 with one key for each
direction. A relay, or anyone else in between, sees lengths and times. Every message carries its number.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from deniable.errors import BadMessage, Replayed
from deniable.studies.joint.protocol.conversation import Link
from deniable.studies.joint.protocol.hashing import tagged_hash

KEY = 32


@dataclass(frozen=True)
class Identity:
    """A user's lasting key pair."""

    private: X25519PrivateKey

    @classmethod
    def new(cls) -> Identity:
        """A fresh key pair."""
        # Not X25519PrivateKey.generate(): OpenSSL notices a fork by the process's number only, which may stay the same.
        return cls.from_bytes(os.urandom(KEY))

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


class Handshake:
    """One side of agreeing on keys: send `greeting`, give what came back to `seals`."""

    def __init__(self, identity: Identity, peer: bytes, *, first: bool, context: bytes) -> None:
        """Both must name the same context (law, round, names), or nothing they say is understood."""
        self._identity, self._peer, self._first, self._context = identity, peer, first, context
        self._fresh = Identity.new()

    @property
    def greeting(self) -> bytes:
        """The fresh public key."""
        return self._fresh.public

    def seals(self, theirs: bytes) -> Seals:
        """The keys both sides now share."""
        if len(theirs) != KEY or len(self._peer) != KEY:
            raise BadMessage("a public key must be 32 bytes")
        fresh, identity, peer = self._fresh, self._identity, self._peer
        secrets = [(fresh, theirs), (identity, theirs), (fresh, peer), (identity, peer)]
        if not self._first:
            # The middle two are each other's mirror image.
            secrets[1], secrets[2] = secrets[2], secrets[1]
        shared = b"".join(_exchange(own, other) for own, other in secrets)
        ours, others = (identity.public, fresh.public), (peer, theirs)
        bound = tagged_hash("handshake", self._context, *(ours + others if self._first else others + ours))
        keys = HKDF(SHA256(), 2 * KEY, salt=bound, info=b"deniable sealed link 1").derive(shared)
        halves = keys[:KEY], keys[KEY:]
        return Seals(bound, *(halves if self._first else halves[::-1]))


class Seals:
    """Numbered, encrypted frames in both directions; no input or output."""

    def __init__(self, context: bytes, sending: bytes, receiving: bytes) -> None:
        self.context = context
        """32 bytes that bind both users, both fresh keys and the given context."""
        self._seal, self._open = ChaCha20Poly1305(sending), ChaCha20Poly1305(receiving)
        self._sent = self._received = 0

    def seal(self, message: bytes) -> bytes:
        """The next frame to send."""
        number = self._sent.to_bytes(8, "big")
        self._sent += 1
        return number + self._seal.encrypt(bytes(4) + number, message, self.context)

    def open(self, frame: bytes) -> bytes:
        """The message in the next frame; an old one, or one out of order, is refused."""
        if len(frame) < 8 + 16:
            raise BadMessage("a sealed message must have at least 24 bytes")
        if int.from_bytes(frame[:8], "big") != self._received:
            raise Replayed("a message was repeated, or came out of order")
        try:
            message = self._open.decrypt(bytes(4) + frame[:8], frame[8:], self.context)
        except InvalidTag as forged:
            raise BadMessage("a message is not from the user it should be from, or was changed on its way") from forged
        self._received += 1
        return message


class SealedLink:
    """A link whose messages only the two users can read, forge or repeat unnoticed."""

    def __init__(self, link: Link, identity: Identity, peer: bytes, *, first: bool, context: bytes) -> None:
        """Shake hands over a link."""
        handshake = Handshake(identity, peer, first=first, context=context)
        link.send(handshake.greeting)
        self._link, self._seals = link, handshake.seals(link.receive())
        self.context = self._seals.context

    def send(self, message: bytes) -> None:
        """Send one message, sealed and numbered."""
        self._link.send(self._seals.seal(message))

    def receive(self) -> bytes:
        """Wait for the next message; an old one, or one out of order, is refused."""
        return self._seals.open(self._link.receive())


def seal_box(sender: Identity, recipient: bytes, message: bytes, context: bytes) -> bytes:
    """One message to somebody who is not there now: a fresh public key, then the sealed bytes."""
    fresh = Identity.new()
    keys = _exchange(fresh, recipient) + _exchange(sender, recipient)
    return fresh.public + _box(keys, context, sender.public, recipient, fresh.public).encrypt(bytes(12), message, context)


def open_box(recipient: Identity, sender: bytes, box: bytes, context: bytes) -> bytes:
    """The message in a box, if it is from this sender and in this context."""
    fresh, sealed = box[:KEY], box[KEY:]
    if len(fresh) != KEY:
        raise BadMessage("a box must begin with a public key of 32 bytes")
    keys = _exchange(recipient, fresh) + _exchange(recipient, sender)
    try:
        return _box(keys, context, sender, recipient.public, fresh).decrypt(bytes(12), sealed, context)
    except InvalidTag as forged:
        raise BadMessage("a box is not from the user it should be from, or was changed on its way") from forged


def _box(shared: bytes, *bound: bytes) -> ChaCha20Poly1305:
    """Used for one message only, since the fresh key is: the number of the message is always 0."""
    return ChaCha20Poly1305(HKDF(SHA256(), KEY, salt=tagged_hash("box", *bound), info=b"deniable box 1").derive(shared))


def _exchange(own: Identity, other: bytes) -> bytes:
    try:
        return own.private.exchange(X25519PublicKey.from_public_bytes(other))
    except ValueError as weak:
        raise BadMessage("a public key is not usable") from weak
