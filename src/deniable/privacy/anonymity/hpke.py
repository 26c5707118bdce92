"""Encryption to a public key (RFC 9180, base mode): X25519, HKDF-SHA256, AES-128-GCM.

`cryptography` offers sealing alone; a reply needs the secret that both sides can export, so the key schedule is written out here.
Key exchange, HMAC and AES are those of `cryptography` and the standard library.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from deniable.errors import BadMessage

KEM, KDF, AEAD = 0x0020, 0x0001, 0x0001
"""The numbers of X25519, HKDF-SHA256 and AES-128-GCM in the registry of RFC 9180."""
ENCAPSULATED, KEY, NONCE, TAG = 32, 16, 12, 16
"""Lengths in bytes."""
_DIGEST = 32
_KEM_SUITE = b"KEM" + KEM.to_bytes(2, "big")
_SUITE = b"HPKE" + b"".join(number.to_bytes(2, "big") for number in (KEM, KDF, AEAD))


def extract(salt: bytes, secret: bytes) -> bytes:
    """HKDF-Extract with SHA-256 (RFC 5869)."""
    return hmac.digest(salt or bytes(32), secret, "sha256")


def expand(key: bytes, info: bytes, length: int) -> bytes:
    """HKDF-Expand with SHA-256 (RFC 5869)."""
    if length <= _DIGEST:
        return hmac.digest(key, info + b"\x01", "sha256")[:length]
    blocks, block = b"", b""
    for counter in range(1, -(-length // _DIGEST) + 1):
        block = hmac.digest(key, block + info + bytes([counter]), "sha256")
        blocks += block
    return blocks[:length]


def _labeled_extract(suite: bytes, salt: bytes, label: bytes, secret: bytes) -> bytes:
    return extract(salt, b"HPKE-v1" + suite + label + secret)


def _labeled_expand(suite: bytes, key: bytes, label: bytes, info: bytes, length: int) -> bytes:
    return expand(key, length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info, length)


@dataclass(frozen=True)
class Context:
    """One message from one sender: its key and nonce, and the secret from which a reply's key is made."""

    encapsulated: bytes
    key: bytes = field(repr=False)
    nonce: bytes = field(repr=False)
    exporter: bytes = field(repr=False)

    def seal(self, text: bytes) -> bytes:
        """Encrypt the one message of this context."""
        return AESGCM(self.key).encrypt(self.nonce, text, b"")

    def open(self, sealed: bytes) -> bytes:
        """Decrypt the one message of this context, or raise BadMessage."""
        try:
            return AESGCM(self.key).decrypt(self.nonce, sealed, b"")
        except (InvalidTag, ValueError):
            raise BadMessage("an encrypted message cannot be opened: it was changed, cut off, or made for another key") from None

    def export(self, label: bytes, length: int) -> bytes:
        """A secret that sender and receiver share beside the message."""
        return _labeled_expand(_SUITE, self.exporter, b"sec", label, length)


@lru_cache(maxsize=16)  # one for each key of a gateway; those of sealed reports come and go
def _schedule(info: bytes) -> bytes:
    base_mode = b"\0"
    return base_mode + _labeled_extract(_SUITE, b"", b"psk_id_hash", b"") + _labeled_extract(_SUITE, b"", b"info_hash", info)


def _context(encapsulated: bytes, exchanged: bytes, receiver: bytes, info: bytes) -> Context:
    pseudorandom = _labeled_extract(_KEM_SUITE, b"", b"eae_prk", exchanged)
    shared = _labeled_expand(_KEM_SUITE, pseudorandom, b"shared_secret", encapsulated + receiver, 32)
    schedule = _schedule(info)
    secret = _labeled_extract(_SUITE, shared, b"secret", b"")
    key = _labeled_expand(_SUITE, secret, b"key", schedule, KEY)
    nonce = _labeled_expand(_SUITE, secret, b"base_nonce", schedule, NONCE)
    return Context(encapsulated, key, nonce, _labeled_expand(_SUITE, secret, b"exp", schedule, 32))


def _exchange(private: X25519PrivateKey, public: bytes) -> bytes:
    try:
        return private.exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:  # wrong length, or a point of small order
        raise BadMessage("a public key is not one of X25519") from None


def sending(receiver: bytes, info: bytes, *, ephemeral: X25519PrivateKey | None = None) -> Context:
    """The sender's side, to a public key of 32 bytes. `ephemeral` is for published test vectors only."""
    own = X25519PrivateKey.generate() if ephemeral is None else ephemeral
    return _context(own.public_key().public_bytes_raw(), _exchange(own, receiver), receiver, info)


def receiving(private: X25519PrivateKey, encapsulated: bytes, info: bytes) -> Context:
    """The receiver's side of the same."""
    return _context(encapsulated, _exchange(private, encapsulated), private.public_key().public_bytes_raw(), info)
