"""Requests and responses as bytes (RFC 9292, messages of known length), padded to one size."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.errors import BadMessage, InvalidParameter

Fields = tuple[tuple[bytes, bytes], ...]
REQUEST, RESPONSE = 0, 1
_CUT = "a message in binary HTTP is cut off or malformed"


@dataclass(frozen=True)
class HttpRequest:
    """What a client wants from the gateway's own service."""

    method: bytes
    scheme: bytes
    authority: bytes
    path: bytes
    headers: Fields = ()
    body: bytes = b""


@dataclass(frozen=True)
class HttpResponse:
    """What the service said."""

    status: int
    headers: Fields = ()
    body: bytes = b""


def _number(value: int) -> bytes:
    """A variable-length integer of QUIC (RFC 9000, section 16)."""
    if 0 <= value < 64:
        return bytes((value,))
    for prefix, size in enumerate((1, 2, 4, 8)):
        if value < 1 << (8 * size - 2):
            return (value | prefix << (8 * size - 2)).to_bytes(size, "big")
    raise InvalidParameter("a length in binary HTTP must be below 2**62")


def _text(data: bytes) -> bytes:
    return _number(len(data)) + data


def _fields(fields: Fields) -> bytes:
    return _text(b"".join(_text(name) + _text(value) for name, value in fields))


def _padded(message: bytes, headers: Fields, body: bytes, size: int | None) -> bytes:
    if size is None and not headers and not body:
        return message  # sections that are empty to the end may be left out
    message += _fields(headers) + _text(body)
    if size is None:
        return message
    message += _number(0)  # no trailers; zeros after them are padding
    if len(message) > size:
        raise InvalidParameter(f"a message of {len(message)} bytes does not fit into the {size} that all messages have")
    return message.ljust(size, b"\0")


def encode_request(request: HttpRequest, size: int | None = None) -> bytes:
    """A request as bytes, filled up with zeros to `size`.

    >>> encode_request(HttpRequest(b"GET", b"https", b"example.com", b"/")).hex()
    '00034745540568747470730b6578616d706c652e636f6d012f'
    """
    control = b"".join(map(_text, (request.method, request.scheme, request.authority, request.path)))
    return _padded(_number(REQUEST) + control, request.headers, request.body, size)


def encode_response(response: HttpResponse, size: int | None = None) -> bytes:
    """A response as bytes, filled up with zeros to `size`."""
    return _padded(_number(RESPONSE) + _number(response.status), response.headers, response.body, size)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, length: int) -> bytes:
        part = self.data[self.at : self.at + length]
        if len(part) != length:
            raise BadMessage(_CUT)
        self.at += length
        return part

    def number(self) -> int:
        first = self.take(1)[0]
        if first < 64:
            return first
        value = first & 0x3F
        for byte in self.take((1 << (first >> 6)) - 1):
            value = value << 8 | byte
        return value

    def text(self) -> bytes:
        return self.take(self.number())

    def ended(self) -> bool:
        return self.at == len(self.data)

    def fields(self) -> Fields:
        section = _Reader(b"" if self.ended() else self.text())
        pairs = []
        while not section.ended():
            pairs.append((section.text(), section.text()))
        return tuple(pairs)

    def rest(self) -> tuple[Fields, bytes]:
        headers = self.fields()
        body = b"" if self.ended() else self.text()
        self.fields()  # trailers are read and have no meaning here
        if any(self.data[self.at :]):
            raise BadMessage("padding in binary HTTP must be zeros")
        return headers, body


def decode_request(data: bytes) -> HttpRequest:
    """The request that was encoded, or BadMessage."""
    reader = _Reader(data)
    if reader.number() != REQUEST:
        raise BadMessage("a request of known length was expected in binary HTTP")
    method, scheme, authority, path = (reader.text() for _ in range(4))
    return HttpRequest(method, scheme, authority, path, *reader.rest())


def decode_response(data: bytes) -> HttpResponse:
    """The response that was encoded, or BadMessage; interim responses are skipped."""
    reader = _Reader(data)
    if reader.number() != RESPONSE:
        raise BadMessage("a response of known length was expected in binary HTTP")
    while 100 <= (status := reader.number()) < 200:
        reader.fields()
    if not 200 <= status < 600:
        raise BadMessage("a response in binary HTTP has a status that does not exist")
    return HttpResponse(status, *reader.rest())
