"""Shuffled randomized response: the number of yes reports, as exactly as it can be known.

Everyone else's bit is known: j of them are 1. Then the number of their yes reports is Bin(j, p) + Bin(n - 1 - j, q), and the
divergence of this person's two answers is one sum. Which j is worst is not known, so they are taken in blocks: for j from a
to b the reports of b - a people are given away, which can only help the observer. Proof: proofs/shuffling.md.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.signal import fftconvolve
from scipy.stats import binom

from deniable.batch import Floats
from deniable.core import Mechanism

BLOCKS = 256
ROUNDING = 2e-12
"""What the rounding errors of one sum stay below, those of the Fourier transforms among them; added to every delta."""
TAIL = 1e-15
"""What is not summed of either number of yes reports."""


class ShuffledBits:
    """n - 1 people's yes reports, for every number of them whose bit is 1.

    >>> crowd = ShuffledBits(math.e, 1000)
    >>> crowd.delta(0.15) < 1e-6 < crowd.delta(0.1)
    True
    """

    def __init__(self, ratio: float, people: int) -> None:
        self.truth, self.lie = ratio / (1 + ratio), 1 / (1 + ratio)
        others = people - 1
        ends = np.unique(np.linspace(0, people, min(people, BLOCKS) + 1).astype(np.int64))
        blocks = zip(ends[:-1].tolist(), (ends[1:] - 1).tolist(), strict=True)
        self.laws = [self._law(first, others - last) for first, last in blocks]

    def _law(self, ones: int, zeros: int) -> Floats:
        """The probabilities of the number of yes reports, where they matter."""
        parts: list[Floats] = []
        for count, chance in ((ones, self.truth), (zeros, self.lie)):
            law = binom(count, chance)
            low, high = (0, 0) if count == 0 else (int(law.ppf(TAIL)), int(law.isf(TAIL)) + 1)
            parts.append(np.asarray(law.pmf(np.arange(max(low, 0), min(high, count) + 1)), np.float64) if count else np.ones(1))
        return np.asarray(np.maximum(fftconvolve(parts[0], parts[1]), 0.0), np.float64)

    def delta(self, epsilon: float) -> float:
        """The largest divergence, rounded up. The other direction is that of the mirrored crowd, which is among them."""
        factor = math.exp(epsilon)
        up, down = self.truth - factor * self.lie, self.lie - factor * self.truth
        worst = 0.0
        for law in self.laws:
            edged = np.concatenate([[0.0], law, [0.0]])
            worst = max(worst, float(np.maximum(up * edged[:-1] + down * edged[1:], 0.0).sum()))
        return min(1.0, worst + ROUNDING + 4 * TAIL)


def bits_of(mechanism: Mechanism, people: int) -> ShuffledBits | None:
    """The crowd of a mechanism with two inputs and two outputs; None for others."""
    channel = mechanism.channel
    support = channel.support()
    if support is None or not channel.inputs == channel.outputs == 2:
        return None
    return ShuffledBits(float(support[0] / support[1]), people)
