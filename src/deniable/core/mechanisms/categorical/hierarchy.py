"""A tree over ordered categories: a public coin chooses a level, and the node there is reported (Cormode et al., 2019)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from deniable.core.channels.chain import Mixture
from deniable.core.channels.fake_data import Field
from deniable.core.domains.categories import Categories
from deniable.core.exact.numbers import as_index
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.categorical_base import CategoricalMechanism
from deniable.core.mechanisms.registry import mechanism_class
from deniable.errors import InvalidParameter

MOST_LEVELS = 24
MOST_SHARE = 1 << 30
ORACLES = ("hadamard", "k-rr", "projective")


@dataclass(frozen=True, kw_only=True, repr=False)
class Hierarchy(CategoricalMechanism):
    """Report the block of neighbouring categories at one level of a tree: ranges, prefixes and quantiles need few nodes.

    Law: level l is chosen with probability `shares[l]` over their sum, by a coin that does not see the category. Its nodes are
    blocks of equally many neighbours: `fan_outs[0]` blocks at the first level, each divided into `fan_outs[1]` at the next, down to
    single categories. The node is reported by the level's mechanism in `oracles`, which has the whole epsilon.
    Guarantee: epsilon-LDP: one mechanism alone speaks, and the level says nothing.
    Equal shares and `hadamard` are the published hierarchy (HRR); `best_hierarchy` of `deniable.planning` finds the fan-outs,
    shares and mechanisms with the least error for a workload.
    Cost: one node's draw; the level is part of the output.
    Source: Cormode, Kulkarni and Srivastava, "Answering range queries under local differential privacy", 2019.

    >>> tree = Hierarchy(domain=Categories(12), epsilon=1, fan_outs=[3, 4])
    >>> [part.domain.size for part in tree.parts.values()], tree.certificate().holds
    ([3, 12], True)
    """

    fan_outs: Sequence[int]
    shares: Sequence[int] | None = None
    oracles: Sequence[str] | None = None
    name: ClassVar[str] = "hierarchy"
    source: ClassVar[str] = "Cormode, Kulkarni, Srivastava 2019"

    def __post_init__(self) -> None:
        super().__post_init__()
        size = self.domain.size
        object.__setattr__(self, "fan_outs", _whole("fan_outs", self.fan_outs, 2, size))
        levels = len(self.fan_outs)
        if math.prod(self.fan_outs) != size or levels > MOST_LEVELS:
            raise InvalidParameter(f"fan_outs must multiply to the number of categories, {size}, in at most {MOST_LEVELS} levels")
        shares = _whole("shares", [1] * levels if self.shares is None else self.shares, 1, MOST_SHARE)
        oracles = (ORACLES[0],) * levels if self.oracles is None else self.oracles
        if isinstance(oracles, str) or not isinstance(oracles, Sequence) or any(one not in ORACLES for one in oracles):
            raise InvalidParameter(f"oracles must name one of {', '.join(ORACLES)} for every level")
        if len(shares) != levels or len(oracles) != levels:
            raise InvalidParameter(f"shares and oracles must have one entry for each of the {levels} levels")
        object.__setattr__(self, "shares", shares)
        object.__setattr__(self, "oracles", tuple(oracles))

    @cached_property
    def parts(self) -> dict[str, Mechanism]:
        """One mechanism per level, from the coarsest to the finest."""
        assert self.oracles is not None
        nodes, parts = 1, {}
        for number, (fan_out, oracle) in enumerate(zip(self.fan_outs, self.oracles, strict=True), start=1):
            nodes *= fan_out
            parts[f"level {number}"] = mechanism_class(oracle)(domain=Categories(nodes), epsilon=self.privacy)
        return parts

    def build(self) -> Mixture:
        """A coin chooses the level, whose mechanism sees the leading digits of the category only."""
        assert self.shares is not None
        size = self.domain.size
        fields = [Field((part.channel.inputs, size // part.channel.inputs), 0, part.channel) for part in self.parts.values()]
        return Mixture(fields, self.shares)

    def decode(self, output: int) -> Any:
        """The level, and the report of its mechanism as that one reads it."""
        channel = self.channel
        assert isinstance(channel, Mixture)
        channel.check(0, output)
        place, inner = channel.part_of(output)
        return place + 1, list(self.parts.values())[place].decode(inner)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two levels, uneven shares and mechanisms, and a deep tree."""
        yield cls(domain=Categories(4), epsilon=1, fan_outs=[2, 2])
        yield cls(domain=Categories(12), epsilon=2, fan_outs=[3, 4], shares=[1, 3], oracles=["k-rr", "hadamard"])
        yield cls(domain=Categories(64), epsilon=0.5, fan_outs=[4, 4, 4], oracles=["k-rr", "hadamard", "hadamard"])


def _whole(name: str, values: Any, least: int, most: int) -> tuple[int, ...]:
    numbers = [] if isinstance(values, str) or not isinstance(values, Sequence) else [as_index(value) for value in values]
    whole = tuple(number for number in numbers if number is not None and least <= number <= most)
    if not whole or len(whole) != len(numbers):
        raise InvalidParameter(f"{name} must be a list of whole numbers from {least} to {most}")
    return whole
