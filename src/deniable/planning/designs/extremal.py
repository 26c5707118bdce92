"""The best private mechanism for telling two distributions apart, with a certificate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from deniable.batch import Flags, Floats
from deniable.core import Categories, Epsilon, EpsilonLike, Extremal, Mechanism, Number
from deniable.errors import InvalidParameter
from deniable.planning.designs.column_generation import ALL_PATTERNS, all_patterns, solve_program
from deniable.planning.designs.divergences import Convex, Divergence, as_divergence
from deniable.planning.designs.hypotheses import Hypotheses
from deniable.planning.designs.partitions import BestPartition, Block, best_partition, block_value
from deniable.planning.designs.pricing import convex_prices, price

METHODS = ("auto", "all", "intervals", "generated")
CLOSED = 1e-9
"""A relative gap this small is rounding."""
STEEP = 100.0
"""f grows without end if its slope at 1e100 is more than this (that of KL is 230)."""
GRAIN = 1 << 40
"""Weights from a linear program are rounded to multiples of 2**-40 of the largest."""


class Marginals(NamedTuple):
    """The two laws of a report: M0 - M1 and M1, each rounded once from exact numbers."""

    difference: Floats
    second: Floats


@dataclass(frozen=True)
class ExtremalDesign:
    """A mechanism for a test and what it achieves.

    `value` is the divergence of the integer mechanism, measured from its weights; `optimum` that of the
    design before rounding; no epsilon-LDP mechanism exceeds `upper_bound`. `binary` and `k_rr` are the two
    classical mechanisms on the same question, `non_private` the divergence of the values themselves.
    """

    mechanism: Extremal
    hypotheses: Hypotheses
    divergence: str
    value: float
    optimum: float
    upper_bound: float
    binary: float
    k_rr: float
    non_private: float
    method: str

    @property
    def gap(self) -> float:
        """upper_bound / value: 1 means that nothing better exists."""
        return self.upper_bound / self.value if self.value > 0 else math.inf

    @property
    def regime(self) -> str:
        """'binary', 'k-rr', 'blocks' (randomized response between blocks) or 'staircase' (overlapping sets)."""
        sets = self.mechanism.patterns
        if sum(map(len, sets)) != self.hypotheses.size:
            return "staircase"
        if len(sets) == self.hypotheses.size > 2:
            return "k-rr"
        return "binary" if len(sets) == 2 else "blocks"

    def to_dict(self) -> dict[str, Any]:
        """What the command line prints."""
        return {
            "mechanism": self.mechanism.name,
            "divergence": self.divergence,
            "value": self.value,
            "optimum": self.optimum,
            "upper_bound": self.upper_bound,
            "gap": self.gap,
            "regime": self.regime,
            "method": self.method,
            "binary": self.binary,
            "k_rr": self.k_rr,
            "non_private": self.non_private,
            "recipe": self.mechanism.recipe(),
        }


def extremal_design(
    p0: Sequence[Number],
    p1: Sequence[Number],
    epsilon: EpsilonLike,
    divergence: str | Convex | Divergence = "kl",
    *,
    domain: Categories | None = None,
    method: str = "auto",
    seconds: float = 20.0,
) -> ExtremalDesign:
    """The mechanism whose reports differ most, in an f-divergence, between P0 and P1.

    `method`: "intervals" finds the best blocks of the likelihood order and a bound; "all" solves the linear
    program over all 2**k patterns (k <= 10); "generated" grows it by priced patterns; "auto" takes the
    blocks and goes on to a program only if their bound leaves a gap.

    >>> design = extremal_design([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], 2)
    >>> round(design.value, 6), design.regime, round(design.gap, 9)
    (0.124643, 'k-rr', 1.0)
    """
    level, chosen, pair = Epsilon(epsilon), as_divergence(divergence), Hypotheses.of(p0, p1)
    space = Categories(pair.size) if domain is None else domain
    if space.size != pair.size:
        raise InvalidParameter(f"domain must have one category per probability: {pair.size}, got {space.size}")
    if method not in METHODS:
        raise InvalidParameter(f"method must be one of {', '.join(METHODS)}")
    if not seconds > 0:
        raise InvalidParameter("seconds must be positive")
    if method == "all":
        all_patterns(pair.size)
    eps = float(level)
    blocks = best_partition(pair, chosen, eps)
    if not blocks.value > 0:
        raise InvalidParameter("divergence: f is zero wherever private reports can differ at this epsilon; nothing to maximise")
    patterns, weights, optimum, bound, used = blocks.blocks, None, blocks.value, math.inf, "intervals"
    if method in ("auto", "intervals"):
        bound = _bound(pair, chosen, eps, blocks, seconds)
    if method in ("all", "generated") or (method == "auto" and bound > optimum * (1 + CLOSED)):
        whole = method == "all" or (method == "auto" and pair.size <= ALL_PATTERNS)
        start = all_patterns(pair.size) if whole else _masks(blocks.blocks, pair.size)
        program = solve_program(pair, chosen, eps, start, CLOSED, seconds)
        bound, used = min(bound, program.upper_bound), "all" if whole else "generated"
        if program.value > optimum * (1 + CLOSED):
            optimum = program.value
            patterns, weights = _rounded(program.patterns, program.weights)
    mechanism = Extremal(domain=space, epsilon=level, patterns=patterns, weights=weights)
    return ExtremalDesign(
        mechanism=mechanism,
        hypotheses=pair,
        divergence=chosen.name,
        value=measured(mechanism, pair, chosen),
        optimum=optimum,
        upper_bound=max(bound, optimum),
        binary=block_value(pair, binary_blocks(pair), chosen, eps),
        k_rr=block_value(pair, tuple((x,) for x in range(pair.size)), chosen, eps),
        non_private=_without_privacy(pair, chosen),
        method=used,
    )


def binary_blocks(hypotheses: Hypotheses) -> tuple[Block, ...]:
    """The published binary mechanism: where P0 >= P1, and where P0 < P1."""
    sides = np.array([a >= b for a, b in zip(hypotheses.p0, hypotheses.p1, strict=True)])
    return tuple(np.flatnonzero(~sides).tolist()), tuple(np.flatnonzero(sides).tolist())


def marginals(mechanism: Mechanism, hypotheses: Hypotheses) -> Marginals:
    """The laws of a report under P0 and P1, from the integer weights."""
    channel = mechanism.channel
    if channel.inputs != hypotheses.size:
        raise InvalidParameter(f"the mechanism has {channel.inputs} inputs, the hypotheses {hypotheses.size} categories")
    rows = [list(channel.row(x)) for x in range(channel.inputs)]
    first, second = (
        [sum(chance * row[y] for chance, row in zip(law, rows, strict=True)) / channel.total for y in range(channel.outputs)]
        for law in (hypotheses.p0, hypotheses.p1)
    )
    kept = [(Fraction(a), Fraction(b)) for a, b in zip(first, second, strict=True) if a + b > 0]
    return Marginals(np.array([float(a - b) for a, b in kept]), np.array([float(b) for _, b in kept]))


def measured(mechanism: Mechanism, hypotheses: Hypotheses, divergence: str | Convex | Divergence) -> float:
    """The divergence between the laws of a report under P0 and P1, from the integer weights.

    >>> from deniable.core import KaryRandomizedResponse
    >>> pair = Hypotheses.of([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])
    >>> round(measured(KaryRandomizedResponse(domain=Categories(3), epsilon=2), pair, "kl"), 6)
    0.124643
    """
    laws = marginals(mechanism, hypotheses)
    return float(as_divergence(divergence).part(laws.difference, laws.second).sum())


def regimes(p0: Sequence[Number], p1: Sequence[Number], divergence: str | Convex | Divergence = "kl") -> tuple[float, float]:
    """(largest epsilon at which two blocks are best, smallest from which k-RR is), searched up to 20.

    The first is at least what the published binary mechanism reaches: where P0(x) = P1(x), both sides are tried.
    k-RR may never be best (many categories, or some that differ in nothing): then the second is infinite.
    """
    pair, chosen = Hypotheses.of(p0, p1), as_divergence(divergence)

    def count(eps: float) -> int:
        return len(best_partition(pair, chosen, eps).blocks)

    top = 20.0
    two = _boundary(lambda eps: count(eps) > 2, 0.0, top)
    full = _boundary(lambda eps: count(eps) == pair.size, 0.0, top) if count(top) == pair.size else math.inf
    return two, full


def _boundary(holds: Any, low: float, high: float) -> float:
    if not holds(high):
        return high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _bound(pair: Hypotheses, chosen: Divergence, eps: float, blocks: BestPartition, seconds: float) -> float:
    """The least upper bound from the search's own prices, then from convex ones."""
    bound = min(price(pair, chosen, eps, prices).upper_bound for prices in blocks.prices)
    if bound > blocks.value * (1 + CLOSED):
        start = _masks((*blocks.blocks, *((x,) for x in range(pair.size))), pair.size)
        bound = min(bound, convex_prices(pair, chosen, eps, start, blocks.value, CLOSED, seconds))
    return bound


