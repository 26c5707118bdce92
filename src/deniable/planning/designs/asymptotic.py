"""What the least error tends to as epsilon grows, and the shape of the best reference: a limit, not a bound.

With E = e**epsilon and a smooth reference g, a row favours outputs within 1/(2 E g(x)) of x, and its error is

    (2 E g(x))**-k / (k + 1)  +  the integral of g(y) |y - x|**k.

Both parts are equally large for g = E**(-k/(k+1)) u, and E cancels: the error is E**(-k/(k+1)) times a constant that
depends on u alone. The least constant, and the u that has it, are found here (proofs/large-epsilon.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TypedDict

import numpy as np
from scipy.optimize import minimize_scalar

from deniable.batch import Floats
from deniable.errors import NotSupported

PLACES = 401
COARSE = 200
STEPS = 60
MOST_EXPONENT = 5
"""For steeper losses the reference piles up at the ends, and the grid below keeps no three digits."""
PREDICT_FROM = 6.0
"""Below this epsilon the limit is off by more than an eighth."""
START_FROM = 3.0
"""From this epsilon on the limit is a better start for a program than an even reference."""


class Prediction(TypedDict):
    """A limit for large epsilon, put beside a design: neither an upper nor a lower bound."""

    error: float
    constant: float
    rate: float


@dataclass(frozen=True)
class LimitShape:
    """The least error on [0, 1] tends to `constant` e**(-`rate` epsilon); `heights` is the reference's u at `places`."""

    exponent: float
    constant: float
    places: Floats
    heights: Floats

    @property
    def rate(self) -> float:
        """k/(k + 1): how fast the error falls with epsilon."""
        return self.exponent / (self.exponent + 1)

    def predict(self, epsilon: float, scale: float = 1.0) -> Prediction | None:
        """The limit at one epsilon, for a domain whose losses are `scale` times as large; None where it is far off."""
        if epsilon < PREDICT_FROM:
            return None
        return {
            "error": scale * self.constant * math.exp(-self.rate * epsilon),
            "constant": scale * self.constant,
            "rate": self.rate,
        }

    def reference(self, y: Floats, epsilon: float) -> Floats:
        """The reference's density at outputs y."""
        return np.interp(y, self.places, self.heights) * math.exp(-self.rate * epsilon)


@cache
def limit_of_worst(exponent: float) -> LimitShape:
    """The limit of the least worst-case error.

    >>> round(limit_of_worst(1).constant, 6), round(limit_of_worst(2).constant, 6)
    (0.600291, 0.305536)
    """
    if exponent == 1:
        return _absolute()
    if exponent == 2:
        return _squared()
    if not exponent <= MOST_EXPONENT:
        raise NotSupported(f"the limit for large epsilon is known for exponents up to {MOST_EXPONENT}")
    (coarse, _), (fine, heights) = (_stationary(exponent, cells) for cells in (COARSE, 2 * COARSE))
    # The grid's error falls with the square of its step: the two of them tell where it goes.
    return LimitShape(exponent, (4 * fine - coarse) / 3, (np.arange(2 * COARSE) + 0.5) / (2 * COARSE), heights)


@cache
def limit_of_average(exponent: float) -> LimitShape:
    """The limit of the least average error under a uniform prior, in closed form.

    >>> round(limit_of_average(1).constant, 6)  # (sqrt 2 + asinh 1)/4
    0.573897
    """
    k = exponent
    nodes, weights = np.polynomial.legendre.leggauss(200)
    constant = float(weights @ (_spread((nodes + 1) / 2, k) / (2 * k)) ** (k / (k + 1)) / 2)
    places = np.linspace(0, 1, PLACES)
    return LimitShape(k, constant, places, (2 * k / _spread(places, k)) ** (1 / (k + 1)) / 2)


def known_limit(exponent: float | None, prior: str) -> LimitShape | None:
    """The limit for a question on an interval, where it is known."""
    if exponent is None or exponent > MOST_EXPONENT or prior not in ("worst", "uniform"):
        return None
    return limit_of_worst(exponent) if prior == "worst" else limit_of_average(exponent)


