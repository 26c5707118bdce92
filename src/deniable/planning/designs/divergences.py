"""f-divergences between two distributions: what a hypothesis test lives on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlog1py

from deniable.batch import Floats
from deniable.errors import InvalidParameter

Convex = Callable[[Any], Any]
"""A convex function f of t = M0(y)/M1(y), with f(1) = 0."""

STEP = 1e-6
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Divergence:
    """D_f(M0 || M1) = sum over y of M1(y) f(M0(y)/M1(y)).

    `excess(d)` is f(1 + d) with a multiple of d taken off so that it is never negative; that changes no
    divergence, and keeps all digits when M0 and M1 are close. `slope(d)` is its derivative.
    """

    name: str
    excess: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]

    def part(self, first: Floats, second: Floats) -> Floats:
        """What one output contributes when its weights are `second + first` under M0 and `second` under M1."""
        return np.asarray(second * self.excess(first / second))

    def between(self, m0: Floats, m1: Floats) -> float:
        """The divergence of two positive vectors of probabilities."""
        return float(self.part(m0 - m1, m1).sum())


def _kl(d: Floats) -> Floats:
    # (1 + d) ln(1 + d) - d loses digits near 0, where its series begins d**2/2 - d**3/6 + d**4/12 - d**5/20.
    near = np.abs(d) < 1e-3
    series = d * d * (1 / 2 + d * (-1 / 6 + d * (1 / 12 - d * (1 / 20 - d / 30))))
    return np.where(near, series, xlog1py(1 + d, d) - d)


def _hellinger(d: Floats) -> Floats:
    return np.asarray((d / (1 + np.sqrt(1 + d))) ** 2 / 2)


NAMED: dict[str, Divergence] = {
    "kl": Divergence("kl", _kl, np.log1p),
    "tv": Divergence("tv", lambda d: np.abs(d) / 2, lambda d: np.sign(d) / 2),
    "chi2": Divergence("chi2", lambda d: np.asarray(d * d), lambda d: np.asarray(2 * d)),
    "hellinger": Divergence("hellinger", _hellinger, lambda d: np.asarray((1 - 1 / np.sqrt(1 + d)) / 2)),
}
"""Kullback–Leibler D(M0||M1) in nats; total variation; chi-square sum (M0-M1)**2/M1; squared Hellinger 1 - sum sqrt(M0 M1)."""

ALIASES = {"chi-square": "chi2", "chisquare": "chi2", "total-variation": "tv", "squared-hellinger": "hellinger"}


def as_divergence(divergence: str | Convex | Divergence) -> Divergence:
    """A divergence by name, or from any convex f with f(1) = 0.

    >>> as_divergence("kl").name, as_divergence(lambda t: t * t - 1).name
    ('kl', 'f')
    """
    if isinstance(divergence, Divergence):
        return divergence
    if isinstance(divergence, str):
        name = ALIASES.get(divergence.lower(), divergence.lower())
        if name not in NAMED:
            raise InvalidParameter(f"divergence must be one of {', '.join(NAMED)}, or a convex function, got {divergence[:40]!r}")
        return NAMED[name]
    if not callable(divergence):
        raise InvalidParameter(f"divergence must be one of {', '.join(NAMED)}, or a convex function f with f(1) = 0")
    return _from_function(divergence)


def _from_function(f: Convex) -> Divergence:
    vectorised = np.vectorize(f, otypes=[np.float64])
    points = np.exp(np.linspace(-3, 3, 25))
    values, at_one = np.asarray(vectorised(points)), float(f(1.0))
    if not (np.all(np.isfinite(values)) and abs(at_one) <= TOLERANCE):
        raise InvalidParameter("divergence: f must be finite on positive numbers, with f(1) = 0")
    gaps = np.diff(points)
    slopes = np.diff(values) / gaps
    if np.any(np.diff(slopes) < -TOLERANCE * (1 + np.abs(slopes).max())):
        raise InvalidParameter("divergence: f must be convex; it bends downward somewhere between 0.05 and 20")

    def slope(d: Floats) -> Floats:
        t = 1 + np.asarray(d, dtype=np.float64)
        step = STEP * t
        return np.asarray((vectorised(t + step) - vectorised(t - step)) / (2 * step))

    tilt = float(slope(np.zeros(1))[0])
    # Differences of f near 1 keep few digits; no more are promised for a function given as a black box.
    return Divergence("f", lambda d: vectorised(1 + np.asarray(d)) - at_one - tilt * d, lambda d: slope(d) - tilt)
