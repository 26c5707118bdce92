"""What the unary mechanisms share: one bit per category, drawn below a common power of two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from deniable.core.channels.bits import MOST_BITS
from deniable.core.domains.categories import Categories
from deniable.core.exact.epsilon import Epsilon
from deniable.core.exact.exponential import exp_bounds
from deniable.core.mechanisms.categorical_base import CategoricalMechanism
from deniable.errors import InvalidParameter


@dataclass(frozen=True, kw_only=True, repr=False)
class UnaryMechanism(CategoricalMechanism):
    """One bit per category: 1 is more likely for the true category than for the others."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.domain.size > MOST_BITS:
            raise InvalidParameter(f"domain: a unary report has one bit per category, at most {MOST_BITS}; use olh or hadamard")

    def decode(self, output: int) -> list[int | str]:
        """The categories whose bit is 1."""
        self.channel.check(0, output)
        return [self.domain.decode(value) for value in range(self.domain.size) if output >> value & 1]

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Few categories, names, and many categories."""
        yield cls(domain=Categories(3), epsilon=1)
        yield cls(domain=Categories(["red", "green", "blue", "other"]), epsilon=0.05)
        yield cls(domain=Categories(64), epsilon=4)


def bit_scale(epsilon: Epsilon) -> int:
    """How fine the bits' probabilities are: finer for an extreme epsilon, always within a 64-bit word.

    >>> bit_scale(Epsilon(1)) == 2**32, bit_scale(Epsilon(0.01)) == 2**40
    (True, True)
    """
    if Fraction(1, 1 << 4) <= epsilon.exact <= 8:
        return 1 << 32
    if Fraction(1, 1 << 12) <= epsilon.exact <= 14:
        return 1 << 40
    return 1 << 60


def truthful_weight(scale: int, exponent: Fraction) -> int:
    """The largest `own` out of `scale` with own / (scale - own) <= e**exponent.

    >>> truthful_weight(1000, Fraction(1))
    731
    """
    # From the lower bound of e**x, and floored: both roundings are toward more privacy.
    lower = exp_bounds(exponent)[0]
    share = scale * lower / (lower + 1)
    return share.numerator // share.denominator
