"""The public record of a round of joint randomness, one JSON message per line: write it anywhere, check it anywhere.

    {"commit": "ada", "digest": "…"}                  {"complain": "ada", "member": 2}
    {"points": "ada", "with": ["…", "…"]}             {"answer": "ada", "member": 2, "share": "…"}
    {"reveal": "ada", "contribution": "…"}            {"open": "ada", "shares": {"1": "…", "3": "…"}}
    {"close": "commit"}                               ends a phase for everyone

Bytes are hexadecimal. A message that breaks a rule is noted and has no other effect, so one spoiler cannot stop the
round and all readers agree. Where the record is kept must show who posted what, and show everyone the same lines;
shares for the committee do not go through it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from deniable.errors import BadMessage, ProtocolError
from deniable.studies.joint.protocol.joint_randomness import JointRandomness, Participant
from deniable.studies.joint.protocol.ristretto import SIZE, scalar_bytes

LONGEST_LINE = 1 << 14
FIELDS: dict[str, frozenset[str]] = {
    "commit": frozenset({"digest"}),
    "points": frozenset({"with"}),
    "complain": frozenset({"member"}),
    "answer": frozenset({"member", "share"}),
    "reveal": frozenset({"contribution"}),
    "open": frozenset({"shares"}),
    "close": frozenset(),
}


@dataclass
class Replay:
    """A round as its record tells it, and the lines that had no effect."""

    randomness: JointRandomness
    refused: list[tuple[int, str]] = field(default_factory=list)
    """Line number and reason."""
    length: int = 0
    """How many lines were told."""

    def tell(self, line: str) -> None:
        """Follow one more line."""
        self.length += 1
        try:
            apply_line(self.randomness, *parsed_line(line))
        except ProtocolError as refused:
            self.refused.append((self.length, str(refused)))


def replay(round_name: str, members: int, lines: Iterable[str]) -> Replay:
    """Follow a record; every reader of the same lines ends with the same round."""
    replayed = Replay(JointRandomness(round_name, members))
    for line in lines:
        replayed.tell(line)
    return replayed


def commit_line(user: Participant) -> str:
    """A user's first message."""
    return _line("commit", user.name, digest=user.commitment.hex())


def points_line(user: Participant) -> str:
    """His second, when all have committed."""
    return _line("points", user.name, **{"with": [point.hex() for point in user.dealing.points]})


def complain_line(member: int, name: str) -> str:
    """A committee member has no share of this user that fits."""
    return _line("complain", name, member=member)


def answer_line(user: Participant, member: int) -> str:
    """The user shows that share to all."""
    return _line("answer", user.name, member=member, share=scalar_hex(user.dealing.shares[member]))


def reveal_line(user: Participant) -> str:
    """His last message, when all have dealt and all complaints are settled."""
    return _line("reveal", user.name, contribution=scalar_hex(user.contribution))


def open_line(name: str, shares: dict[int, int]) -> str:
    """The committee opens what a user did not reveal."""
    return _line("open", name, shares={str(member): scalar_hex(share) for member, share in shares.items()})


def close_line(phase: str) -> str:
    """The end of a phase, by name."""
    return _line("close", phase)


def _line(kind: str, subject: str, **fields: Any) -> str:
    return json.dumps({kind: subject, **fields}, separators=(",", ":"))


def parsed_line(line: str) -> tuple[str, str, dict[str, Any]]:
    """The kind of a message, whom it is about, and its fields."""
    if len(line) > LONGEST_LINE:
        raise BadMessage(f"a line must have at most {LONGEST_LINE} characters")
    try:
        message = json.loads(line)
        kinds = [kind for kind in FIELDS if kind in message]
        if len(kinds) != 1 or set(message) - {kinds[0]} != FIELDS[kinds[0]] or not isinstance(message[kinds[0]], str):
            raise BadMessage("a message must be of one kind and have the fields of that kind")
        return kinds[0], message.pop(kinds[0]), message
    except (ValueError, TypeError, AttributeError, RecursionError) as broken:
        raise BadMessage("not a well-formed message") from broken


def apply_line(round_: JointRandomness, kind: str, subject: str, fields: dict[str, Any]) -> None:
    """Let a message take effect; one that breaks a rule is refused."""
    try:
        _apply(round_, kind, subject, fields)
    except (ValueError, TypeError, AttributeError, RecursionError) as broken:
        raise BadMessage("not a well-formed message") from broken


def _apply(round_: JointRandomness, kind: str, subject: str, fields: dict[str, Any]) -> None:
    if kind == "commit":
        round_.commit(subject, bytes.fromhex(fields["digest"]))
    elif kind == "points":
        round_.publish_points(subject, [bytes.fromhex(point) for point in fields["with"]])
    elif kind == "complain":
        round_.complain(_member(fields["member"], round_.members), subject)
    elif kind == "answer":
        round_.answer(subject, _member(fields["member"], round_.members), number_from(fields["share"]))
    elif kind == "reveal":
        round_.reveal(subject, number_from(fields["contribution"]))
    elif kind == "open":
        shares = {_member(int(member), round_.members): number_from(share) for member, share in fields["shares"].items()}
        round_.open(subject, shares)
    elif subject == round_.phase.name.lower():
        round_.advance()
    else:
        raise BadMessage(f"the phase {round_.phase.name.lower()} is open, and no other can be closed")


def _member(value: int, members: int) -> int:
    if type(value) is not int or not 1 <= value <= members:
        raise BadMessage(f"member must be from 1 to {members}")
    return value


def scalar_hex(value: int) -> str:
    """A scalar in hexadecimal."""
    return scalar_bytes(value).hex()


def number_from(text: str) -> int:
    """The number of a scalar in hexadecimal."""
    data = bytes.fromhex(text)
    if len(data) != SIZE:
        raise BadMessage(f"a scalar must be {SIZE} bytes")
    return int.from_bytes(data, "little")
