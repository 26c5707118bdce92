"""Frames over a socket: four bytes of length, then the message; strict limits, one deadline for everything."""

from __future__ import annotations

import socket
import time
from types import TracebackType

from deniable.errors import BadMessage, InvalidParameter, PeerLost

MOST_FRAME = 1 << 16
"""No honest message is longer."""
MOST_BYTES = 1 << 20
"""No honest conversation needs more in one direction."""

HELLO = b"deniable relay 1 "
"""How a user greets a relay; 32 bytes naming the room follow."""
READY = b"ready"
"""What the relay says when the other user is there."""


class SocketLink:
    """A link over a connected socket. It ends by itself after `seconds`, however slowly the other side drips."""

    def __init__(self, connection: socket.socket, seconds: float = 30, most_bytes: int = MOST_BYTES) -> None:
        self._socket = connection
        self._deadline = time.monotonic() + seconds
        self._most = most_bytes
        self.sent = 0
        self.received = 0
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @classmethod
    def connect(cls, host: str, port: int, seconds: float = 30, most_bytes: int = MOST_BYTES) -> SocketLink:
        """Connect to a relay, to a board, or straight to the other user."""
        if not 1 <= port <= 65535:
            raise InvalidParameter("port must be from 1 to 65535")
        try:
            return cls(socket.create_connection((host, port), timeout=seconds), seconds, most_bytes)
        except OSError as lost:
            raise PeerLost(f"no connection to port {port}; is the relay running, or the board?") from lost

    def send(self, message: bytes) -> None:
        """Send one frame."""
        if len(message) > MOST_FRAME:
            raise BadMessage(f"a message must have at most {MOST_FRAME} bytes")
        self._wait_at_most()
        try:
            self._socket.sendall(len(message).to_bytes(4, "big") + message)
        except OSError as lost:
            raise PeerLost("the other side is gone") from lost
        self.sent += 4 + len(message)

    def receive(self) -> bytes:
        """Wait for one frame."""
        size = int.from_bytes(self._exactly(4), "big")
        if size > MOST_FRAME:
            raise BadMessage(f"a frame must have at most {MOST_FRAME} bytes")
        return self._exactly(size)

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def __enter__(self) -> SocketLink:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _exactly(self, size: int) -> bytes:
        if self.received + size > self._most:
            raise BadMessage(f"the other side sent more than {self._most} bytes")
        parts = bytearray()
        while len(parts) < size:
            self._wait_at_most()
            try:
                part = self._socket.recv(size - len(parts))
            except TimeoutError as late:
                raise PeerLost("the other side was silent for too long") from late
            except OSError as lost:
                raise PeerLost("the other side is gone") from lost
            if not part:
                raise PeerLost("the other side hung up")
            parts += part
        self.received += size
        return bytes(parts)

    def _wait_at_most(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise PeerLost("the conversation took too long")
        self._socket.settimeout(left)


def address(text: str) -> tuple[str, int]:
    """HOST:PORT as a pair.

    >>> address("127.0.0.1:7455")
    ('127.0.0.1', 7455)
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise InvalidParameter("an address must be HOST:PORT")
    return host, int(port)
