"""Who answers together with whom, from joint randomness. The pairing is public.

Everybody can compute it, so a colluding partner knows whose partner he is, and so does everyone else: the guarantee
that counts is `epsilon_known_pairing`. Hidden pairing is in committee.py.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from deniable.errors import InvalidParameter
from deniable.studies.joint.protocol.permutation import permutation


@dataclass(frozen=True)
class Pairing:
    """Pairs of names in their order (the first of a pair garbles), and who is left over when the number is odd."""

    pairs: tuple[tuple[str, str], ...]
    alone: str | None = None
    """With an odd number of users the last one answers alone, by plain randomized response at the same p."""
    left: tuple[str, ...] = ()
    """Partners of users who were excluded afterwards: they answer alone, too."""

    def partner(self, name: str) -> str | None:
        """The partner of a user, or None for the one who answers alone."""
        for one, other in self.pairs:
            if name in (one, other):
                return other if name == one else one
        if name == self.alone or name in self.left:
            return None
        raise InvalidParameter(f"{name!r} is not among the paired users")

    def without(self, excluded: Collection[str]) -> Pairing:
        """The same pairing with some users taken out; nobody gets another partner by it.

        A user who sees the pairing before misbehaving can only undo their own pair.
        """
        kept, left = [], list(self.left)
        for pair in self.pairs:
            staying = [name for name in pair if name not in excluded]
            kept += [pair] if len(staying) == 2 else []
            left += staying if len(staying) == 1 else []
        return Pairing(tuple(kept), None if self.alone in excluded else self.alone, tuple(left))


def pair_users(joint: bytes, names: Sequence[str]) -> Pairing:
    """Permute the users by the joint bytes and pair neighbours.

    >>> pairing = pair_users(bytes(32), ["ada", "bob", "eve"])
    >>> len(pairing.pairs), pairing.alone in ("ada", "bob", "eve")
    (1, True)
    """
    if len(set(names)) != len(names):
        raise InvalidParameter("names must differ from each other")
    # By name, so that the order of arrival, which somebody could choose, does not matter.
    ordered = sorted(names, key=str.encode)
    shuffled = [ordered[place] for place in permutation(joint, len(ordered))]
    even = len(shuffled) - len(shuffled) % 2
    pairs = tuple(zip(shuffled[:even:2], shuffled[1:even:2], strict=True))
    return Pairing(pairs, shuffled[-1] if even < len(shuffled) else None)
