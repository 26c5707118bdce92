"""Any piecewise-constant law around the true cell."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from deniable.core.channels.nested import Nested
from deniable.core.domains.interval import Interval
from deniable.core.exact.numbers import Number, as_fraction
from deniable.core.mechanisms.numeric._window_shape import odd_width
from deniable.core.mechanisms.numeric_base import NumericMechanism
from deniable.errors import InvalidParameter

TOTAL_BITS = 52
MOST_PIECES = 64
ROUNDING = Fraction(1, 10**9)
"""Densities may exceed e**epsilon by this much, relatively, and are then lowered to it."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Pieces(NumericMechanism):
    """Nested windows around the true cell, each with its own density: the m-piece mechanism.

    Law: `widths` are the windows' lengths as growing fractions of the domain; `weights` are the relative
    densities from the centre outward, one more than widths. All windows slide inward near the ends.
    Guarantee: epsilon-LDP, exactly ln(largest/smallest weight); densities too far apart are refused.
    Two weights make `window`; more never help a single worst-case loss, but suit other aims.
    Cost: one draw, 20 bits on the wire.
    Source: dissertation, section 5.2 (generalised piecewise mechanism).

    >>> Pieces(epsilon=1, widths=["0.1", "0.4"], weights=[2.7, 2, 1]).certificate().holds
    True
    """

    widths: Sequence[Number]
    weights: Sequence[Number]
    name: ClassVar[str] = "pieces"
    source: ClassVar[str] = "Zheng, Mishra, Hu 2025; dissertation, Section 5.2"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "widths", _numbers("widths", self.widths))
        object.__setattr__(self, "weights", _numbers("weights", self.weights))
        shares, densities = self.shares, self.densities
        if len(densities) != len(shares) + 1 or len(densities) > MOST_PIECES:
            raise InvalidParameter(f"weights must have one more entry than widths, at most {MOST_PIECES}")
        if list(shares) != sorted(set(shares)) or shares[-1] >= 1:
            raise InvalidParameter("widths must be growing fractions of the domain, between 0 and 1")
        if not self.privacy.allows(max(densities) / min(densities) / (1 + ROUNDING)):
            raise InvalidParameter(
                f"weights are too far apart: the largest over the smallest must be at most e**epsilon, epsilon={self.privacy}"
            )
        if len({odd_width(float(share), self.domain.cells) for share in shares}) != len(shares):
            raise InvalidParameter("widths are too close for this lattice; use a domain with more cells")

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The windows' lengths, exactly."""
        return tuple(Fraction(width) for width in self.widths)

    @property
    def densities(self) -> tuple[Fraction, ...]:
        """The relative densities, exactly."""
        return tuple(Fraction(weight) for weight in self.weights)

    def build(self) -> Nested:
        """Nested windows with integer weights, the smallest a power of two."""
        cells, least = self.domain.cells, min(self.densities)
        bits = TOTAL_BITS - (cells * math.ceil(self.privacy.bounds()[1])).bit_length()
        unit = 1 << max(bits, 20 + max(0, math.ceil(1 / self.privacy.exact).bit_length() - 1))
        most = self.privacy.floor(unit)
        weights = [min(math.floor(density / least * unit), most) for density in self.densities]
        return Nested(cells, [odd_width(float(share), cells) for share in self.shares], weights)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse lattice, more pieces, and a fine lattice."""
        yield cls(domain=Interval(0, 1, cells=16), epsilon=1, widths=["1/4"], weights=[2, 1])
        yield cls(domain=Interval(-1, 3, cells=101), epsilon=2, widths=["0.1", "0.3", "0.6"], weights=[7, 5, 2, 1])
        yield cls(epsilon=4, widths=["0.05", "0.2"], weights=[50, 10, 1])


def _numbers(name: str, values: object) -> tuple[Fraction, ...]:
    """A sequence of positive exact numbers."""
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise InvalidParameter(f"{name} must be a sequence of positive numbers")
    exact = [as_fraction(value) for value in values]
    if any(value is None or value <= 0 for value in exact):
        raise InvalidParameter(f"{name} must be a sequence of positive numbers")
    return tuple(value for value in exact if value is not None)
