"""A committee member of commit and reveal: keeps a share of every contribution, opens what is kept back.

    deniable joint member --key m1.key --board 127.0.0.1:7456

A member learns nothing about a contribution as long as fewer than half of the members pool their shares. It opens a
contribution only when the record says that the time to reveal is over and nothing came.
"""

from __future__ import annotations

from dataclasses import dataclass

from deniable.errors import BadMessage, InvalidParameter, ProtocolError
from deniable.studies.joint.protocol.board_link import BoardLink
from deniable.studies.joint.protocol.encryption import Identity, open_box
from deniable.studies.joint.protocol.joint_randomness import Phase
from deniable.studies.joint.protocol.record import complain_line, scalar_hex
from deniable.studies.joint.protocol.shares import share_fits
from deniable.studies.joint.protocol.survey import JointSurvey
from deniable.studies.joint.protocol.taking_part import RoundTold, box_context


@dataclass(frozen=True)
class MemberTold(RoundTold):
    """A finished round, and what this member had to do in it."""

    complaints: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()


def keep_shares(survey: JointSurvey, identity: Identity, *, host: str, port: int, seconds: float = 600) -> MemberTold:
    """One member's whole round with a board."""
    if identity.public not in survey.committee:
        raise InvalidParameter("this key file is not of a committee member in the survey; see: deniable joint keys --role member")
    member = 1 + survey.committee.index(identity.public)
    with BoardLink(survey, identity, host, port, seconds) as board:
        board.follow_to(Phase.COMPLAIN)
        shares, complaints = _shares(board, survey, identity, member)
        for name in complaints:
            board.post(complain_line(member, name))
        board.ask(checked=True)
        board.follow_to(Phase.OPEN)
        opened = []
        for name in board.round.missing:
            share = shares.get(name, board.round.shown_share(name, member))
            if share is not None:
                opened.append(name)
                _open(board, name, share)
        board.follow_to(Phase.DONE)
        return MemberTold(board.round, board.fingerprint, tuple(complaints), tuple(opened))


def _open(board: BoardLink, name: str, share: int) -> None:
    try:
        board.ask(opening=name, share=scalar_hex(share))
    except BadMessage:
        # The others were enough already, and the board has gone on.
        board.follow_to(Phase.DONE)


def _shares(board: BoardLink, survey: JointSurvey, identity: Identity, member: int) -> tuple[dict[str, int], list[str]]:
    """The shares that fit the points, and the dealers whose share does not, or never came."""
    boxes: dict[str, bytes] = {}
    while page := board.ask(boxes=len(boxes)).get("boxes"):
        before = len(boxes)
        try:
            boxes |= {str(name): bytes.fromhex(box) for name, box in page}
        except (ValueError, TypeError) as broken:
            raise BadMessage("the board's boxes are not well-formed") from broken
        if len(boxes) == before:
            raise BadMessage("the board sends the same boxes again")
    shares, complaints = {}, []
    for name in board.round.participants:
        points = board.round.points(name)
        share = _opened_share(survey, identity, member, name, boxes.get(name, b""))
        if points is not None and share is not None and share_fits(points, member, share):
            shares[name] = share
        else:
            complaints.append(name)
    return shares, complaints


def _opened_share(survey: JointSurvey, identity: Identity, member: int, name: str, box: bytes) -> int | None:
    if name not in survey.users:
        return None
    try:
        return int.from_bytes(open_box(identity, survey.users[name], box, box_context(survey, name, member)), "little")
    except ProtocolError:
        return None
