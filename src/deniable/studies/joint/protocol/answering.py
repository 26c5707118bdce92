"""One user answers: draw the truth indicator with the partner, apply it to the private bit. Experimental.

The cost is in the person's ledger before anything is drawn, so that a round is answered once and no survey costs more than
the person accepts.
If anything goes wrong with the partner, the user answers alone with fresh coins: the same marginal law, so every
report stays as private as plain randomized response and the estimate stays unbiased; only this pair's correlation
is lost. Nothing of a broken draw is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from deniable.errors import BadMessage, InvalidParameter, ProtocolError
from deniable.studies.joint.protocol.conversation import Link, converse
from deniable.studies.joint.protocol.cost import spend
from deniable.studies.joint.protocol.encryption import Identity, SealedLink
from deniable.studies.joint.protocol.hashing import tagged_hash
from deniable.studies.joint.protocol.survey import JointSurvey
from deniable.studies.joint.protocol.transport import HELLO, READY, SocketLink
from deniable.studies.joint.protocol.two_party import draw_as_first, draw_as_second
from deniable.surveys import Ledger


@dataclass(frozen=True)
class JointAnswer:
    """A report, and how it came about. The indicator and the private bit are not kept."""

    output: int
    together: bool
    reason: str = ""
    """Why the user answered alone."""
    traffic: int = field(default=0, compare=False)
    """Bytes sent and received."""


def room_name(survey: JointSurvey, first: str, second: str) -> bytes:
    """The relay's room for a pair of this survey."""
    return tagged_hash("room", survey.context, first.encode(), second.encode())


def draw_over(link: Link, survey: JointSurvey, name: str, pair: tuple[str, str], identity: Identity) -> bool:
    """Draw this user's indicator over a link that leads to the partner."""
    if survey.users.get(name) != identity.public:
        raise InvalidParameter(f"the survey holds another public key for {name!r} than this key file")
    first = name == pair[0]
    partner = pair[1] if first else pair[0]
    context = room_name(survey, *pair)
    sealed = SealedLink(link, identity, survey.users[partner], first=first, context=context)
    side = draw_as_first if first else draw_as_second
    return converse(side(survey.thresholds, sealed.context), sealed)


def enter_room(link: Link, room: bytes) -> None:
    """Ask a relay for a room and wait for the partner."""
    link.send(HELLO + room)
    if link.receive() != READY:
        raise BadMessage("this is not a relay, or it speaks another version")


def answer_jointly(
    survey: JointSurvey,
    name: str,
    value: int,
    identity: Identity,
    *,
    ledger: Ledger,
    host: str,
    port: int,
    seconds: float = 30,
    trust_partner: bool = False,
) -> JointAnswer:
    """Answer together with the partner by a relay, or alone if that fails. Experimental: both sides must follow the protocol.

    The ledger pays the level against a partner who shares their indicator, or refuses. With `trust_partner` it pays only the
    level against strangers.
    """
    if name not in survey.users:
        raise InvalidParameter(f"{name!r} does not take part in this survey")
    if survey.users[name] != identity.public:
        raise InvalidParameter(f"the survey holds another public key for {name!r} than this key file")
    if value not in (0, 1):
        raise InvalidParameter("the private answer must be 0 or 1; it is not shown because it is private")
    if name in survey.excluded:
        raise InvalidParameter(f"{name!r} was excluded from this round for a false reveal")
    pairing = survey.pairing()
    pair = next((pair for pair in pairing.pairs if name in pair), None)
    spend(survey, ledger, alone=pair is None, trust_partner=trust_partner)
    why = "the partner was excluded" if name in pairing.left else "the number of users is odd"
    traffic, reason, truth = 0, f"there is no partner: {why}", None
    if pair is not None:
        try:
            with SocketLink.connect(host, port, seconds) as link:
                try:
                    enter_room(link, room_name(survey, *pair))
                    truth = draw_over(link, survey, name, pair, identity)
                finally:
                    traffic = link.sent + link.received
        except ProtocolError as broken:
            reason = str(broken)
    if truth is None:
        return JointAnswer(value ^ 1 ^ survey.thresholds.alone(), False, reason, traffic)
    return JointAnswer(value ^ 1 ^ truth, True, "", traffic)
