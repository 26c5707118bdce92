"""A server on the loopback that keeps every byte it gets, connection by connection, and answers from a script."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Sequence

PATIENCE = 120.0


class WireTap:
    """`script` lists the answers to POST requests: a status, or None to hang up without a word; after the last one, 200.

    GET requests get `document`. Every connection ends with its answer, so that which one is used again is not left to chance.
    """

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._connections: list[bytearray] = []
        self._script: list[int | None] = []
        self._document = b""
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def begin(self, document: bytes, script: Sequence[int | None] = ()) -> None:
        """Forget what came before."""
        self.heard()
        with self._lock:
            self._connections, self._threads = [], []
            self._document, self._script = document, list(script)

    def heard(self) -> tuple[bytes, ...]:
        """The bytes of every connection, in the order they were opened; waits until all are closed."""
        for thread in list(self._threads):
            thread.join(PATIENCE)
        with self._lock:
            return tuple(bytes(connection) for connection in self._connections)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join(PATIENCE)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.settimeout(PATIENCE)
            kept = bytearray()
            thread = threading.Thread(target=self._serve, args=(connection, kept), daemon=True)
            with self._lock:
                self._connections.append(kept)
                self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket, kept: bytearray) -> None:
        with connection:
            while not _is_whole(kept):
                if not _more(connection, kept):
                    return
            answer = self._answer(bytes(kept))
            if answer is None:
                return
            connection.sendall(answer)
            connection.shutdown(socket.SHUT_WR)
            while _more(connection, kept):  # whatever else comes before the other side closes
                pass

    def _answer(self, request: bytes) -> bytes | None:
        with self._lock:
            if request.startswith(b"GET "):
                status: int | None = 200
                body = self._document
            else:
                status = self._script.pop(0) if self._script else 200
                body = b'{"accepted":1,"known":0}'
        if status is None:
            return None
        head = f"HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return f"{head}Connection: close\r\n\r\n".encode() + body


def _is_whole(request: bytearray) -> bool:
    head = request.find(b"\r\n\r\n")
    length = re.search(rb"content-length:\s*(\d+)", request[: max(head, 0)], re.IGNORECASE)
    return head >= 0 and len(request) >= head + 4 + (int(length[1]) if length else 0)


def _more(connection: socket.socket, kept: bytearray) -> bool:
    try:
        piece = connection.recv(1 << 16)
    except OSError:
        return False
    kept += piece
    return bool(piece)