def limit_start(limit: LimitShape | None, y: Floats, epsilon: float) -> Floats | None:
    """The limit's reference on the first half of an even grid of outputs: where a program for a large epsilon may start."""
    if limit is None or epsilon < START_FROM:
        return None
    reference = limit.reference(y, epsilon) / (y.size - 1)
    reference[[0, -1]] /= 2
    return np.asarray(reference[: y.size // 2 + 1])


def _spread(y: Floats, k: float) -> Floats:
    """k + 1 times the mean loss of an output over all values."""
    return np.asarray(y ** (k + 1) + (1 - y) ** (k + 1))


def _absolute() -> LimitShape:
    """w = 1/(4u) solves w w'' = -1/2; v is w' at the ends, where w = w0 e**(-v*v) and the other part is v/2."""

    def middle(v: float) -> float:
        return 1 / (2 * math.sqrt(math.pi) * math.erf(v))

    best = minimize_scalar(
        lambda v: middle(v) * math.exp(-v * v) + v / 2, bounds=(0.1, 3), method="bounded", options={"xatol": 1e-12}
    )
    slopes = np.linspace(-best.x, best.x, PLACES)
    top = middle(float(best.x))
    away = np.array([math.sqrt(math.pi) * top * math.erf(slope) for slope in slopes.tolist()])
    return LimitShape(1, float(best.fun), 0.5 + away, np.exp(slopes**2) / (4 * top))


def _squared() -> LimitShape:
    """1/(12 u**2) = b - M z**2 at distance z from the middle, with M the integral of u; sin(angle)**2 = M/(4b)."""

    def parts(angle: float) -> tuple[float, float, float]:
        mass = (angle / math.sqrt(3)) ** (2 / 3)
        top = mass / (4 * math.sin(angle) ** 2)
        spread = top / math.sqrt(12) * mass**-1.5 * (angle - math.sin(2 * angle) / 2)
        return top + spread, top, mass

    best = minimize_scalar(lambda angle: parts(angle)[0], bounds=(0.1, 1.5), method="bounded", options={"xatol": 1e-12})
    constant, top, mass = parts(float(best.x))
    angles = np.linspace(-best.x, best.x, PLACES)
    return LimitShape(2, constant, 0.5 + math.sqrt(top / mass) * np.sin(angles), 1 / (math.sqrt(12 * top) * np.cos(angles)))


def _stationary(k: float, cells: int) -> tuple[float, Floats]:
    """The constant and u on a grid of cells, by Newton's method on the conditions of an optimum.

    Every value has the same error c, and for weights m of the values no change of u at any output helps:
    m (2k/(k+1)) (2u)**(-k-1) = the sum of m |y - x|**k.
    """
    edges, x = np.arange(cells + 1) / cells, (np.arange(cells) + 0.5) / cells
    signed = edges - x[:, None]
    losses = np.diff(np.sign(signed) * np.abs(signed) ** (k + 1) / (k + 1), axis=1)
    u, m, c = np.full(cells, (2 * k) ** (1 / (k + 1)) / 2), np.full(cells, 1 / cells), 1.0
    system = np.zeros((2 * cells + 1, 2 * cells + 1))
    for _ in range(STEPS):
        pull = 2 * k / (k + 1) * (2 * u) ** (-k - 1)
        missed = np.concatenate([(2 * u) ** -k / (k + 1) + losses @ u - c, losses.T @ m - m * pull, [m.sum() - 1]])
        system[:cells, :cells] = losses - np.diag(pull)
        system[:cells, -1] = -1
        system[cells:-1, :cells] = np.diag(4 * k * m * (2 * u) ** (-k - 2))
        system[cells:-1, cells:-1] = losses.T - np.diag(pull)
        system[-1, cells:-1] = 1
        step = np.linalg.solve(system, -missed)
        along = 1.0
        while (u + along * step[:cells] < u / 5).any() or (m + along * step[cells:-1] < m / 10).any():
            along /= 2
        u, m, c = u + along * step[:cells], m + along * step[cells:-1], c + along * float(step[-1])
        if along == 1 and np.abs(step).max() < 1e-11:
            return c, u
    raise NotSupported("the limit for large epsilon was not found for this loss; use 'absolute' or 'squared'")
