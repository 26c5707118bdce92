"""How many private reports a test needs, from the error exponents of its mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from deniable.batch import Floats
from deniable.core import Mechanism, Number
from deniable.errors import InvalidParameter
from deniable.planning.designs.divergences import NAMED
from deniable.planning.designs.extremal import marginals
from deniable.planning.designs.hypotheses import Hypotheses


@dataclass(frozen=True)
class SampleSize:
    """Reports needed to test P0 against P1 with errors of at most alpha (rejecting P0 wrongly) and beta (keeping it wrongly).

    No test needs fewer than `necessary`; `sufficient` are enough for the test below, by the Chernoff bound;
    `stein` is ln(1/beta)/D(M0||M1), what both tend to as beta goes to 0.
    The test: add up `scores[y]` = ln(M1(y)/M0(y)) of the reports, reject P0 if their mean exceeds `threshold`.
    """

    necessary: int
    sufficient: int
    stein: int
    kl: float
    chernoff: float
    scores: tuple[float, ...]
    threshold: float

    def to_dict(self) -> dict[str, Any]:
        """What the command line prints."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def sample_size(
    mechanism: Mechanism, p0: Sequence[Number], p1: Sequence[Number], *, alpha: float = 0.05, beta: float = 0.05
) -> SampleSize:
    """How many reports of a mechanism decide between P0 and P1.

    >>> from deniable.planning import extremal_design
    >>> design = extremal_design([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], 2)
    >>> size = sample_size(design.mechanism, [0.5, 0.3, 0.2], [0.2, 0.3, 0.5])
    >>> size.necessary, size.sufficient
    (22, 96)
    """
    if not (0 < alpha < 1 and 0 < beta < 1 and alpha + beta < 1):
        raise InvalidParameter("alpha and beta must be positive error levels with alpha + beta < 1; a coin does that well")
    laws = marginals(mechanism, Hypotheses.of(p0, p1))
    if float(np.abs(laws.difference).max()) <= 0:
        raise InvalidParameter("the mechanism's reports have the same law under P0 and P1: no number of them is enough")
    if float(laws.second.min()) <= 0 or float((laws.second + laws.difference).min()) <= 0:
        raise InvalidParameter("the mechanism has outputs that one hypothesis excludes; a single such report decides")
    kl, reverse = _kl(laws.difference, laws.second), _kl(-laws.difference, laws.second + laws.difference)
    log_ratio = np.log1p(laws.difference / laws.second)

    def exponent(s: float) -> float:
        """-ln Σ M0**(1-s) M1**s, with the digits that a small difference leaves."""
        tilt = np.expm1((1 - s) * log_ratio) - (1 - s) * laws.difference / laws.second
        return -math.log1p(float((laws.second * tilt).sum()))

    cost = (math.log(1 / alpha), math.log(1 / beta))

    def reports(s: float) -> float:
        return ((1 - s) * cost[0] + s * cost[1]) / exponent(s)

    best = minimize_scalar(reports, bounds=(1e-6, 1 - 1e-6), method="bounded", options={"xatol": 1e-9})
    s = float(best.x)
    enough = max(1, math.ceil(reports(s) - 1e-9))
    middle = minimize_scalar(lambda s: -exponent(s), bounds=(1e-6, 1 - 1e-6), method="bounded", options={"xatol": 1e-9})
    # Rejecting P0 above τ errs with at most e**(-n(sτ + exponent)) under P0: the least τ that meets alpha.
    threshold = (cost[0] / enough - exponent(s)) / s
    least = max(_binary(alpha, 1 - beta) / kl, _binary(1 - beta, alpha) / reverse)
    return SampleSize(
        necessary=max(1, math.ceil(least - 1e-9)),
        sufficient=enough,
        stein=max(1, math.ceil(cost[1] / kl - 1e-9)),
        kl=kl,
        chernoff=exponent(float(middle.x)),
        scores=tuple((-log_ratio).tolist()),
        threshold=threshold,
    )


def _kl(difference: Floats, second: Floats) -> float:
    return float(NAMED["kl"].part(difference, second).sum())


def _binary(a: float, b: float) -> float:
    """The KL divergence between two coins."""
    return a * math.log(a / b) + (1 - a) * math.log((1 - a) / (1 - b))
