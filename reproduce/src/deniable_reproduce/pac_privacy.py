"""PAC privacy: what the two relaxations of chapter 7 really promise, and what they do to rho.

NOT pure local privacy. The privacy indicator publishes the raw record with probability delta. Gaussian noise lets
the privacy loss exceed epsilon with some probability. Every number here says which promise it belongs to.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from deniable.core import analytic_sigma, exact_sigma, published_sigma
from deniable.errors import InvalidParameter


class GaussianNoise(NamedTuple):
    """One way to choose Gaussian noise on a domain of width 1, and the promise it keeps."""

    rule: str
    sigma: float
    promise: str


def gaussian_noises(epsilon: float, delta: float) -> tuple[GaussianNoise, ...]:
    """The three: as published (enough, loose), exact for the same promise, and the least for (epsilon, delta)-LDP.

    >>> [noise.rule for noise in gaussian_noises(1, 0.1)]
    ['published', 'exact', 'analytic']
    """
    _check(delta)
    pac = "Pr[privacy loss > epsilon] <= delta"
    return (
        GaussianNoise("published", published_sigma(epsilon, delta), pac),
        GaussianNoise("exact", exact_sigma(epsilon, delta), pac),
        GaussianNoise("analytic", analytic_sigma(epsilon, delta), "(epsilon, delta)-LDP"),
    )


def indicator_utility(rho: float, delta: float) -> float:
    """rho when, with probability delta, the whole raw record is published: delta + (1 - delta) rho.

    >>> indicator_utility(0.5, 0.1)
    0.55
    """
    _check(delta)
    return delta + (1 - delta) * rho


def indicator_disclosure(delta: float, features: int) -> float:
    """The probability that some raw value is published when every feature has its own indicator."""
    _check(delta)
    return -math.expm1(features * math.log1p(-delta))


def combined_delta(delta: float, features: int) -> float:
    """Theorem 16: independent (epsilon, delta)-PAC mechanisms together are (d epsilon, 1 - (1 - delta)**d)-PAC.

    Valid, and very loose for Gaussian noise: see `gaussian_excess`.
    """
    return indicator_disclosure(delta, features)


def gaussian_excess(epsilon: float, sigma: float, features: int = 1) -> float:
    """Pr[privacy loss > features * epsilon] of that many independent Gaussian noises, exactly.

    The losses of records at opposite ends add up to N(d / 2 sigma**2, d / sigma**2).
    """
    if not sigma > 0 or features < 1:
        raise InvalidParameter("sigma must be positive and features at least 1")
    mean, spread = features / (2 * sigma**2), math.sqrt(features) / sigma
    return math.erfc((features * epsilon - mean) / spread / math.sqrt(2)) / 2


def indicator_excess(delta: float, truth: float) -> float:
    """Pr[privacy loss > epsilon] of an indicator around a mechanism with atoms, when the truth itself is an output.

    Theorem 17 states delta. That holds for a mechanism without atoms only: with k-rr, the output that equals
    the truth has become likelier than epsilon allows, however it came about. So all of its probability counts:
    delta + (1 - delta) Pr[M(x) = x]. (epsilon, delta)-LDP holds either way.
    """
    _check(delta)
    return delta + (1 - delta) * truth


def _check(delta: float) -> None:
    if not 0 < delta < 1:
        raise InvalidParameter("delta must lie strictly between 0 and 1")
