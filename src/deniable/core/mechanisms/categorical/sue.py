"""Symmetric unary encoding: basic RAPPOR without its second layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from deniable.core.channels.bits import Bits
from deniable.core.mechanisms.categorical._unary import UnaryMechanism, bit_scale, truthful_weight


@dataclass(frozen=True, kw_only=True, repr=False)
class SymmetricUnaryEncoding(UnaryMechanism):
    """Every bit is true with the same probability h/(h+1), h = e**(epsilon/2).

    Law: the true category's bit is 1 with probability own/scale, every other with 1 - own/scale.
    Guarantee: epsilon-LDP; two inputs differ in two bits, so the ratio is (own/(scale-own))**2.
    Variance per user of a rare category: h/(h-1)**2. `oue` is never worse for rare categories.
    Cost: k draws, k bits on the wire.
    Source: Erlingsson, Pihur and Korolova, "RAPPOR", 2014; named in Wang et al., 2017.

    >>> from deniable import Categories
    >>> SymmetricUnaryEncoding(domain=Categories(20), epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "sue"
    source: ClassVar[str] = "Erlingsson, Pihur, Korolova 2014"
    tasks: ClassVar[tuple[str, ...]] = ("frequency",)

    def build(self) -> Bits:
        """Equal honesty for ones and zeros, each with half of epsilon."""
        scale = bit_scale(self.privacy)
        own = truthful_weight(scale, self.privacy.exact / 2)
        return Bits(self.domain.size, own=own, other=scale - own, scale=scale)
