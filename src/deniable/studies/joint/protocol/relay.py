"""A relay: two users who ask for the same room are connected; it forwards sealed frames and understands none.

    deniable joint relay --port 7455

It sees who talks to whom and when, so whoever runs it knows the pairing. It keeps nothing, and it cannot read, change
or repeat what it forwards without the users noticing. One broken pair does not disturb the others.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field

from deniable.studies.joint.protocol.transport import HELLO, MOST_BYTES, MOST_FRAME, READY

ROOM_BYTES = 32


@dataclass(eq=False)
class _Waiting:
    """A user who came first and waits for the partner."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    joined: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Relay:
    """Rooms for two, on one port of the loopback interface unless told otherwise."""

    host: str = "127.0.0.1"
    port: int = 0
    patience: float = 60.0
    """Seconds a user waits for the other, and seconds a conversation may take."""
    most_waiting: int = 10_000
    _waiting: dict[bytes, _Waiting] = field(default_factory=dict)

    async def start(self) -> asyncio.Server:
        """Listen; the port is then known even if it was 0."""
        server = await asyncio.start_server(self._welcome, self.host, self.port, limit=MOST_FRAME + 4)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(self.patience):
                hello = await read_frame(reader, len(HELLO) + ROOM_BYTES)
            if len(hello) == len(HELLO) + ROOM_BYTES and hello.startswith(HELLO):
                room = hello[len(HELLO) :]
                if room in self._waiting:
                    await self._connect(self._waiting.pop(room), reader, writer)
                elif len(self._waiting) < self.most_waiting:
                    await self._wait(room, _Waiting(reader, writer))
        except (OSError, EOFError, ValueError):
            pass  # A user who left, was too slow or talked nonsense: hang up, and go on with the others.
        finally:
            await _hang_up(writer)

    async def _wait(self, room: bytes, user: _Waiting) -> None:
        """Until the other comes. A user who leaves meanwhile, or speaks out of turn, loses their place."""
        self._waiting[room] = user
        speech = asyncio.create_task(user.reader.read(1))
        joining = asyncio.create_task(user.joined.wait())
        try:
            await asyncio.wait({speech, joining}, timeout=self.patience, return_when=asyncio.FIRST_COMPLETED)
            if not user.joined.is_set():
                return
        finally:
            if self._waiting.get(room) is user:
                del self._waiting[room]
            for task in (speech, joining):
                task.cancel()
            await asyncio.gather(speech, joining, return_exceptions=True)
            user.released.set()
        await user.over.wait()

    async def _connect(self, first: _Waiting, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward between two users until one hangs up or time is over."""
        ways: set[asyncio.Task[None]] = set()
        try:
            first.joined.set()
            async with asyncio.timeout(self.patience):
                await first.released.wait()
                for each in (first.writer, writer):
                    await write_frame(each, READY)
                ways = {asyncio.create_task(_forward(reader, first.writer)), asyncio.create_task(_forward(first.reader, writer))}
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            first.over.set()


async def read_frame(reader: asyncio.StreamReader, most: int) -> bytes:
    """The next frame of at most so many bytes."""
    size = int.from_bytes(await reader.readexactly(4), "big")
    if size > most:
        raise ValueError("a frame is too long")
    return await reader.readexactly(size)


async def write_frame(writer: asyncio.StreamWriter, message: bytes) -> None:
    """Send one frame."""
    writer.write(len(message).to_bytes(4, "big") + message)
    await writer.drain()


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    left = MOST_BYTES
    while left > 0:
        frame = await read_frame(reader, MOST_FRAME)
        left -= 4 + len(frame)
        await write_frame(writer, frame)


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, TimeoutError):
        writer.close()
        async with asyncio.timeout(1):
            await writer.wait_closed()


async def serve_relay(relay: Relay) -> None:
    """Run until stopped, and say where."""
    async with await relay.start() as server:
        print(f"relay on {relay.host}:{relay.port}; stop with Ctrl-C", flush=True)
        await server.serve_forever()
