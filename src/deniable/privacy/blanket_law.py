"""The privacy of shuffled reports as one expectation: an upper bound for every channel, at any delta, for any number of people.

Let r be the largest ratio of two weights in a column, b the largest total variation between two rows, and g a mass that every row
contains, whatever its input (the blanket of Balle, Bell, Gascón and Nissim 2019). Then the shuffled reports of n people have

    delta(epsilon) <= E[(Z_1 + … + Z_n)+] / n,     Z = u - e**epsilon v,

where (u, v) is (r, 1) or (1, r) with probability b/(r-1) each, (r, r) with (1-b-g)/(r-1), (1, 1) with (r g - 1 - b)/(r-1), and
(0, 0) otherwise. With b = (r-1)/(r+1) this is the bound for every mechanism of a level (Feldman, McMillan and Talwar 2023).
Proof: proofs/shuffling.md.

The expectation is a Fourier integral. Its trapezoidal sum is the expectation itself plus terms that are positive, and a small
normal variable is added to the sum of the Z, which can only enlarge it: whatever is computed is an upper bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deniable.batch import Floats

SMOOTHING = 0.001
"""The added normal variable's standard deviation, in those of the sum."""
LEAST_SMOOTHING = 0.004
"""The same in decays of the sum's tail, where that is more: it bounds how many frequencies there are."""
DECAY = 10.0
"""Frequencies beyond so many standard deviations of the added variable's transform are not summed: e**-50 is left."""
PERIOD, HEAVY = 16.0, 45.0
"""What is added to the expectation lies so many standard deviations, and so many decays of its tail, away."""
NEGLIGIBLE = -100.0
"""The logarithm of a delta below which a simple bound will do."""
SLACK = 1e-9
"""All rounding errors together, relatively; added."""


@dataclass(frozen=True)
class BlanketLaw:
    """Probabilities of the kinds (u, v) of a report under the blanket."""

    ratio: float
    kinds: tuple[tuple[float, float, float], ...]
    """Probability, u, v."""

    @classmethod
    def of(cls, ratio: float, variation: float | None = None, blanket: float = 0.0) -> BlanketLaw:
        """From the largest ratio, an upper bound of the variation and a lower bound of the blanket's mass.

        >>> law = BlanketLaw.of(math.e)
        >>> [(round(share, 4), round(u, 4), round(v, 4)) for share, u, v in law.kinds]
        [(0.2689, 2.7183, 1.0), (0.2689, 1.0, 2.7183)]
        """
        most = (ratio - 1) / (ratio + 1)
        apart = most if variation is None else min(variation, most, 1 - blanket)
        if ratio * blanket > 1:
            apart = min(apart, ratio * blanket - 1)  # no pair of rows differs more: their larger parts fit under r blankets
        mass = max(blanket, (1 + apart) / ratio)
        each, both = apart / (ratio - 1), _positive(1 - apart - mass) / (ratio - 1)
        neither = _positive(ratio * mass - 1 - apart) / (ratio - 1)
        kinds = ((each, ratio, 1.0), (each, 1.0, ratio), (both, ratio, ratio), (neither, 1.0, 1.0))
        return cls(ratio, tuple(kind for kind in kinds if kind[0] > 0))

    def delta(self, people: int, epsilon: float) -> float:
        """An upper bound of delta.

        >>> BlanketLaw.of(math.e).delta(10_000, 0.1) < 1e-6
        True
        """
        factor = math.exp(epsilon)
        if factor >= self.ratio:
            return 0.0
        shares = np.array([share for share, _, _ in self.kinds])
        values = np.array([u - factor * v for _, u, v in self.kinds])
        tilt = _saddle(shares, values, people)
        weights = shares * np.exp(tilt * values)
        total = 1 - shares.sum() + weights.sum()
        # Chernoff: x+ <= e**(t x) / (e t). Nobody asks for more of what is so small.
        at_most = people * math.log(total) - math.log(math.e * tilt * people)
        if at_most < NEGLIGIBLE:
            return math.exp(max(at_most, -700.0))
        mean = float((weights * values).sum() / total)
        deviation = math.sqrt(people * max(float((weights * values**2).sum() / total) - mean**2, 1e-300))
        noise = max(SMOOTHING * deviation, LEAST_SMOOTHING / tilt)
        step = 2 * math.pi / max(PERIOD * deviation, HEAVY / tilt)
        count = math.ceil(DECAY / (noise * step))
        z = tilt + 1j * step * np.arange(count + 1)
        exponent = people * _log1p(np.expm1(z[:, None] * values) @ shares) + noise**2 * z**2 / 2
        terms = np.exp(exponent - exponent[0].real) / z**2
        whole = step / math.pi * float(terms.real.sum() - terms[0].real / 2)
        # Beyond the last frequency the transform of the added variable alone leaves less than this.
        whole += math.exp(noise**2 * tilt**2 / 2 - DECAY**2 / 2) / (DECAY / noise)
        return min(1.0, math.exp(exponent[0].real) * whole / people * (1 + SLACK))


def _positive(difference: float) -> float:
    """Differences of a few roundings are none: which kind so little belongs to is within the slack."""
    return difference if difference > 1e-14 else 0.0


def _saddle(shares: Floats, values: Floats, people: int) -> float:
    """Where the integrand is smallest on the real line: n K(t) - 2 log t, which is convex."""

    def slope(t: float) -> float:
        exponents = t * values
        top = max(float(exponents.max()), 0.0)
        weights = shares * np.exp(exponents - top)
        total = (1 - float(shares.sum())) * math.exp(-top) + float(weights.sum())
        return people * float((weights * values).sum()) / total - 2 / t

    low = high = 1.0
    while slope(low) > 0:
        low /= 4
    while slope(high) < 0:
        high *= 4
    for _ in range(60):
        middle = math.sqrt(low * high)
        if slope(middle) < 0:
            low = middle
        else:
            high = middle
        if high / low < 1 + 1e-6:
            break
    return high


def _log1p(value: np.typing.NDArray[np.complex128]) -> np.typing.NDArray[np.complex128]:
    """log(1 + value), exact also where value is small: it is multiplied by the number of people."""
    real, imaginary = value.real, value.imag
    return 0.5 * np.log1p(2 * real + real**2 + imaginary**2) + 1j * np.arctan2(imaginary, 1 + real)
