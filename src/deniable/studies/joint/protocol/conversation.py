"""Protocols without input or output: a generator that says and hears messages, run over any link.

A conversation yields `Say` to send and `Hear` to wait; what arrives is checked for kind and exact length before
the protocol sees it. It returns its result at the very end, so a conversation that stops returns nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from deniable.errors import BadMessage, PeerLost

Result = TypeVar("Result")
Other = TypeVar("Other")


@dataclass(frozen=True)
class Say:
    """Send a message of some kind."""

    kind: int
    payload: bytes = field(repr=False)


@dataclass(frozen=True)
class Hear:
    """Wait for a message of this kind and exactly this size."""

    kind: int
    size: int


Conversation = Generator[Say | Hear, bytes, Result]


class Link(Protocol):
    """A way to the other side."""

    def send(self, message: bytes) -> None:
        """Send one message."""
        ...

    def receive(self) -> bytes:
        """Wait for one message."""
        ...


def checked(wanted: Hear, message: bytes) -> bytes:
    """The payload of a message, if it is the one waited for."""
    if len(message) != 1 + wanted.size or message[0] != wanted.kind:
        raise BadMessage(f"message {wanted.kind} of {wanted.size} bytes was due; something else came")
    return message[1:]


def converse(conversation: Conversation[Result], link: Link) -> Result:
    """Run one side over a link."""
    heard: bytes | None = None
    try:
        while True:
            wish = next(conversation) if heard is None else conversation.send(heard)
            if isinstance(wish, Say):
                link.send(bytes([wish.kind]) + wish.payload)
                heard = None
            else:
                heard = checked(wish, link.receive())
    except StopIteration as done:
        result: Result = done.value
        return result
    finally:
        conversation.close()


@dataclass
class Transcript:
    """What each side received, in order."""

    by_first: list[bytes] = field(default_factory=list)
    by_second: list[bytes] = field(default_factory=list)

    @property
    def size(self) -> int:
        """All bytes exchanged."""
        return sum(map(len, self.by_first)) + sum(map(len, self.by_second))


def converse_together(
    first: Conversation[Result], second: Conversation[Other], transcript: Transcript | None = None
) -> tuple[Result, Other]:
    """Run both sides in this process, in turns; for tests and simulations."""
    record = transcript or Transcript()
    to_first: deque[bytes] = deque()
    to_second: deque[bytes] = deque()
    sides = [_Side(first, to_first, to_second, record.by_second), _Side(second, to_second, to_first, record.by_first)]
    while not all(side.done for side in sides):
        moved = [side.advance() for side in sides]
        if not any(moved):
            raise PeerLost("both sides wait for each other")
    return sides[0].result, sides[1].result  # type: ignore[return-value]


class _Side:
    """One side of a conversation that runs in turns."""

    def __init__(
        self, conversation: Conversation[Result], inbox: deque[bytes], outbox: deque[bytes], received_by_other: list[bytes]
    ) -> None:
        self._conversation = conversation
        self._inbox, self._outbox, self._log = inbox, outbox, received_by_other
        self.done = False
        self.result: object = None
        self._wish: Say | Hear | None = None
        self._step(None)

    def advance(self) -> bool:
        """Go on until a message is missing; whether anything happened."""
        moved = False
        while not self.done:
            if isinstance(self._wish, Say):
                message = bytes([self._wish.kind]) + self._wish.payload
                self._outbox.append(message)
                self._log.append(message)
                self._step(None)
            elif isinstance(self._wish, Hear) and self._inbox:
                self._step(checked(self._wish, self._inbox.popleft()))
            else:
                break
            moved = True
        return moved

    def _step(self, heard: bytes | None) -> None:
        try:
            self._wish = next(self._conversation) if heard is None else self._conversation.send(heard)
        except StopIteration as finished:
            self.done, self.result, self._wish = True, finished.value, None
