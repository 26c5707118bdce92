"""Hadamard response: outputs that pass parity checks are favoured, and decoding is a fast transform."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from deniable.core.channels.hadamard import POLYNOMIALS, Hadamard
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.categories import Categories
from deniable.core.exact.epsilon import Epsilon
from deniable.core.mechanisms.categorical_base import CategoricalMechanism

MOST_TIMES = 64
"""Outputs may be so many times as many as one check needs: the collector keeps a counter for each."""
MOST_OUTPUTS = 1 << 23
"""And not more than collectors count."""


@dataclass(frozen=True, kw_only=True, repr=False)
class HadamardResponse(CategoricalMechanism):
    """Answer with a column of a Hadamard matrix, more often than not one where the true category's row is +1.

    Law: of K columns, the K / B that pass the category's log2(B) parity checks weigh `high`, the rest `low`. At small epsilon
    B = 2: of K = 2**ceil(log2(k+1)) columns, half are favoured. B grows with epsilon and is chosen for the least variance.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Variance per user of a rare category: (E+B-1)**2 / ((B-1) (E-1)**2), E = e**epsilon; for B = E + 1, 4E/(E-1)**2.
    Cost: one draw, log2(K) bits on the wire, K at most 64 times as large as for B = 2; all counts at once in O(K log K).
    Source: Acharya, Sun and Zhang, "Hadamard response", 2019, for B = 2; for larger B the sets are hyperplanes over a field
    of B elements (Feldman, Nelson, Nguyen and Talwar, 2022), whose variance is below that of the published blocks.

    >>> HadamardResponse(domain=Categories(1000), epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "hadamard"
    source: ClassVar[str] = "Acharya, Sun, Zhang 2019"
    tasks: ClassVar[tuple[str, ...]] = ("frequency", "field", "test")

    def build(self) -> TwoLevel:
        """All columns, those that pass the category's checks favoured."""
        return TwoLevel.at(Hadamard(self.domain.size, best_polynomial(self.domain.size, self.privacy)), self.privacy)

    def decode(self, output: int) -> int:
        """The reported column: it speaks for many categories, so there is no single best guess."""
        self.channel.check(0, output)
        return output

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two, a few and many categories, with one check and with several."""
        yield cls(domain=Categories(2), epsilon=0.5)
        yield cls(domain=Categories(["a", "b", "c", "d", "e"]), epsilon=1)
        yield cls(domain=Categories(1000), epsilon=2)
        yield cls(domain=Categories(1000), epsilon=4)


def best_polynomial(size: int, epsilon: Epsilon) -> int:
    """The field with the least variance among those with few enough outputs.

    Decided in rational numbers, with e**epsilon rounded down to a multiple of 2**-20: every machine decides alike.

    >>> [best_polynomial(1000, Epsilon(level)) for level in (1, 2, 3, 4)]
    [7, 11, 19, 37]
    """
    scale = 1 << 20
    gain = Fraction(epsilon.floor(scale) - scale, scale)
    single = Hadamard(size).outputs
    most = max(single, min(MOST_TIMES * single, MOST_OUTPUTS))
    fields = [polynomial for polynomial in POLYNOMIALS if Hadamard(size, polynomial).outputs <= most]
    return min(fields, key=lambda polynomial: _variance(gain, 1 << (polynomial.bit_length() - 1)))


def _variance(gain: Fraction, elements: int) -> Fraction:
    """Of a rare category, times (E - 1)**2; `gain` is E - 1."""
    return (gain + elements) ** 2 / (elements - 1)
