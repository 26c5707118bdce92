"""A commitment to a contribution: a hash of round, participant and the points that determine the contribution.

The points fix the contribution (one scalar per point), so nobody can open a commitment in two ways; the hash is
published first, so nobody can choose their points after seeing those of others.
"""

from __future__ import annotations

from collections.abc import Sequence

from deniable.studies.joint.protocol.hashing import tagged_hash
from deniable.studies.joint.protocol.ristretto import scalar_bytes, times_base


def commitment(round_name: str, participant: str, points: Sequence[bytes]) -> bytes:
    """32 bytes that bind a participant of a round to his points."""
    return tagged_hash("commitment", round_name.encode(), participant.encode(), *points)


def reveals(points: Sequence[bytes], contribution: int) -> bool:
    """Whether this scalar is the contribution the points were made from."""
    return times_base(contribution) == points[0]


def joint_secret(round_name: str, contributions: Sequence[tuple[str, int]]) -> bytes:
    """32 bytes from everybody's contribution, in the order given."""
    parts = (part for name, scalar in contributions for part in (name.encode(), scalar_bytes(scalar)))
    return tagged_hash("joint randomness", round_name.encode(), *parts)
