"""A user's part in a round: commit, deal shares to the committee, answer complaints, reveal, and check the whole record."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.errors import BrokenCommitment, InvalidParameter
from deniable.studies.joint.protocol.board_link import BoardLink
from deniable.studies.joint.protocol.encryption import Identity, seal_box
from deniable.studies.joint.protocol.hashing import tagged_hash
from deniable.studies.joint.protocol.joint_randomness import JointRandomness, Participant, Phase
from deniable.studies.joint.protocol.record import answer_line, commit_line, points_line, reveal_line
from deniable.studies.joint.protocol.ristretto import scalar_bytes
from deniable.studies.joint.protocol.survey import JointSurvey


@dataclass(frozen=True)
class RoundTold:
    """A finished round as one reader was told it."""

    round: JointRandomness
    fingerprint: str
    """Agrees for all who were told the same."""


def take_part(survey: JointSurvey, name: str, identity: Identity, *, host: str, port: int, seconds: float = 600) -> RoundTold:
    """One user's whole round with a board. Everything the board says is checked; nothing of it is taken on trust."""
    if survey.users.get(name) != identity.public:
        raise InvalidParameter(f"the survey holds another public key for {name!r} than this key file")
    user = Participant.new(survey.pairing_round, name, len(survey.committee))
    with BoardLink(survey, identity, host, port, seconds) as board:
        board.post(commit_line(user))
        board.follow_to(Phase.DEAL)
        _insist(board.round.committed(name) == user.commitment, "commitment")
        send_dealing(board, survey, identity, user)
        board.follow_to(Phase.COMPLAIN)
        _insist(board.round.points(name) == user.dealing.points, "points")
        answer_complaints(board, user)
        if name in board.round.excluded:
            raise BrokenCommitment(f"excluded before anyone revealed: {board.round.excluded[name]}")
        board.post(reveal_line(user))
        board.follow_to(Phase.DONE)
        _insist(board.round.contribution(name) == user.contribution, "contribution")
        return RoundTold(board.round, board.fingerprint)


def send_dealing(board: BoardLink, survey: JointSurvey, identity: Identity, user: Participant) -> None:
    """Publish the points, and send each member their share in a sealed box."""
    for member, key in enumerate(survey.committee, 1):
        box = seal_box(identity, key, scalar_bytes(user.dealing.shares[member]), box_context(survey, user.name, member))
        board.ask(box=member, sealed=box.hex())
    board.post(points_line(user))


def answer_complaints(board: BoardLink, user: Participant) -> None:
    """Show in public each share that a member says he does not have, until everybody reveals."""
    answered: set[int] = set()

    def news(round_: JointRandomness) -> bool:
        return round_.phase >= Phase.REVEAL or bool(set(round_.complaints(user.name)) - answered)

    while True:
        board.follow_until(news)
        if board.round.phase >= Phase.REVEAL:
            return
        for member in set(board.round.complaints(user.name)) - answered:
            answered.add(member)
            board.post(answer_line(user, member))


def box_context(survey: JointSurvey, name: str, member: int) -> bytes:
    """What a sealed share is bound to: the round, the dealer and the member."""
    return tagged_hash("share", survey.pairing_round.encode(), name.encode(), member.to_bytes(4, "big"))


def _insist(mine: bool, what: str) -> None:
    if not mine:
        raise BrokenCommitment(f"the board's record does not hold this user's own {what}; do not use its result")
