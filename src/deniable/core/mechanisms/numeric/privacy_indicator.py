"""The privacy indicator: with probability delta the raw value is published."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

from deniable.core.channels.chain import Identity, Mixture
from deniable.core.domains.interval import Interval
from deniable.core.exact.lattice import Grid
from deniable.core.exact.numbers import Number, as_fraction
from deniable.core.mechanisms.numeric.ogpm import OGPM
from deniable.core.mechanisms.numeric.window import Window
from deniable.core.mechanisms.numeric_base import NumericMechanism
from deniable.core.mechanisms.reading import Affine, Joined
from deniable.core.mechanisms.registry import mechanism_from_recipe
from deniable.errors import InvalidParameter

SHARES = 1 << 40


@dataclass(frozen=True, kw_only=True, repr=False)
class PrivacyIndicator(NumericMechanism):
    """DANGER: publishes the raw values of a fraction delta of the people, and marks those reports.

    Law: a coin of probability at most delta decides whether the value itself (its cell) or a report of
    `mechanism` is sent; the output tells which.
    Guarantee: (epsilon, delta)-LDP only, and its delta is the worst kind: complete disclosure. For d
    independent coordinates some raw value appears with probability 1 - (1 - delta)**d. It exists to check
    published results and must be asked for with publish_raw_values=True.
    Cost: that of `mechanism` and one coin.
    Source: dissertation, section 7.4.2 (PAC privacy indicator).

    >>> base = OGPM(epsilon=1)
    >>> PrivacyIndicator(
    ...     domain=base.domain, epsilon=1, mechanism=base, delta="0.01", publish_raw_values=True
    ... ).certificate().holds
    True
    """

    mechanism: NumericMechanism | dict[str, Any]
    delta: Number  # type: ignore[assignment, misc]
    publish_raw_values: bool = False
    name: ClassVar[str] = "privacy-indicator"
    source: ClassVar[str] = "Zheng, Hu 2026b; dissertation, Section 7.4.2"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.publish_raw_values is not True:
            raise InvalidParameter(
                "publish_raw_values must be True: this mechanism publishes the RAW value with probability delta. "
                "If that is not what you mean, use the inner mechanism itself"
            )
        if isinstance(self.mechanism, dict):
            object.__setattr__(self, "mechanism", mechanism_from_recipe(self.mechanism))
        if not isinstance(self.mechanism, NumericMechanism) or self.mechanism.delta != 0:
            raise InvalidParameter("mechanism must be a numeric mechanism with pure privacy")
        if self.mechanism.epsilon != self.privacy or self.mechanism.domain != self.domain:
            raise InvalidParameter("mechanism must have the same domain and epsilon as the privacy indicator around it")
        exact = as_fraction(self.delta)
        if exact is None or not Fraction(1, SHARES) <= exact < 1:
            raise InvalidParameter("delta must be a number from 2**-40 to below 1")
        object.__setattr__(self, "delta", exact)

    @property
    def base(self) -> NumericMechanism:
        """The mechanism that is used when the raw value is not."""
        assert isinstance(self.mechanism, NumericMechanism)
        return self.mechanism

    @property
    def raw_share(self) -> int:
        """How many of 2**40 equally likely coins publish the raw value: rounded down."""
        return math.floor(Fraction(self.delta) * SHARES)

    @property
    def grid(self) -> Grid:
        return self.base.grid

    def build(self) -> Mixture:
        """The inner channel, or the input itself."""
        raw = Identity(self.base.channel.inputs)
        return Mixture([self.base.channel, raw], [SHARES - self.raw_share, self.raw_share])

    def delta_exact(self) -> Fraction:
        """The exact probability of publishing the raw value."""
        return Fraction(self.raw_share, SHARES)

    @cached_property
    def reading(self) -> Joined:
        """The inner reading, or the position of the input itself."""
        grid = self.grid
        raw = Affine(grid.position(0), Fraction(1, grid.steps))
        return Joined(((self.base.channel.outputs, self.base.reading), (grid.size, raw)))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse lattice and an ordinary one."""
        coarse, fine = Interval(0, 1, cells=8), Interval(-1, 3, cells=100)
        for base, delta in ((OGPM(domain=coarse, epsilon=1), "0.1"), (Window(domain=fine, epsilon=2), "1/1000000")):
            yield cls(domain=base.domain, epsilon=base.epsilon, mechanism=base, delta=delta, publish_raw_values=True)
