"""How a device reaches a collector through a relay: the relay sees its address, the collector its report, and nobody both."""

from __future__ import annotations

import urllib.parse
from dataclasses import dataclass, field, replace

from deniable.errors import BadMessage, InvalidParameter, NotDelivered
from deniable.privacy.anonymity.binary_http import HttpRequest, decode_response, encode_request
from deniable.privacy.anonymity.oblivious import KEYS_TYPE, REQUEST_TYPE, KeyConfiguration, decode_keys, encapsulate
from deniable.surveys import HttpTransport, Transport

SMALLEST = 1024
"""Bytes: what is shorter is filled up to this, what is longer to the next power of two."""


def padded_size(length: int) -> int:
    """The size of a message that has to hold this many bytes.

    >>> [padded_size(length) for length in (1, 1024, 1025, 5000)]
    [1024, 1024, 2048, 8192]
    """
    return max(SMALLEST, 1 << (length - 1).bit_length())


@dataclass
class ObliviousTransport:
    """Fetches and posts through a relay (RFC 9458).

    `relay` is its address. It hands out the gateway's keys to everyone alike, so a gateway cannot give each device a key of its
    own, unless both work together. A request and its answer are padded to a power of two. `token` goes with what is posted,
    inside the encryption: `Bearer …` for a collector's own tokens, `PrivateToken token=…` for one that names nobody.
    """

    relay: str
    carrier: Transport = field(default_factory=HttpTransport)
    token: str | None = field(default=None, repr=False)
    _key: KeyConfiguration | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.carrier, HttpTransport):
            if self.carrier.token is not None:
                raise InvalidParameter("a token in the outer request names the sender to the relay; give it to ObliviousTransport")
            self.carrier.check(self.relay)

    def with_token(self, token: str) -> ObliviousTransport:
        """The same with another token: one word for a bearer's, or the whole value of the header."""
        other = replace(self, token=token if " " in token else f"Bearer {token}")
        other._key = self._key
        return other

    def get(self, url: str) -> tuple[int, bytes]:
        """Status and body; raises NotDelivered when nobody answered."""
        return self._through(b"GET", url, (), b"")

    def post(self, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        """Status and body; raises NotDelivered when nobody answered."""
        headers: tuple[tuple[bytes, bytes], ...] = ((b"content-type", content_type.encode()),)
        if self.token is not None:
            headers += ((b"authorization", self.token.encode()),)
        return self._through(b"POST", url, headers, body)

    def _through(self, method: bytes, url: str, headers: tuple[tuple[bytes, bytes], ...], body: bytes) -> tuple[int, bytes]:
        parts = urllib.parse.urlsplit(url)
        request = HttpRequest(method, parts.scheme.encode(), parts.netloc.encode(), parts.path.encode(), headers, body)
        message = encode_request(request, padded_size(len(encode_request(request)) + 3))
        for _ in range(2):
            sent = encapsulate(self._gateway_key(), message)
            status, data = self.carrier.post(self.relay, sent.data, REQUEST_TYPE)
            if status == 200:
                break
            if status not in (400, 401, 422):
                # The relay's word is not the collector's: a report that it cannot pass on has not been refused, and waits.
                raise NotDelivered(f"the relay cannot pass it on now (status {status})")
            self._key = None  # the gateway may have a new one
        else:
            raise NotDelivered("the gateway behind the relay does not take its own key; try again later")
        try:
            response = decode_response(sent.open_reply(data))
        except BadMessage:
            raise NotDelivered("the relay's answer did not come from the gateway") from None
        return response.status, response.body

    def _gateway_key(self) -> KeyConfiguration:
        if self._key is None:
            status, data = self.carrier.get(f"{self.relay.rstrip('/')}/ohttp-keys")
            if status != 200:
                raise NotDelivered(f"the relay does not give out the gateway's keys ({KEYS_TYPE}, status {status})")
            try:
                self._key = decode_keys(data)
            except BadMessage as error:
                raise NotDelivered(f"the relay's list of keys cannot be used: {error}") from None
        return self._key
