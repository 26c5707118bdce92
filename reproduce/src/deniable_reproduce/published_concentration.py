"""How closely a mechanism's answers gather around the truth by the published formulas: Pr[a <= M(x) <= b] on [0, 1].

`deniable.studies.concentration` reads it off the mechanism that runs, on its lattice, and converges to these as the lattice
gets finer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

from deniable.core import analytic_sigma, exact_sigma, published_sigma
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import WINDOW_SHAPES, WindowShape
from deniable.studies import Feature, OutputLaw

THETAS = tuple(i / 50 for i in range(5, 26))
"""The radii of Figure 7.3: from 0.1 to 0.5."""

Cdf = Callable[[float], float]
SIGMAS = {"published": published_sigma, "exact": exact_sigma, "analytic": analytic_sigma}
FIGURE = ("laplace", "ogpm", "redesigned-sw", "exponential", "k-rr")
"""The five mechanisms of Figure 7.3; chapter 7 calls ogpm "PM" and redesigned-sw "SW"."""


def published(
    name: str, epsilon: float, x: float, low: float, high: float, *, points: int = 100, delta: float = 0.1, sigma: str = "published"
) -> float:
    """Pr[low <= M(x) <= high] by the published formula, for x in [0, 1].

    `points` equal cells, read at their middles, are what k-rr and exponential choose from; `delta` and `sigma`
    are for gaussian only.

    >>> [round(published(name, 2, 0.5, 0.2, 0.8), 6) for name in ("laplace", "ogpm", "k-rr")]
    [0.451188, 0.852848, 0.624021]
    """
    if not 0 <= x <= 1:
        raise InvalidParameter("x must lie between 0 and 1")
    if high < low:
        return 0.0
    if name in ("k-rr", "exponential"):
        return _on_points(name, epsilon, x, low, high, [(i + 0.5) / points for i in range(points)])
    cdf = _cdf(name, epsilon, x, delta, sigma)
    return max(cdf(high) - cdf(low), 0.0)


def published_on_points(name: str, epsilon: float, x: float, low: float, high: float, values: Sequence[float]) -> float:
    """The same for k-rr and exponential on any list of points; x counts as the nearest one."""
    if name not in ("k-rr", "exponential"):
        raise NotSupported(f"{name} does not choose from a list of points")
    return _on_points(name, epsilon, x, low, high, list(values))


def _on_points(name: str, epsilon: float, x: float, low: float, high: float, values: list[float]) -> float:
    # Of two nearest points the upper one: the cell that begins at x, as the mechanism has it.
    true = max(range(len(values)), key=lambda i: (-round(abs(values[i] - x), 12), values[i]))
    if name == "k-rr":
        weights = [math.exp(epsilon) if i == true else 1.0 for i in range(len(values))]
    else:
        widest = max(values) - min(values)
        weights = [math.exp(-epsilon * abs(value - values[true]) / (2 * widest)) for value in values]
    inside = math.fsum(w for w, value in zip(weights, values, strict=True) if low - 1e-12 <= value <= high + 1e-12)
    return inside / math.fsum(weights)


def _cdf(name: str, epsilon: float, x: float, delta: float, sigma: str) -> Cdf:
    if name == "laplace":
        return lambda t: 0.5 * math.exp(epsilon * (t - x)) if t < x else 1 - 0.5 * math.exp(-epsilon * (t - x))
    if name == "truncated-laplace":
        inner = _cdf("laplace", epsilon, x, delta, sigma)
        return lambda t: 0.0 if t < 0 else 1.0 if t >= 1 else inner(t)
    if name == "gaussian":
        if sigma not in SIGMAS:
            raise InvalidParameter(f"sigma must be one of {', '.join(SIGMAS)}")
        return NormalDist(x, SIGMAS[sigma](epsilon, delta)).cdf
    shape = WINDOW_SHAPES.get(name)
    if shape is None:
        raise NotSupported(f"{name} has no published formula here; concentration(…) computes it from the mechanism itself")
    return shape_cdf(shape(epsilon, x))


def shape_cdf(shape: WindowShape) -> Cdf:
    """The cdf of a density with one favoured interval: three straight pieces."""

    def cdf(t: float) -> float:
        base = min(max(t, shape.bottom), shape.top) - shape.bottom
        favoured = min(max(t, shape.left), shape.right) - shape.left
        return shape.low * base + (shape.high - shape.low) * favoured

    return cdf


class Curve(NamedTuple):
    """One curve of Figure 7.3: by the formula and by the mechanism that runs, at the same radii."""

    mechanism: str
    epsilon: float
    thetas: tuple[float, ...]
    formula: tuple[float, ...]
    lattice: tuple[float, ...]


def concentration_curves(
    epsilons: Sequence[float] = (2, 4, 6),
    thetas: Sequence[float] = THETAS,
    *,
    mechanisms: Sequence[str] = FIGURE,
    x: float = 0.5,
    points: int = 100,
) -> list[Curve]:
    """The numbers of Figure 7.3: Pr[|M(x) - x| <= theta] against theta, for every mechanism and epsilon."""
    curves = []
    for epsilon in epsilons:
        for name in mechanisms:
            law = OutputLaw(Feature(0, 1, points).perturbed_by(name, epsilon), x)
            formula = tuple(published(name, float(epsilon), x, x - theta, x + theta, points=points) for theta in thetas)
            lattice = tuple(law.probability(x - theta, x + theta) for theta in thetas)
            curves.append(Curve(name, float(epsilon), tuple(thetas), formula, lattice))
    return curves


def published_smallest_epsilon(name: str, target: float, x: float, theta: float, *, most: float = 64.0, **parameters: Any) -> float:
    """The least epsilon at which the published formula reaches `target`, to twelve digits.

    >>> round(published_smallest_epsilon("ogpm", 0.8, 0.5, 0.3), 6)
    1.386294
    """
    if not 0 < target < 1:
        raise InvalidParameter("target must lie strictly between 0 and 1")

    def reaches(epsilon: float) -> bool:
        return published(name, epsilon, x, x - theta, x + theta, **parameters) >= target

    low, high = 0.0, most
    if not reaches(high):
        raise InvalidParameter(f"target is not reached by {name} up to epsilon {most:g} within this radius")
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high
