"""How wide the square wave is, in its two versions, also for an epsilon close to 0."""

from __future__ import annotations

import math

from deniable.core.exact.epsilon import Epsilon


def square_wave_share(epsilon: Epsilon) -> float:
    """2b of Li et al.: the length of the wave, (eps E - E + 1)/(E (E - 1 - eps)) of the domain.

    >>> round(square_wave_share(Epsilon(1)), 9), round(square_wave_share(Epsilon("1e-9")), 6)
    (0.512165875, 1.0)
    """
    eps = float(epsilon)
    return _excess(eps) / (math.exp(eps) * _remainder(eps))


def redesigned_share(epsilon: Epsilon) -> float:
    """2C of the redesigned square wave: (eps E - E + 1)/(E - 1)**2 of the domain.

    >>> round(redesigned_share(Epsilon(4)) / 2, 11)
    0.02868223474
    """
    eps = float(epsilon)
    return _excess(eps) / math.expm1(eps) ** 2


def _excess(eps: float) -> float:
    """eps E - E + 1, the sum of (n-1) eps**n / n!: the closed form cancels near 0."""
    if eps > 1:
        return (eps - 1) * math.exp(eps) + 1
    return math.fsum((n - 1) * eps**n / math.factorial(n) for n in range(2, 24))


def _remainder(eps: float) -> float:
    """E - 1 - eps, the sum of eps**n / n! from n = 2."""
    if eps > 1:
        return math.expm1(eps) - eps
    return math.fsum(eps**n / math.factorial(n) for n in range(2, 24))
