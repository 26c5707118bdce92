"""Tokens that admit a person once and name nobody (Privacy Pass, RFC 9577 and 9578).

Type 2 is verified by everyone with the issuer's public key (blind RSA). Type 1 is verified by whoever has the issuer's secret
key (VOPRF on P-384). A client asks for a token with a blinded request; the issuer cannot recognise the token when it is spent.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from deniable.errors import BadMessage, InvalidParameter
from deniable.privacy.anonymity import voprf
from deniable.privacy.anonymity.blind_rsa import Blinded, BlindPrivateKey, BlindPublicKey
from deniable.privacy.anonymity.p384 import POINT, Point

PRIVATE, PUBLIC = 0x0001, 0x0002
"""The two types: verified with the issuer's secret key, or with its public one."""
REQUEST_MEDIA, RESPONSE_MEDIA = "application/private-token-request", "application/private-token-response"
_PSS = bytes.fromhex(
    "303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d010108300b0609608648016503040202a203020130"
)
"""The algorithm of a key for RSASSA-PSS with SHA-384 and a salt of 48 bytes, in DER."""


@dataclass(frozen=True)
class TokenChallenge:
    """For what a token is good: its type, its issuer, a context of 32 bytes, and where it is spent."""

    token_type: int
    issuer: str
    context: bytes = b""
    origin: str = ""

    def to_bytes(self) -> bytes:
        """As in RFC 9577, section 2.1."""
        issuer, origin = self.issuer.encode(), self.origin.encode()
        if len(self.context) not in (0, 32) or not 0 < len(issuer) < 1 << 16 or len(origin) >= 1 << 16:
            raise InvalidParameter("a token's context has 0 or 32 bytes, and its issuer a name of up to 65,535 bytes")
        head = self.token_type.to_bytes(2, "big") + len(issuer).to_bytes(2, "big") + issuer
        return head + bytes([len(self.context)]) + self.context + len(origin).to_bytes(2, "big") + origin

    @property
    def digest(self) -> bytes:
        """What a token carries of it."""
        return hashlib.sha256(self.to_bytes()).digest()


@dataclass(frozen=True)
class Token:
    """32 random bytes, what they are good for, and what shows that the issuer admitted somebody."""

    token_type: int
    nonce: bytes = field(repr=False)
    challenge_digest: bytes
    key_id: bytes
    authenticator: bytes = field(repr=False)

    @property
    def signed(self) -> bytes:
        """Everything but the authenticator."""
        return self.token_type.to_bytes(2, "big") + self.nonce + self.challenge_digest + self.key_id

    def to_bytes(self) -> bytes:
        """As in RFC 9577, section 2.2."""
        return self.signed + self.authenticator

    @staticmethod
    def from_bytes(data: bytes) -> Token:
        """A token of a known type and length, or BadMessage."""
        token_type = int.from_bytes(data[:2], "big")
        length = {PRIVATE: 48, PUBLIC: 256}.get(token_type)
        if length is None or len(data) != 98 + length:
            raise BadMessage("a token has an unknown type or the wrong length")
        return Token(token_type, data[2:34], data[34:66], data[66:98], data[98:])


class IssuerKey(Protocol):
    """What an issuer signs requests with."""

    @property
    def token_type(self) -> int:
        """Which of the two types it makes."""
        ...

    @property
    def public_bytes(self) -> bytes:
        """The public key, as it is published."""
        ...

    def issue(self, request: bytes) -> bytes:
        """The answer to a request, or BadMessage."""
        ...

    def accepts(self, token: Token) -> bool:
        """Did this key make it?"""
        ...


@dataclass(frozen=True)
class PendingToken:
    """A token that was asked for."""

    request: bytes
    signed: bytes = field(repr=False)
    secret: Blinded | voprf.BlindedInput = field(repr=False)


def key_id(public: bytes) -> bytes:
    """The name of a public key: its SHA-256."""
    return hashlib.sha256(public).digest()


