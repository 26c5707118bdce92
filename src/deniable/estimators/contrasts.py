"""The noise of a categorical mechanism along contrasts: what is left when shares are known to add up to 1."""

from __future__ import annotations

import numpy as np

from deniable.core import Mechanism
from deniable.estimators.covariance import SupportLaw, support_law

MOST_PAIRED = 512
"""Up to so many values the covariances of all pairs are averaged; beyond, those in line with others are left out."""


def contrast_noise(mechanism: Mechanism) -> float:
    """The variance of a share less the covariance of two, for one report, people spread evenly and drawn at random."""
    law, size = support_law(mechanism), mechanism.channel.inputs
    even = 1 / size
    own = (even * law.p * (1 - law.p) + (1 - even) * law.q * (1 - law.q)) / law.gap**2 + even * (1 - even)
    return own - _shared(law, size)


def _shared(law: SupportLaw, size: int) -> float:
    """The covariance of two shares: the average over all pairs, as far as they are looked at."""
    if size <= MOST_PAIRED:
        noise = law.count_noise(np.full(size, 1 / size), True)
        return float((noise.sum() - np.trace(noise)) / (size * (size - 1))) - 1 / size**2
    own, other = law.pair - law.p * law.q, law.triple - law.q**2
    return (2 / size * (own - other) + other) / law.gap**2 - 1 / size**2
