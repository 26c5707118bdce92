"""Messages between the local engine and its processes: a length, then so many bytes."""

from __future__ import annotations

from typing import IO

LENGTH_BYTES = 8


def write_frame(stream: IO[bytes], data: bytes) -> None:
    """A length, then so many bytes."""
    stream.write(len(data).to_bytes(LENGTH_BYTES, "big") + data)
    stream.flush()


def read_frame(stream: IO[bytes]) -> bytes:
    """The next frame; an end of the stream is an error."""
    head = stream.read(LENGTH_BYTES)
    data = stream.read(int.from_bytes(head, "big")) if len(head) == LENGTH_BYTES else b""
    if len(head) < LENGTH_BYTES or len(data) < int.from_bytes(head, "big"):
        raise EOFError
    return data