def _token_of(signed: bytes, authenticator: bytes) -> Token:
    return Token.from_bytes(signed + authenticator)


def _request(token_type: int, public: bytes, data: bytes) -> bytes:
    return token_type.to_bytes(2, "big") + key_id(public)[-1:] + data


def _requested(token_type: int, public: bytes, request: bytes, length: int) -> bytes:
    if len(request) != 3 + length or request[:3] != _request(token_type, public, b""):
        raise BadMessage("a token request has the wrong length or type, or is for another key of the issuer")
    return request[3:]


def _signed(challenge: TokenChallenge, public: bytes, nonce: bytes | None) -> bytes:
    nonce = os.urandom(32) if nonce is None else nonce
    return challenge.token_type.to_bytes(2, "big") + nonce + challenge.digest + key_id(public)


def _der(tag: int, content: bytes) -> bytes:
    length = len(content)
    size = b"" if length < 128 else length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([tag, 128 | len(size) if size else length]) + size + content


def _integer(value: int) -> bytes:
    return _der(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def _read_der(data: bytes, tag: int) -> tuple[bytes, bytes]:
    """The content of an element, and what follows it."""
    if len(data) < 2 or data[0] != tag:
        raise BadMessage("a public key is not in the form of RFC 9578")
    extra = data[1] & 127 if data[1] & 128 else 0
    length = int.from_bytes(data[2 : 2 + extra], "big") if extra else data[1]
    content, rest = data[2 + extra : 2 + extra + length], data[2 + extra + length :]
    if len(content) != length:
        raise BadMessage("a public key is cut off")
    return content, rest


@dataclass(frozen=True)
class PublicTokenKey:
    """The public key of type 2, with which a client asks and everyone verifies."""

    key: BlindPublicKey
    token_type: int = field(default=PUBLIC, init=False)

    @property
    def public_bytes(self) -> bytes:
        """The key as RFC 9578 publishes it."""
        numbers = _der(0x30, _integer(self.key.modulus) + _integer(self.key.exponent))
        return _der(0x30, _PSS + _der(3, b"\0" + numbers))

    @staticmethod
    def from_bytes(data: bytes) -> PublicTokenKey:
        """A published key, or BadMessage."""
        outer, rest = _read_der(data, 0x30)
        if rest or not outer.startswith(_PSS):
            raise BadMessage("a public key is not one for RSASSA-PSS with SHA-384")
        bits, _ = _read_der(outer[len(_PSS) :], 3)
        numbers, _ = _read_der(bits[1:], 0x30)
        modulus, rest = _read_der(numbers, 2)
        exponent, _ = _read_der(rest, 2)
        key = PublicTokenKey(BlindPublicKey(int.from_bytes(modulus, "big"), int.from_bytes(exponent, "big")))
        if key.public_bytes != data or key.key.modulus.bit_length() != 2048:
            raise BadMessage("a public key must have 2048 bits, and the one encoding of RFC 9578")
        return key

    def ask(
        self, challenge: TokenChallenge, *, nonce: bytes | None = None, salt: bytes | None = None, inverse: int | None = None
    ) -> PendingToken:
        """Ask for a token. The keywords are for published test vectors only."""
        signed = _signed(challenge, self.public_bytes, nonce)
        hidden = self.key.blind(signed, salt=salt, inverse=inverse)
        return PendingToken(_request(PUBLIC, self.public_bytes, hidden.data), signed, hidden)

    def receive(self, pending: PendingToken, response: bytes) -> Token:
        """The token, or BadMessage if the issuer's answer is wrong."""
        if not isinstance(pending.secret, Blinded):
            raise InvalidParameter("this token was asked for with a key of the other type")
        return _token_of(pending.signed, self.key.finalize(pending.secret, response))

    def accepts(self, token: Token) -> bool:
        """Did the issuer with this key make it?"""
        return (
            token.token_type == PUBLIC
            and hmac.compare_digest(token.key_id, key_id(self.public_bytes))
            and self.key.verify(token.signed, token.authenticator)
        )


@dataclass(frozen=True)
class PublicTokenIssuer:
    """The secret key of type 2."""

    key: BlindPrivateKey
    token_type: int = field(default=PUBLIC, init=False)

    @property
    def public(self) -> PublicTokenKey:
        """What is published."""
        return PublicTokenKey(self.key.public)

    @property
    def public_bytes(self) -> bytes:
        """The public key, as it is published."""
        return self.public.public_bytes

    def issue(self, request: bytes) -> bytes:
        """The answer to a request, or BadMessage."""
        return self.key.sign(_requested(PUBLIC, self.public_bytes, request, self.key.public.size))

    def accepts(self, token: Token) -> bool:
        """Did this key make it?"""
        return self.public.accepts(token)


@dataclass(frozen=True)
class PrivateTokenKey:
    """The public key of type 1, with which a client asks and checks that everyone is served with the same key."""

    key: Point
    token_type: int = field(default=PRIVATE, init=False)

    @property
    def public_bytes(self) -> bytes:
        """The key as RFC 9578 publishes it."""
        return self.key.to_bytes()

    def ask(self, challenge: TokenChallenge, *, nonce: bytes | None = None, blind: int | None = None) -> PendingToken:
        """Ask for a token. The keywords are for published test vectors only."""
        signed = _signed(challenge, self.public_bytes, nonce)
        hidden = voprf.blind(signed, factor=blind)
        return PendingToken(_request(PRIVATE, self.public_bytes, hidden.element.to_bytes()), signed, hidden)

    def receive(self, pending: PendingToken, response: bytes) -> Token:
        """The token, or BadMessage if the issuer's answer is wrong."""
        if not isinstance(pending.secret, voprf.BlindedInput):
            raise InvalidParameter("this token was asked for with a key of the other type")
        if len(response) != POINT + voprf.PROOF:
            raise BadMessage("an issuer's answer has the wrong length")
        evaluated = Point.from_bytes(response[:POINT])
        return _token_of(pending.signed, voprf.finalize([pending.secret], [evaluated], response[POINT:], self.key)[0])


@dataclass(frozen=True)
class PrivateTokenIssuer:
    """The secret key of type 1, with which tokens are made and verified."""

    key: voprf.EvaluationKey
    token_type: int = field(default=PRIVATE, init=False)

    @property
    def public(self) -> PrivateTokenKey:
        """What is published."""
        return PrivateTokenKey(self.key.public)

    @property
    def public_bytes(self) -> bytes:
        """The public key, as it is published."""
        return self.public.public_bytes

    def issue(self, request: bytes) -> bytes:
        """The answer to a request, or BadMessage."""
        element = Point.from_bytes(_requested(PRIVATE, self.public_bytes, request, POINT))
        evaluated, proof = self.key.evaluate([element])
        return evaluated[0].to_bytes() + proof

    def accepts(self, token: Token) -> bool:
        """Did this key make it?"""
        return (
            token.token_type == PRIVATE
            and hmac.compare_digest(token.key_id, key_id(self.public_bytes))
            and hmac.compare_digest(token.authenticator, self.key.output(token.signed))
        )


TokenKey = PublicTokenKey | PrivateTokenKey


def public_key_from_bytes(data: bytes) -> TokenKey:
    """A published key of either type."""
    return PrivateTokenKey(Point.from_bytes(data)) if len(data) == POINT else PublicTokenKey.from_bytes(data)


def all_from(pending: Sequence[PendingToken], responses: Sequence[bytes], key: TokenKey) -> list[Token]:
    """The tokens of several requests."""
    if len(pending) != len(responses):
        raise BadMessage("the issuer answered another number of requests")
    return [key.receive(one, answer) for one, answer in zip(pending, responses, strict=True)]
