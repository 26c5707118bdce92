"""HTTPS without a proxy: a connection counts from the moment it is accepted, not from the end of its handshake."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Callable

from deniable.collector.addresses import source_of
from deniable.collector.connections import Connection, Connections, Waiting
from deniable.collector.protocol import BoundedProtocol

NO_FILES_PAUSE = 0.1


class _Handshake(Connection):
    """A connection that is not encrypted yet."""

    def __init__(self, accepted: socket.socket) -> None:
        self.accepted = accepted
        self.task: asyncio.Task[None] | None = None

    def drop(self, late: Waiting | None) -> None:
        """Cut it."""
        if self.task is not None:
            self.task.cancel()


class TlsServer:
    """Accepts connections itself, so that those which never finish their handshake are bounded like all others."""

    def __init__(self, context: ssl.SSLContext, table: Connections, make: Callable[[], BoundedProtocol]) -> None:
        self._context = context
        self._table = table
        self._make = make
        self._shaking: set[asyncio.Task[None]] = set()
        self._accepting: asyncio.Task[None] | None = None

    def start(self, listening: socket.socket) -> None:
        """Begin to accept."""
        listening.setblocking(False)
        self._accepting = asyncio.get_running_loop().create_task(self._accept(listening))

    def close(self) -> None:
        """Accept no more; handshakes under way are cut."""
        for task in (self._accepting, *self._shaking):
            if task is not None:
                task.cancel()

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, peer = await loop.sock_accept(listening)
            except OSError:  # as a rule too many open files
                await asyncio.sleep(NO_FILES_PAUSE)
                continue
            handshake = _Handshake(accepted)
            if not self._table.admit(handshake, source_of(peer[0]), Waiting.HANDSHAKE):
                accepted.close()
                continue
            handshake.task = loop.create_task(self._shake(handshake))
            self._shaking.add(handshake.task)
            handshake.task.add_done_callback(self._shaking.discard)

    async def _shake(self, handshake: _Handshake) -> None:
        def make() -> BoundedProtocol:
            protocol = self._make()
            protocol.before = handshake
            return protocol

        try:
            loop, seconds = asyncio.get_running_loop(), self._table.limits.head_seconds
            await loop.connect_accepted_socket(make, handshake.accepted, ssl=self._context, ssl_handshake_timeout=seconds)
        except (OSError, asyncio.CancelledError):
            handshake.accepted.close()
        finally:
            self._table.leave(handshake)


def read_again(context: ssl.SSLContext, certificate: str | os.PathLike[str], key: str | os.PathLike[str] | None) -> None:
    """Take what the files hold now for the next handshakes; raises, and changes nothing, when they do not belong together."""
    # Tried on another context: one that has taken a certificate and then refuses its key serves neither pair any more.
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    context.load_cert_chain(certificate, key)


def unreadable(error: OSError) -> str:
    """Why a certificate and its key cannot be used, in words."""
    if not isinstance(error, ssl.SSLError):
        return f"a file cannot be read: {error.strerror}"
    if error.reason == "KEY_VALUES_MISMATCH":
        return "the key belongs to another certificate"
    return "the files are not a certificate and its key in PEM form, or they are not complete"
