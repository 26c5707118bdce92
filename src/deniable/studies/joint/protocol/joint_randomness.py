"""Randomness that nobody controls: everyone commits, deals shares to a committee, and only then reveals.

The phases, each closed for everyone before the next begins:

  commit     a hash (commitments.py)
  deal       the points behind the hash, and one share for each committee member, sent privately
  complain   a member says which shares do not fit; the dealer answers with that share in public
  reveal     the contributions
  open       the committee opens what was not revealed, or revealed falsely

Why no one can steer, not even the last to reveal. Who takes part is settled before the first reveal: a dealer is
excluded when his points break his commitment, when he leaves a complaint unanswered, or when a majority complains.
After that his contribution is a fixed number: silence or a false reveal only makes the committee open it, and the
points allow no other value. A false complaint is answered by showing one share, which its member knew anyhow;
fewer members than the threshold learn nothing by complaining.
It rests on fewer than `threshold` dishonest committee members, and on everyone seeing the same public messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from deniable.errors import BadMessage, BrokenCommitment, InvalidParameter, ProtocolError, Replayed
from deniable.studies.joint.protocol.commitments import commitment, joint_secret, reveals
from deniable.studies.joint.protocol.ristretto import ORDER, random_scalar
from deniable.studies.joint.protocol.shares import Dealing, checked_points, deal, fitting, open_secret, share_fits, threshold_for


class Phase(IntEnum):
    """Where a round stands."""

    COMMIT = 0
    DEAL = 1
    COMPLAIN = 2
    REVEAL = 3
    OPEN = 4
    DONE = 5


@dataclass(frozen=True)
class Participant:
    """One user's private side of a round."""

    round_name: str
    name: str
    contribution: int = field(repr=False)
    dealing: Dealing = field(repr=False)

    @classmethod
    def new(cls, round_name: str, name: str, members: int) -> Participant:
        """A fresh contribution, dealt to so many committee members."""
        contribution = random_scalar()
        return cls(round_name, name, contribution, deal(contribution, members))

    @property
    def commitment(self) -> bytes:
        """What is published first."""
        return commitment(self.round_name, self.name, self.dealing.points)


