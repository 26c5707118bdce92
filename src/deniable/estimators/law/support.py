"""How often a category is supported by its own people's reports and by the others'."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from deniable.core import Mechanism
from deniable.errors import NotSupported


@dataclass(frozen=True)
class Support:
    """p = Pr[y in S_v | x = v] and q = Pr[y in S_v | x != v], exactly.

    With C(v) reports in S_v among n, (C(v) - n q) / (p - q) is an unbiased count of v.
    """

    p: Fraction
    q: Fraction

    def variance(self, n: float, n_v: float = 0) -> float:
        """The variance of the unbiased count when n_v of n people have the value."""
        p, q, gap = float(self.p), float(self.q), float(self.p - self.q)
        return n * q * (1 - q) / gap**2 + n_v * (1 - p - q) / gap


def support(mechanism: Mechanism) -> Support:
    """p and q of a categorical mechanism, from the integers of its channel.

    For local hashing, q is the average over hash functions, 1/g.

    >>> from deniable.core import KaryRandomizedResponse, Categories
    >>> supported = support(KaryRandomizedResponse(domain=Categories(2), epsilon=1))
    >>> round(supported.variance(100), 4)   # 100 e / (e - 1)**2
    92.0674
    """
    chances = mechanism.channel.support()
    if chances is None:
        raise NotSupported(
            f"{type(mechanism).__name__} does not favour one set of outputs per category, so it has no p and q; "
            "for numbers use variance(mechanism, value)"
        )
    return Support(*chances)
