"""Oblivious HTTP (RFC 9458): the relay sees who sends and not what, the gateway what is sent and not by whom."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from deniable.errors import BadMessage, InvalidParameter
from deniable.privacy.anonymity import hpke

KEYS_TYPE, REQUEST_TYPE, RESPONSE_TYPE = "application/ohttp-keys", "message/ohttp-req", "message/ohttp-res"
_HEADER = 7
_REPLY_NONCE = max(hpke.NONCE, hpke.KEY)
_SUITE = hpke.KDF.to_bytes(2, "big") + hpke.AEAD.to_bytes(2, "big")


@dataclass(frozen=True)
class KeyConfiguration:
    """A gateway's public key as it is handed out: its number and what it is for."""

    key_id: int
    public: bytes

    def to_bytes(self) -> bytes:
        """One configuration, offering the one suite this package speaks."""
        return bytes([self.key_id]) + hpke.KEM.to_bytes(2, "big") + self.public + len(_SUITE).to_bytes(2, "big") + _SUITE

    @staticmethod
    def from_bytes(data: bytes) -> KeyConfiguration | None:
        """The configuration, None where it offers no suite that this package speaks, or BadMessage."""
        wrong = BadMessage("a key configuration is cut off or malformed")
        if len(data) < 3:
            raise wrong
        if int.from_bytes(data[1:3], "big") != hpke.KEM:
            return None
        suites = data[3 + hpke.ENCAPSULATED + 2 :]
        stated = int.from_bytes(data[3 + hpke.ENCAPSULATED : 3 + hpke.ENCAPSULATED + 2], "big")
        if len(suites) != stated or not stated or stated % 4:
            raise wrong
        offered = {suites[at : at + 4] for at in range(0, stated, 4)}
        return KeyConfiguration(data[0], data[3 : 3 + hpke.ENCAPSULATED]) if _SUITE in offered else None


def encode_keys(configurations: Sequence[KeyConfiguration]) -> bytes:
    """All keys that a gateway accepts, newest first, as `application/ohttp-keys`."""
    parts = [configuration.to_bytes() for configuration in configurations]
    return b"".join(len(part).to_bytes(2, "big") + part for part in parts)


def decode_keys(data: bytes) -> KeyConfiguration:
    """The first key of a gateway that this package can use."""
    while data:
        length = int.from_bytes(data[:2], "big")
        part, data = data[2 : 2 + length], data[2 + length :]
        if len(part) != length:
            raise BadMessage("a list of key configurations is cut off")
        if (configuration := KeyConfiguration.from_bytes(part)) is not None:
            return configuration
    raise BadMessage("the gateway offers no key for X25519, HKDF-SHA256 and AES-128-GCM")


def _info(header: bytes) -> bytes:
    return b"message/bhttp request\0" + header


def _reply_keys(context: hpke.Context, nonce: bytes) -> hpke.Context:
    secret = context.export(b"message/bhttp response", _REPLY_NONCE)
    pseudorandom = hpke.extract(context.encapsulated + nonce, secret)
    key, once = hpke.expand(pseudorandom, b"key", hpke.KEY), hpke.expand(pseudorandom, b"nonce", hpke.NONCE)
    return hpke.Context(context.encapsulated, key, once, b"")


@dataclass(frozen=True)
class SentRequest:
    """An encapsulated request, and what opens its reply."""

    data: bytes
    context: hpke.Context = field(repr=False)

    def open_reply(self, data: bytes) -> bytes:
        """The gateway's reply in binary HTTP, or BadMessage."""
        return _reply_keys(self.context, data[:_REPLY_NONCE]).open(data[_REPLY_NONCE:])


def encapsulate(key: KeyConfiguration, message: bytes, *, ephemeral: X25519PrivateKey | None = None) -> SentRequest:
    """A request for the gateway with this key. `ephemeral` is for published test vectors only."""
    header = bytes([key.key_id]) + hpke.KEM.to_bytes(2, "big") + _SUITE
    context = hpke.sending(key.public, _info(header), ephemeral=ephemeral)
    return SentRequest(header + context.encapsulated + context.seal(message), context)


@dataclass(frozen=True)
class ReceivedRequest:
    """A request that was opened, and what closes its reply."""

    message: bytes = field(repr=False)
    context: hpke.Context = field(repr=False)

    def reply(self, message: bytes, *, nonce: bytes | None = None) -> bytes:
        """The encapsulated reply. `nonce` is for published test vectors only."""
        once = os.urandom(_REPLY_NONCE) if nonce is None else nonce
        return once + _reply_keys(self.context, once).seal(message)


class UnknownKey(BadMessage):
    """A request for a key that this gateway does not have, or no longer has: the client fetches the keys again."""


@dataclass(frozen=True)
class GatewayKeys:
    """The private keys of a gateway by number, newest first: an old one is kept until nobody can still hold its public key."""

    keys: dict[int, X25519PrivateKey] = field(repr=False)

    def __post_init__(self) -> None:
        if not self.keys or not all(0 <= number < 256 for number in self.keys):
            raise InvalidParameter("a gateway needs at least one key, numbered 0 to 255")

    def published(self) -> bytes:
        """What the gateway hands out as `application/ohttp-keys`."""
        return encode_keys([KeyConfiguration(number, key.public_key().public_bytes_raw()) for number, key in self.keys.items()])

    def rotated(self, *, keep: int = 2) -> GatewayKeys:
        """A new key first, and the newest of the old ones, `keep` altogether."""
        number = (next(iter(self.keys)) + 1) % 256
        older = [(old, key) for old, key in self.keys.items() if old != number]
        return GatewayKeys(dict([(number, X25519PrivateKey.generate()), *older][:keep]))

    def open(self, data: bytes) -> ReceivedRequest:
        """An encapsulated request, or BadMessage."""
        header, encapsulated = data[:_HEADER], data[_HEADER : _HEADER + hpke.ENCAPSULATED]
        if len(data) < _HEADER + hpke.ENCAPSULATED + hpke.TAG:
            raise BadMessage("an encapsulated request is cut off")
        if header[1:] != hpke.KEM.to_bytes(2, "big") + _SUITE or header[0] not in self.keys:
            raise UnknownKey("this request is for a key that the gateway does not have; fetch its keys again")
        context = hpke.receiving(self.keys[header[0]], encapsulated, _info(header))
        return ReceivedRequest(context.open(data[_HEADER + hpke.ENCAPSULATED :]), context)