@dataclass
class JointRandomness:
    """The public record of one round; everyone who keeps it from the same messages ends with the same bytes."""

    round_name: str
    members: int
    phase: Phase = Phase.COMMIT
    excluded: dict[str, str] = field(default_factory=dict)
    """Who was left out before the first reveal, and why."""
    false_reveals: set[str] = field(default_factory=set)
    """Who revealed something else than committed; the true contribution was opened."""
    liars: set[int] = field(default_factory=set)
    """Committee members who gave a share that does not fit."""
    opened: set[str] = field(default_factory=set)
    """Whose contribution the committee opened."""
    _commitments: dict[str, bytes] = field(default_factory=dict)
    _points: dict[str, tuple[bytes, ...]] = field(default_factory=dict)
    _complaints: dict[str, set[int]] = field(default_factory=dict)
    _shown: dict[tuple[str, int], int] = field(default_factory=dict)
    _contributions: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        threshold_for(self.members)

    def commit(self, name: str, digest: bytes) -> None:
        """Note a commitment. The first one counts."""
        self._during(Phase.COMMIT)
        if len(digest) != 32:
            raise BadMessage("a commitment must be 32 bytes")
        if name in self._commitments:
            raise Replayed(f"{name!r} has committed already; the first commitment stands")
        self._commitments[name] = digest

    def publish_points(self, name: str, points: Sequence[bytes]) -> None:
        """Note a dealer's points; points that break the commitment exclude him."""
        self._during(Phase.DEAL)
        self._known(name)
        if name in self._points or name in self.excluded:
            raise Replayed(f"{name!r} has published points already; the first ones stand")
        try:
            if commitment(self.round_name, name, points) != self._commitments[name]:
                raise BrokenCommitment(f"the points of {name!r} are not the ones committed to")
            self._points[name] = checked_points(points, self.members)
        except ProtocolError as broken:
            self.excluded[name] = str(broken)
            raise

    def complain(self, member: int, name: str) -> None:
        """A committee member's share does not fit, or never came."""
        self._during(Phase.COMPLAIN)
        self._known(name)
        if not 1 <= member <= self.members:
            raise InvalidParameter(f"member must be from 1 to {self.members}")
        if name not in self.excluded:
            self._complaints.setdefault(name, set()).add(member)

    def answer(self, name: str, member: int, share: int) -> None:
        """A dealer shows in public the share that a member complained about; one that fits settles it."""
        self._during(Phase.COMPLAIN)
        self._known(name)
        if member not in self._complaints.get(name, ()):
            raise BadMessage(f"member {member} has not complained about {name!r}")
        if not share_fits(self._points[name], member, share):
            raise BrokenCommitment(f"the share shown by {name!r} does not fit the published points")
        self._shown[name, member] = share

    def shown_share(self, name: str, member: int) -> int | None:
        """The share a dealer had to show, for the member who complained."""
        return self._shown.get((name, member))

    def reveal(self, name: str, contribution: int) -> None:
        """Note a contribution; a false one names its sender and changes nothing, the committee opens the true one."""
        self._during(Phase.REVEAL)
        self._known(name)
        if name in self.excluded:
            raise BrokenCommitment(f"{name!r} was excluded before anyone revealed")
        if name in self._contributions:
            raise Replayed(f"{name!r} has revealed already")
        if not 0 < contribution < ORDER or not reveals(self._points[name], contribution):
            self.false_reveals.add(name)
            raise BrokenCommitment(f"{name!r} revealed another contribution than committed; the committee will open the true one")
        self._contributions[name] = contribution

    def open(self, name: str, shares: Mapping[int, int]) -> None:
        """The committee opens a contribution that its owner kept back or revealed falsely."""
        self._during(Phase.OPEN)
        self._known(name)
        if name in self.excluded or name in self._contributions:
            raise BadMessage(f"there is nothing to open for {name!r}")
        shown = {member: share for (dealer, member), share in self._shown.items() if dealer == name}
        given = {member: share for member, share in shares.items() if 1 <= member <= self.members}
        good = fitting(self._points[name], given)
        self.liars |= set(given) - set(good)
        self._contributions[name] = open_secret(threshold_for(self.members), good | shown)
        self.opened.add(name)

    def committed(self, name: str) -> bytes | None:
        """What a user has committed to, if anything."""
        return self._commitments.get(name)

    def points(self, name: str) -> tuple[bytes, ...] | None:
        """The points a user has published, if they were good."""
        return self._points.get(name)

    def contribution(self, name: str) -> int | None:
        """What a user has revealed, or the committee has opened for him."""
        return self._contributions.get(name)

    def complaints(self, name: str) -> tuple[int, ...]:
        """Members whose complaint about this user is not answered yet."""
        return tuple(sorted(member for member in self._complaints.get(name, ()) if (name, member) not in self._shown))

    @property
    def complained_about(self) -> tuple[str, ...]:
        """Users with a complaint that is not answered yet."""
        return tuple(name for name in self._complaints if self.complaints(name))

    @property
    def commitments(self) -> int:
        """How many users have committed."""
        return len(self._commitments)

    @property
    def all_dealt(self) -> bool:
        """Whether everyone who committed has published points, good or bad."""
        return len(self._points) + len(self.excluded) >= len(self._commitments)

    @property
    def all_revealed(self) -> bool:
        """Whether nothing is missing."""
        return len(self._contributions) + len(self.excluded) >= len(self._commitments)

    @property
    def missing(self) -> tuple[str, ...]:
        """Who takes part and has no contribution on record yet."""
        return tuple(name for name in self.participants if name not in self._contributions)

    @property
    def participants(self) -> tuple[str, ...]:
        """Who takes part, in the order that counts: by name, not by arrival."""
        return tuple(sorted((name for name in self._commitments if name not in self.excluded), key=str.encode))

    def advance(self) -> Phase:
        """Close the phase for everyone, settle who is excluded by it, and begin the next."""
        if self.phase is Phase.DEAL:
            for name in self._commitments:
                if name not in self._points:
                    self.excluded.setdefault(name, f"{name!r} published no points")
        elif self.phase is Phase.COMPLAIN:
            for name, members in self._complaints.items():
                if len(members) >= threshold_for(self.members):
                    self.excluded[name] = f"a majority of the committee has no good share of {name!r}"
                elif any((name, member) not in self._shown for member in members):
                    self.excluded[name] = f"{name!r} left a complaint unanswered"
        elif self.phase is Phase.OPEN and self.missing:
            raise BrokenCommitment(f"{len(self.missing)} contributions are neither revealed nor opened")
        elif self.phase is Phase.DONE:
            raise InvalidParameter("the round is over")
        self.phase = Phase(self.phase + 1)
        return self.phase

    def result(self) -> bytes:
        """The 32 joint bytes."""
        self._during(Phase.DONE)
        if len(self.participants) < 2:
            raise BrokenCommitment("fewer than two participants are left: joint randomness needs two")
        return joint_secret(self.round_name, [(name, self._contributions[name]) for name in self.participants])

    def _during(self, phase: Phase) -> None:
        if self.phase is not phase:
            raise BadMessage(f"this belongs to the phase {phase.name.lower()}; the round is in {self.phase.name.lower()}")

    def _known(self, name: str) -> None:
        if name not in self._commitments:
            raise BadMessage(f"{name!r} has not committed to anything in this round")
