"""The linear program of extremal mechanisms, over all patterns or growing by priced ones."""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from deniable.batch import Flags, Floats
from deniable.errors import InvalidParameter
from deniable.planning.designs.divergences import Divergence
from deniable.planning.designs.hypotheses import Hypotheses
from deniable.planning.designs.pricing import ROUNDS, TIGHT, parts, price

ALL_PATTERNS = 10
"""Up to this many categories, all 2**k patterns are written out."""
NEGLIGIBLE = 1e-10


class Program(NamedTuple):
    """A solved program: weights of patterns, their value, a bound over all patterns, and how many rounds it took."""

    patterns: Flags
    weights: Floats
    value: float
    upper_bound: float
    rounds: int


def all_patterns(size: int) -> Flags:
    """All 2**k patterns, the empty one first."""
    if size > ALL_PATTERNS:
        raise InvalidParameter(f"method 'all' writes out 2**k patterns, for at most {ALL_PATTERNS} categories; use 'generated'")
    return np.asarray((np.arange(1 << size)[:, None] >> np.arange(size)) & 1 == 1)


def solve_program(
    hypotheses: Hypotheses, divergence: Divergence, epsilon: float, start: Flags, gap: float, seconds: float
) -> Program:
    """max Σ θ_S part(S) with Σ θ_S S = 1 over `start`, which grows by priced patterns until the relative gap is reached.

    HiGHS works to about 1e-9 of the largest part. Whatever it returns, the value is recomputed from the
    weights and the bound from exact pricing, so a poor solution shows as a gap and not as a wrong number.
    """
    gain, deadline = math.expm1(epsilon), time.monotonic() + seconds
    patterns, bound = np.unique(start, axis=0), math.inf
    best = Program(patterns[:0], np.zeros(0), 0.0, bound, 0)
    for done in range(1, ROUNDS + 1):
        worth = parts(hypotheses, divergence, epsilon, patterns)
        scale = float(worth.max())
        if scale <= 0:
            break
        options: Any = {**TIGHT, "time_limit": max(0.1, deadline - time.monotonic())}
        solution = linprog(
            -worth / scale,
            A_eq=1 + gain * patterns.T,
            b_eq=np.ones(hypotheses.size),
            method="highs",
            options=options,
        )
        if solution.x is None or solution.eqlin.marginals is None:
            break
        priced = price(hypotheses, divergence, epsilon, -np.asarray(solution.eqlin.marginals) * scale)
        bound = min(bound, priced.upper_bound)
        used = solution.x > NEGLIGIBLE
        best = Program(patterns[used], np.asarray(solution.x[used]), float(worth @ solution.x), bound, done)
        grown = np.unique(np.concatenate([patterns, priced.patterns]), axis=0)
        if bound <= best.value * (1 + gap) or len(grown) == len(patterns) or time.monotonic() > deadline:
            break
        patterns = grown
    return best._replace(upper_bound=bound)