def _masks(blocks: Sequence[Block], size: int) -> Flags:
    masks = np.zeros((len(blocks), size), dtype=np.bool_)
    for row, block in zip(masks, blocks, strict=True):
        row[list(block)] = True
    return masks


def _rounded(patterns: Flags, weights: Floats) -> tuple[tuple[Block, ...], list[Fraction]]:
    """Patterns with exact weights; the empty and the full one tell nothing and are left out."""
    kept = patterns.any(axis=1) & ~patterns.all(axis=1)
    shares = [max(round(weight * GRAIN), 1) for weight in (weights[kept] / weights[kept].max()).tolist()]
    return tuple(tuple(np.flatnonzero(row).tolist()) for row in patterns[kept]), [Fraction(share, GRAIN) for share in shares]


def _without_privacy(pair: Hypotheses, chosen: Divergence) -> float:
    """The divergence of the values themselves; infinite where P1 has a zero that P0 has not and f grows without end."""
    both = pair.second > 0
    inner = float(chosen.part(pair.difference[both], pair.second[both]).sum())
    rest = float(pair.difference[~both].sum())
    if rest <= 0:
        return inner
    # M1 f(M0/M1) tends to M0 times the slope of f at infinity.
    steepest = float(chosen.slope(np.array([1e100]))[0])
    return inner + rest * steepest if steepest < STEEP else math.inf
