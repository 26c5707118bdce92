"""Published mechanisms for vectors of length 1, to compare with. Do NOT collect data with them.

They draw floats from an ordinary generator: what is proved about real numbers does not hold for doubles, whose low bits can
betray the vector. They are here for their errors only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import betaincinv, ndtri
from scipy.stats import norm

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PrivUnit:
    """A uniform direction in a cap of share q around the vector with probability p, else one outside it (Bhowmick et al. 2018).

    With the best q (Asi, Feldman, Talwar 2022) nothing unbiased has less error; q = 1/2 is the mechanism of Duchi, Jordan and
    Wainwright for the sphere (PrivHS).
    """

    dimension: int
    epsilon: float
    share: float

    @property
    def chance(self) -> float:
        """p: how likely the direction comes from the cap."""
        return self.share * math.exp(self.epsilon) / (self.share * math.exp(self.epsilon) + 1 - self.share)

    def _edge(self) -> float:
        half = (self.dimension - 1) / 2
        return float(1 - 2 * betaincinv(half, half, self.share))

    @property
    def mean(self) -> float:
        """The mean of the direction along the vector."""
        d = self.dimension
        cap = (1 - self._edge() ** 2) ** ((d - 1) / 2) * math.exp(math.lgamma(d / 2) - math.lgamma((d - 1) / 2))
        cap /= math.sqrt(math.pi) * (d - 1)
        return cap * (self.chance / self.share - (1 - self.chance) / (1 - self.share))

    @property
    def error(self) -> float:
        """The expected squared distance of one report."""
        return 1 / self.mean**2 - 1

    def reports(self, vectors: Floats, generator: np.random.Generator) -> Floats:
        """Unbiased readings of one report per row."""
        inside = generator.random(len(vectors)) < self.chance
        uniform = generator.random(len(vectors))
        tail = np.where(inside, uniform * self.share, self.share + uniform * (1 - self.share))
        half = (self.dimension - 1) / 2
        along = 1 - 2 * betaincinv(half, half, tail)
        across = generator.normal(size=vectors.shape)
        across -= (across * vectors).sum(axis=1, keepdims=True) * vectors
        across *= (np.sqrt(1 - along**2) / np.linalg.norm(across, axis=1))[:, None]
        return np.asarray((along[:, None] * vectors + across) / self.mean)


@dataclass(frozen=True)
class PrivUnitG:
    """PrivUnit with normal numbers instead of a direction (Asi, Feldman, Talwar 2022)."""

    dimension: int
    epsilon: float
    share: float

    @property
    def mean(self) -> float:
        """The mean along the vector, for normal numbers of variance 1/dimension."""
        odds, q = math.exp(self.epsilon), self.share
        return (odds - 1) * float(norm.pdf(norm.isf(q))) / (q * odds + 1 - q) / math.sqrt(self.dimension)

    def reports(self, vectors: Floats, generator: np.random.Generator) -> Floats:
        """Unbiased readings of one report per row."""
        odds, q = math.exp(self.epsilon), self.share
        inside = generator.random(len(vectors)) < q * odds / (q * odds + 1 - q)
        uniform = generator.random(len(vectors))
        along = -ndtri(np.where(inside, uniform * q, q + uniform * (1 - q))) / math.sqrt(self.dimension)
        across = generator.normal(size=vectors.shape) / math.sqrt(self.dimension)
        across -= (across * vectors).sum(axis=1, keepdims=True) * vectors
        return np.asarray((along[:, None] * vectors + across) / self.mean)


def best_privunit(dimension: int, epsilon: float) -> PrivUnit:
    """PrivUnit with the share of least error."""
    best = minimize_scalar(
        lambda log: PrivUnit(dimension, epsilon, math.exp(log)).error, bounds=(-epsilon - 5, math.log(0.5)), method="bounded"
    )
    return PrivUnit(dimension, epsilon, math.exp(best.x))


def duchi_sphere(dimension: int, epsilon: float) -> PrivUnit:
    """The half sphere: best for small epsilon only."""
    return PrivUnit(dimension, epsilon, 0.5)


def duchi_cube_error(dimension: int, epsilon: float) -> float:
    """The expected squared distance of Duchi's mechanism for the cube [-1, 1]**d, whose reports are corners times a constant."""
    odd = dimension if dimension % 2 else dimension + 1
    likely = math.exp(math.lgamma(odd) - 2 * math.lgamma((odd + 1) / 2) - (odd - 1) * math.log(2))
    constant = (math.exp(epsilon) + 1) / (math.exp(epsilon) - 1) / likely
    return dimension * (constant**2 - 1)


def gaussian_delta(sigma: float, epsilon: float, sensitivity: float = 2) -> float:
    """The delta of noise with this sigma on every coordinate, exactly (Balle, Wang 2018)."""
    a, b = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
    return float(norm.sf(b - a) - math.exp(epsilon + norm.logsf(a + b)))


def gaussian_sigma(epsilon: float, delta: float, sensitivity: float = 2) -> float:
    """The least sigma of an (epsilon, delta) claim."""
    low, high = 0.0, 1.0
    while gaussian_delta(high, epsilon, sensitivity) > delta:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, epsilon, sensitivity) > delta else (low, middle)
    return high


def recipe_sigma(epsilon: float, delta: float, sensitivity: float = 2) -> float:
    """sensitivity * sqrt(2 ln(1.25/delta)) / epsilon, as many packages compute it. It is proved for epsilon < 1 only."""
    return sensitivity * math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def laplace_error(dimension: int, epsilon: float) -> float:
    """The expected squared distance with Laplace noise on every coordinate: two vectors differ by up to 2 sqrt(d) in the 1-norm."""
    return dimension * 2 * (2 * math.sqrt(dimension) / epsilon) ** 2
