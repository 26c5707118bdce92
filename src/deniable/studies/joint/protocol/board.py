"""The public board of a round: it keeps the record, closes the phases, and hands sealed shares to the committee.

    deniable joint board --survey survey.json --port 7456

Everyone who posts proves who he is by the key in the survey, over a sealed link. A phase ends when all have done their
part, or after `--patience` seconds; a connection that is silent for so long is closed. The board cannot choose the joint
bytes: each user follows the record as it grows, and finds their own contribution in it. It must show everyone the same lines;
the commands print a fingerprint to compare.

Requests, as JSON:   {"post": LINE}                      a line of the record (record.py)
                     {"box": MEMBER, "sealed": HEX}      a user's share for a member
                     {"read": PLACE}                     the record from that byte on; waits for the end of a phase
                     {"boxes": PLACE}                    a member's boxes from that number on
                     {"checked": true}                   a member has checked its boxes
                     {"opening": NAME, "share": HEX}     a member's share of what was kept back
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deniable.errors import BadMessage, BrokenCommitment, InvalidParameter, ProtocolError
from deniable.studies.joint.protocol.board_link import BOARD_HELLO, BOX, PAGE
from deniable.studies.joint.protocol.encryption import KEY, Handshake, Identity, Seals
from deniable.studies.joint.protocol.joint_randomness import JointRandomness, Phase
from deniable.studies.joint.protocol.record import apply_line, close_line, number_from, open_line, parsed_line
from deniable.studies.joint.protocol.relay import read_frame, write_frame
from deniable.studies.joint.protocol.shares import fitting, threshold_for
from deniable.studies.joint.protocol.survey import JointSurvey
from deniable.studies.joint.protocol.transport import MOST_FRAME

LONG_POLL = 10.0
MOST_REQUESTS = 100_000
TURNS = frozenset({"close", "complain"})
"""Lines that readers are woken for; others wait until the next of these, so that many readers cost little."""
USER_LINES = frozenset({"commit", "points", "answer", "reveal"})


@dataclass
class Board:
    """One round on one port of the loopback interface unless told otherwise."""

    survey: JointSurvey
    identity: Identity
    path: Path
    host: str = "127.0.0.1"
    port: int = 0
    patience: float = 60.0
    """Seconds a phase waits for those who are late, and a connection for the next request."""
    void: str = ""
    """Why the round came to nothing."""
    round: JointRandomness = field(init=False)
    _boxes: dict[int, dict[str, bytes]] = field(init=False)
    _checked: set[int] = field(default_factory=set)
    _openings: dict[str, dict[int, int]] = field(default_factory=dict)
    _names: dict[bytes, str | int] = field(init=False)
    _size: int = 0
    _landmark: int = 0
    _connected: int = 0
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _turned: asyncio.Condition = field(default_factory=asyncio.Condition)

    def __post_init__(self) -> None:
        if self.survey.board != self.identity.public:
            raise InvalidParameter("the survey holds another public key for the board than this key file")
        if len(self.survey.users) < 2:
            raise InvalidParameter("the survey must have at least two users")
        self.round = JointRandomness(self.survey.pairing_round, len(self.survey.committee))
        self._boxes = {member: {} for member in range(1, self.round.members + 1)}
        self._names = {key: name for name, key in self.survey.users.items()}
        self._names |= {key: member for member, key in enumerate(self.survey.committee, 1)}

    async def start(self) -> asyncio.Server:
        """Begin the record and listen; the port is then known even if it was 0."""
        try:
            self.path.touch(exist_ok=False)
        except FileExistsError as there:
            raise InvalidParameter(f"{self.path.name} exists already; a round begins a record of its own") from there
        server = await asyncio.start_server(self._welcome, self.host, self.port, limit=MOST_FRAME + 4)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def conduct(self) -> None:
        """Lead through the phases; afterwards the round is done, or void."""
        everyone, round_ = len(self.survey.users), self.round
        await self._until(lambda: round_.commitments == everyone)
        await self._close()
        await self._until(lambda: round_.all_dealt and min(map(len, self._boxes.values())) >= len(round_.participants))
        await self._close()
        await self._until(lambda: len(self._checked) == round_.members)
        await self._until(lambda: not round_.complained_about)
        await self._close()
        await self._until(lambda: round_.all_revealed)
        await self._close()
        kept_back = round_.missing
        await self._until(lambda: all(map(self._openable, kept_back)))
        try:
            for name in kept_back:
                if self._openable(name):
                    await self._record(open_line(name, self._openings[name]))
            await self._close()
            round_.result()
        except BrokenCommitment as broken:
            self.void = str(broken)
            await self._turn()

    def _openable(self, name: str) -> bool:
        points, given = self.round.points(name), self._openings.get(name, {})
        return points is not None and len(fitting(points, given)) >= threshold_for(self.round.members)

    async def wait_for_readers(self, seconds: float) -> None:
        """Stay until everyone has read the end and hung up, but not longer than this."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._connected:
                    await asyncio.sleep(0.05)

    async def _until(self, ready: Callable[[], bool]) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.patience), self._changed:
                await self._changed.wait_for(ready)

    async def _close(self) -> None:
        await self._record(close_line(self.round.phase.name.lower()))

    async def _record(self, line: str) -> None:
        """Let a line take effect and write it down; one that only breaks a rule is refused and not written."""
        kind, subject, fields = parsed_line(line)
        async with self._changed:
            marks = len(self.round.excluded), len(self.round.false_reveals)
            try:
                apply_line(self.round, kind, subject, fields)
            except ProtocolError:
                if (len(self.round.excluded), len(self.round.false_reveals)) != marks:
                    self._write(line)
                raise
            self._write(line)
        if kind in TURNS:
            await self._turn()

    def _write(self, line: str) -> None:
        with self.path.open("ab") as file:
            self._size += file.write(line.encode() + b"\n")
        self._changed.notify_all()

    async def _turn(self) -> None:
        async with self._turned:
            self._landmark = self._size
            self._turned.notify_all()

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connected += 1
        try:
            async with asyncio.timeout(self.patience):
                hello = await read_frame(reader, len(BOARD_HELLO) + KEY)
                if not hello.startswith(BOARD_HELLO) or hello[len(BOARD_HELLO) :] not in self._names:
                    return
                key = hello[len(BOARD_HELLO) :]
                handshake = Handshake(self.identity, key, first=False, context=self.round.round_name.encode())
                await write_frame(writer, handshake.greeting)
                seals = handshake.seals(await read_frame(reader, KEY))
            await self._serve(self._names[key], seals, reader, writer)
        except (OSError, EOFError, ValueError, ProtocolError):
            pass  # Somebody who left, was too slow or talked nonsense: hang up, and go on with the others.
        finally:
            self._connected -= 1
            writer.close()

    async def _serve(self, who: str | int, seals: Seals, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(MOST_REQUESTS):
            # Whoever says nothing is late: a silent connection is not held longer than a phase would wait.
            async with asyncio.timeout(self.patience):
                frame = await read_frame(reader, MOST_FRAME)
            request = seals.open(frame)
            try:
                reply = await self._reply(who, json.loads(request))
            except (ProtocolError, InvalidParameter) as refused:
                reply = {"refused": str(refused)}
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                reply = {"refused": "not a well-formed request"}
            async with asyncio.timeout(self.patience):
                await write_frame(writer, seals.seal(json.dumps(reply).encode()))

    async def _reply(self, who: str | int, request: dict[str, Any]) -> dict[str, Any]:
        if "read" in request:
            return await self._page(_place(request["read"]))
        if isinstance(who, str):
            return await (self._keep_box(who, request) if "box" in request else self._post(who, request["post"]))
        if "boxes" in request:
            kept = list(self._boxes[who].items())[_place(request["boxes"]) :][: PAGE // 300]
            return {"boxes": [[name, box.hex()] for name, box in kept]}
        if "opening" in request:
            return await self._keep_opening(who, request["opening"], number_from(request["share"]))
        if "checked" in request:
            async with self._changed:
                self._checked.add(who)
                self._changed.notify_all()
            return {"ok": True}
        return await self._post(who, request["post"])

    async def _post(self, who: str | int, line: str) -> dict[str, Any]:
        kind, subject, fields = parsed_line(line)
        allowed = subject == who and kind in USER_LINES if isinstance(who, str) else kind == "complain" and fields["member"] == who
        if not allowed:
            raise BadMessage("users post about themselves, and members complain; nothing else is taken")
        await self._record(json.dumps(json.loads(line), separators=(",", ":")))
        return {"ok": True}

    async def _keep_box(self, name: str, request: dict[str, Any]) -> dict[str, Any]:
        member, box = request["box"], bytes.fromhex(request["sealed"])
        if self.round.phase is not Phase.DEAL or member not in self._boxes or len(box) != BOX:
            raise BadMessage(f"a box must have {BOX} bytes, name a member, and come in the phase deal")
        async with self._changed:
            self._boxes[member].setdefault(name, box)
            self._changed.notify_all()
        return {"ok": True}

    async def _keep_opening(self, member: int, name: str, share: int) -> dict[str, Any]:
        if self.round.phase is not Phase.OPEN or name not in self.round.missing:
            raise BadMessage("there is nothing to open under this name now")
        async with self._changed:
            self._openings.setdefault(name, {})[member] = share
            self._changed.notify_all()
        return {"ok": True}

    async def _page(self, place: int) -> dict[str, Any]:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LONG_POLL), self._turned:
                await self._turned.wait_for(lambda: self._landmark > place or self.void)
        with self.path.open("rb") as file:
            file.seek(min(place, self._size))
            text = file.read(PAGE)
        return {"lines": text[: text.rfind(b"\n") + 1].decode(), "void": self.void}


def _place(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise BadMessage("a place must be a whole number from 0")
    return value


async def serve_board(board: Board, linger: float) -> bool:
    """Lead one round, and let everyone read its end; whether it came to something."""
    async with await board.start():
        print(f"board on {board.host}:{board.port}; {len(board.survey.users)} users, {board.round.members} members", flush=True)
        await board.conduct()
        print(f"void: {board.void}" if board.void else f"done: {len(board.round.participants)} users are paired", flush=True)
        await board.wait_for_readers(linger)
    return not board.void
