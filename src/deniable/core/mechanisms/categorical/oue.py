"""Optimized unary encoding: spend the budget on the zeros, because most bits are zeros."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from deniable.core.channels.bits import Bits
from deniable.core.mechanisms.categorical._unary import UnaryMechanism, bit_scale, truthful_weight


@dataclass(frozen=True, kw_only=True, repr=False)
class OptimizedUnaryEncoding(UnaryMechanism):
    """The true category's bit is a fair coin; the others are 1 with probability 1/(E+1), E = e**epsilon.

    Law: own = scale/2, other = ceil(scale/(E+1)).
    Guarantee: epsilon-LDP, exactly ln((scale-other)/other).
    Variance per user of a rare category: 4E/(E-1)**2, the least of all unary encodings.
    Cost: k draws, k bits on the wire. Best for many categories when bits are cheap.
    Source: Wang, Blocki, Li and Jha, "Locally differentially private protocols for frequency estimation", 2017.

    >>> from deniable import Categories
    >>> OptimizedUnaryEncoding(domain=Categories(20), epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "oue"
    source: ClassVar[str] = "Wang, Blocki, Li, Jha 2017"
    tasks: ClassVar[tuple[str, ...]] = ("frequency", "field")

    def build(self) -> Bits:
        """A fair coin for the true bit, the whole epsilon for the others."""
        scale = bit_scale(self.privacy)
        other = scale - truthful_weight(scale, self.privacy.exact)
        return Bits(self.domain.size, own=scale // 2, other=other, scale=scale)
