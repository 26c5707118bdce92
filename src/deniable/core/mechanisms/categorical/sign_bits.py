"""Sign bits: a vector of fair signs, with the true category's sign tilted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from deniable.core.channels.bits import Bits
from deniable.core.mechanisms.categorical._unary import UnaryMechanism, bit_scale, truthful_weight


@dataclass(frozen=True, kw_only=True, repr=False)
class SignBits(UnaryMechanism):
    """One sign per category: + for the true one with probability (1+c)/2, c = tanh(epsilon/2), else fair.

    Law: own = floor(scale * E/(E+1)), other = scale/2; bit 1 is the sign +1, bit 0 the sign -1.
    Guarantee: epsilon-LDP, exactly ln(own/(scale-own)). The lecture notes tilt the sign by epsilon
    itself, whose real level is 2 artanh(epsilon), more than twice what is promised.
    Variance per user: 1/c**2, less 1 when the category is the user's own.
    Cost: k draws, k bits on the wire. `oue` has 4E/(E-1)**2 = 1/c**2 - 1 for rare categories.
    Source: lecture notes on local privacy, corrected.

    >>> from deniable import Categories
    >>> SignBits(domain=Categories(20), epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "sign-bits"
    source: ClassVar[str] = "lecture notes on local privacy, corrected"
    tasks: ClassVar[tuple[str, ...]] = ("frequency",)

    def build(self) -> Bits:
        """A tilted coin for the true bit, fair coins for the others."""
        scale = bit_scale(self.privacy)
        return Bits(self.domain.size, own=truthful_weight(scale, self.privacy.exact), other=scale // 2, scale=scale)

    def signs(self, output: int) -> list[int]:
        """The report as a vector of +1 and -1."""
        self.channel.check(0, output)
        return [1 if output >> value & 1 else -1 for value in range(self.domain.size)]
