"""Pages of every site may use a relay and an issuer: neither knows cookies, so a page can do no more there than any program."""

from __future__ import annotations

from starlette.types import Message, Send

_ANY_PAGE = (b"access-control-allow-origin", b"*")


def for_any_page(send: Send) -> Send:
    """The same, with the header that lets a page of another site read the answer."""

    async def to_page(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"].append(_ANY_PAGE)
        await send(message)

    return to_page


async def preflight(send: Send, headers: bytes) -> None:
    """What a browser asks before a page of another site may send these headers."""
    said = [
        _ANY_PAGE,
        (b"access-control-allow-methods", b"GET, POST"),
        (b"access-control-allow-headers", headers),
        (b"access-control-max-age", b"86400"),
        (b"content-length", b"0"),
    ]
    await send({"type": "http.response.start", "status": 204, "headers": said})
    await send({"type": "http.response.body", "body": b""})
