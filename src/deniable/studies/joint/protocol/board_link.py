"""A user's or a member's way to the board: post, and follow the record line by line."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from deniable.errors import BadMessage, BrokenCommitment, InvalidParameter, PeerLost
from deniable.studies.joint.protocol.encryption import KEY, Identity, SealedLink
from deniable.studies.joint.protocol.hashing import tagged_hash
from deniable.studies.joint.protocol.joint_randomness import JointRandomness, Phase
from deniable.studies.joint.protocol.record import Replay
from deniable.studies.joint.protocol.survey import JointSurvey
from deniable.studies.joint.protocol.transport import SocketLink

BOARD_HELLO = b"deniable board 1 "
"""How somebody greets a board; his 32-byte public key follows."""
PAGE = 1 << 15
"""At most so many bytes of the record in one answer."""
BOX = KEY + 32 + 16
"""A sealed share: a fresh key, the scalar, the seal."""
MOST_RECORD = 1 << 32
PATIENCE = 10.0
"""Seconds to wait for a board that has not begun yet."""


class BoardLink:
    """A sealed link to the board, and the round as far as the board has told it.

    Lines are read once, in order: what was seen cannot be taken back, so a board that changes its story is of no use.
    """

    def __init__(self, survey: JointSurvey, identity: Identity, host: str, port: int, seconds: float) -> None:
        """Connect and prove who this is; everything together may take so many seconds."""
        if survey.board is None:
            raise InvalidParameter("the survey names no board; add one with: deniable joint keys --role board")
        self.told = Replay(JointRandomness(survey.pairing_round, len(survey.committee)))
        self._deadline = time.monotonic() + seconds
        self._place, self._fingerprint = 0, tagged_hash("record", survey.pairing_round.encode())
        self._link = _connected(host, port, seconds)
        self._link.send(BOARD_HELLO + identity.public)
        self._sealed = SealedLink(self._link, identity, survey.board, first=True, context=survey.pairing_round.encode())

    @property
    def round(self) -> JointRandomness:
        """The round as told so far."""
        return self.told.randomness

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that agree for all who were told the same."""
        return self._fingerprint.hex()[:16]

    def ask(self, **request: Any) -> dict[str, Any]:
        """One request and its answer; what the board refuses is an error here."""
        self._sealed.send(json.dumps(request).encode())
        try:
            reply = json.loads(self._sealed.receive())
        except ValueError as broken:
            raise BadMessage("the board's answer is not well-formed") from broken
        if not isinstance(reply, dict):
            raise BadMessage("the board's answer is not well-formed")
        if "refused" in reply:
            raise BadMessage(f"the board refused: {reply['refused']}")
        return reply

    def post(self, line: str) -> None:
        """Post a line of the record."""
        self.ask(post=line)

    def follow_until(self, ready: Callable[[JointRandomness], bool]) -> None:
        """Read on until something is the case in the round."""
        while not ready(self.round):
            if time.monotonic() > self._deadline:
                raise PeerLost("the round took too long")
            reply = self.ask(read=self._place)
            try:
                text, void = str(reply["lines"]), str(reply["void"])
            except KeyError as broken:
                raise BadMessage("the board's answer is not well-formed") from broken
            for line in text.split("\n")[:-1]:
                self._place += len(line.encode()) + 1
                self._fingerprint = tagged_hash("record", self._fingerprint, line.encode())
                self.told.tell(line)
                if ready(self.round):
                    return  # The rest of the page is asked for again.
            if not text and void:
                raise BrokenCommitment(f"the round is void: {void}")

    def follow_to(self, phase: Phase) -> None:
        """Read on until a phase has begun."""
        self.follow_until(lambda round_: round_.phase >= phase)

    def __enter__(self) -> BoardLink:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._link.close()


def _connected(host: str, port: int, seconds: float) -> SocketLink:
    begin = time.monotonic()
    while True:
        try:
            return SocketLink.connect(host, port, seconds, most_bytes=MOST_RECORD)
        except PeerLost:
            if time.monotonic() > begin + min(seconds, PATIENCE):
                raise
            time.sleep(0.1)
