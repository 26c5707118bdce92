"""Variances of unbiased counts of a category, and bounds that hold for every mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from deniable.core import Mechanism

Form = Callable[..., float]


def _variance(p: float, q: float, n: float, n_v: float) -> float:
    """n q(1-q)/(p-q)**2 + n_v (1-p-q)/(p-q)."""
    return n * q * (1 - q) / (p - q) ** 2 + n_v * (1 - p - q) / (p - q)


def _e(mechanism: Mechanism) -> float:
    return math.exp(float(mechanism.privacy))


def randomized_response(mechanism: Mechanism, n: float, n_v: float = 0) -> float:
    """n E/(E - 1)**2, whatever the answers are."""
    return n * _e(mechanism) / (_e(mechanism) - 1) ** 2


def k_rr(mechanism: Mechanism, n: float, n_v: float = 0) -> float:
    """p = E/(k - 1 + E), q = 1/(k - 1 + E)."""
    e, k = _e(mechanism), mechanism.domain.size
    return _variance(e / (k - 1 + e), 1 / (k - 1 + e), n, n_v)


def sue(mechanism: Mechanism, n: float, n_v: float = 0) -> float:
    """n h/(h - 1)**2, h = e**(epsilon/2), for every category."""
    h = math.sqrt(_e(mechanism))
    return n * h / (h - 1) ** 2


def oue(mechanism: Mechanism, n: float, n_v: float = 0) -> float:
    """4 n E/(E - 1)**2 + n_v."""
    return 4 * n * _e(mechanism) / (_e(mechanism) - 1) ** 2 + n_v


def sign_bits(mechanism: Mechanism, n: float, n_v: float = 0) -> float:
    """n / tanh(epsilon/2)**2 - n_v."""
    return n / math.tanh(float(mechanism.privacy) / 2) ** 2 - n_v


def hashing(mechanism: Any, n: float, n_v: float = 0) -> float:
    """p = E/(E + g - 1), q = 1/g."""
    e, g = _e(mechanism), mechanism.channel.sets.buckets
    return _variance(e / (e + g - 1), 1 / g, n, n_v)


def hadamard(mechanism: Any, n: float, n_v: float = 0) -> float:
    """p = E/(E + B - 1), q = 1/B; with B = 2 the variance is n ((E + 1)/(E - 1))**2 - n_v."""
    e, b = _e(mechanism), 1 << mechanism.channel.sets.checks
    return _variance(e / (e + b - 1), 1 / b, n, n_v)


def subset(mechanism: Any, n: float, n_v: float = 0) -> float:
    """With w of k chosen: p = wE/(wE + k - w), q = ((w - 1) p + w (1 - p))/(k - 1)."""
    e, k, w = _e(mechanism), mechanism.domain.size, mechanism.channel.sets.chosen
    p = w * e / (w * e + k - w)
    return _variance(p, ((w - 1) * p + w * (1 - p)) / (k - 1), n, n_v)


def projective(mechanism: Any, n: float, n_v: float = 0) -> float:
    """Points, points of a hyperplane and of two of them: each about 1/q of the one before."""
    e, sets = _e(mechanism), mechanism.channel.sets
    points, plane, line = (((sets.prime ** (sets.dimension - i) - 1) // (sets.prime - 1)) for i in range(3))
    total = plane * e + points - plane
    return _variance(plane * e / total, (line * e + plane - line) / total, n, n_v)


def information_bound(mechanism: Mechanism) -> float:
    """The least upper bound of the mutual information of any epsilon-LDP mechanism and any prior.

    max_a [a E eps/(1 + a(E-1)) - ln(1 + a(E-1))] = u - 1 - ln u with u = eps E/(E - 1); about eps**2/8.
    """
    epsilon = float(mechanism.privacy)
    over = epsilon / -math.expm1(-epsilon) - 1
    return over - math.log1p(over)


def row_divergence_bound(mechanism: Mechanism) -> float:
    """The largest Kullback–Leibler divergence between two rows: eps tanh(eps/2)."""
    epsilon = float(mechanism.privacy)
    return epsilon * math.tanh(epsilon / 2)


BOUNDS: dict[str, Form] = {"information_bound": information_bound, "row_divergence_bound": row_divergence_bound}

FORMS: dict[str, dict[str, Form]] = {
    "randomized-response": {"count_variance": randomized_response},
    "k-rr": {"count_variance": k_rr},
    "sue": {"count_variance": sue},
    "oue": {"count_variance": oue},
    "sign-bits": {"count_variance": sign_bits},
    "blh": {"count_variance": hashing},
    "olh": {"count_variance": hashing},
    "hadamard": {"count_variance": hadamard},
    "subset": {"count_variance": subset},
    "projective": {"count_variance": projective},
}
