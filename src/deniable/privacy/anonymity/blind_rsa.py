"""Blind signatures (RFC 9474, RSABSSA-SHA384): the signer signs what it cannot see, and everyone can verify.

Verifying is `cryptography`'s; it offers no signing of a bare number, so that arithmetic is in `powers`.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from functools import cached_property

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from deniable.errors import BadMessage, InvalidParameter
from deniable.privacy.anonymity.powers import fastest_power

HASH = 48
"""Bytes of SHA-384."""
_NOT_ONE = "a blinded message or signature is not a number below the modulus"


_power = fastest_power()


def _mask(seed: bytes, length: int) -> bytes:
    blocks = (hashlib.sha384(seed + counter.to_bytes(4, "big")).digest() for counter in range(-(-length // HASH)))
    return b"".join(blocks)[:length]


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


def encode_message(message: bytes, salt: bytes, bits: int) -> bytes:
    """EMSA-PSS-ENCODE of RFC 8017 with SHA-384, for a modulus of `bits` + 1 bits."""
    length = -(-bits // 8)
    digest = hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()
    block = bytes(length - len(salt) - HASH - 2) + b"\x01" + salt
    masked = bytearray(_xor(block, _mask(digest, length - HASH - 1)))
    masked[0] &= 0xFF >> (8 * length - bits)
    return bytes(masked) + digest + b"\xbc"


@dataclass(frozen=True)
class Blinded:
    """What goes to the signer, and what turns its answer into a signature of the message."""

    data: bytes
    message: bytes = field(repr=False)
    inverse: int = field(repr=False)


@dataclass(frozen=True)
class BlindPublicKey:
    """A signer's public key. `salt_length` is 48, or 0 for signatures without a salt."""

    modulus: int
    exponent: int
    salt_length: int = HASH

    @property
    def size(self) -> int:
        """Bytes of a signature."""
        return -(-self.modulus.bit_length() // 8)

    def takes(self, data: bytes) -> bool:
        """Is this a hidden message that can be signed: a number below the modulus, in so many bytes?"""
        return len(data) == self.size and int.from_bytes(data, "big") < self.modulus

    @cached_property
    def _verifier(self) -> rsa.RSAPublicKey:
        try:
            return rsa.RSAPublicNumbers(self.exponent, self.modulus).public_key()
        except ValueError:
            raise BadMessage("a public key is not one of RSA") from None

    def blind(self, message: bytes, *, salt: bytes | None = None, inverse: int | None = None) -> Blinded:
        """Hide a message. `salt` and `inverse` are for published test vectors only."""
        salt = os.urandom(self.salt_length) if salt is None else salt
        encoded = int.from_bytes(encode_message(message, salt, self.modulus.bit_length() - 1), "big")
        if inverse is None:
            factor, inverse = self._invertible()
        else:
            factor = pow(inverse, -1, self.modulus)
        hidden = encoded * _power(factor, self.exponent, self.modulus) % self.modulus
        return Blinded(hidden.to_bytes(self.size, "big"), message, inverse)

    def _invertible(self) -> tuple[int, int]:
        """A number drawn uniformly below the modulus, and its inverse."""
        spare = self.modulus.bit_length() + 64  # so that the remainder is uniform to 2**-64
        while True:
            factor = int.from_bytes(os.urandom(-(-spare // 8)), "big") % self.modulus
            try:
                return factor, pow(factor, -1, self.modulus)
            except ValueError:
                continue  # nobody has ever met such a number: it would factor the modulus

    def finalize(self, blinded: Blinded, signed: bytes) -> bytes:
        """The signature of the message that was hidden; BadMessage if the signer cheated."""
        if len(signed) != self.size:
            raise BadMessage(_NOT_ONE)
        value = int.from_bytes(signed, "big") * blinded.inverse % self.modulus
        signature = value.to_bytes(self.size, "big")
        if not self.verify(blinded.message, signature):
            raise BadMessage("the signer's answer is not a signature of what was sent")
        return signature

    def verify(self, message: bytes, signature: bytes) -> bool:
        """Is this a signature of the message?"""
        try:
            scheme = padding.PSS(padding.MGF1(hashes.SHA384()), self.salt_length)
            self._verifier.verify(signature, message, scheme, hashes.SHA384())
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True)
class BlindPrivateKey:
    """A signer's key. Each signature is checked before it leaves: one with a fault in it would give the key away."""

    public: BlindPublicKey
    p: int = field(repr=False)
    q: int = field(repr=False)
    d: int = field(repr=False)

    @classmethod
    def generate(cls, bits: int = 2048) -> BlindPrivateKey:
        """A new key from the system's generator."""
        return cls.of(rsa.generate_private_key(65537, bits))

    @classmethod
    def of(cls, key: rsa.RSAPrivateKey) -> BlindPrivateKey:
        """A key of `cryptography`."""
        if key.key_size < 2048:
            raise InvalidParameter("a signing key must have at least 2048 bits")
        numbers = key.private_numbers()
        public = BlindPublicKey(numbers.public_numbers.n, numbers.public_numbers.e)
        return cls(public, numbers.p, numbers.q, numbers.d)

    @cached_property
    def _parts(self) -> tuple[int, int, int]:
        return self.d % (self.p - 1), self.d % (self.q - 1), pow(self.q, -1, self.p)

    def sign(self, data: bytes) -> bytes:
        """Sign a hidden message."""
        public = self.public
        if not public.takes(data):
            raise BadMessage(_NOT_ONE)
        value = int.from_bytes(data, "big")
        # What is raised to the secret power is never what the other side chose: times tell nothing about the key.
        factor, inverse = public._invertible()
        hidden = value * _power(factor, public.exponent, public.modulus) % public.modulus
        at_p, at_q, of_q = self._parts
        high, low = _power(hidden % self.p, at_p, self.p), _power(hidden % self.q, at_q, self.q)
        signed = (low + self.q * ((high - low) * of_q % self.p)) * inverse % public.modulus
        if _power(signed, public.exponent, public.modulus) != value:
            raise BadMessage("the signature was not computed correctly and is not given out")
        return signed.to_bytes(public.size, "big")
