"""The lower bound of every ε-LDP mechanism, from a symmetric Y and multipliers λ that anyone can check.

For any Y, tr(W M⁻¹ Wᵀ) ≥ 2 tr(Y WᵀW) − tr(M Y WᵀW Y). With H = Y WᵀW Y and sᵀHs ≤ (p·s)(λ·s) for every row s in {1, E}ⁿ,
the last term is at most λ·1, because M is Σ θ_s s sᵀ/(p·s) and Σ θ_s s = 1. Scaling Y leaves tr(Y WᵀW)² / (λ·1).
Floats choose Y and λ. They are then read as the rationals they are, and all 2ⁿ inequalities are decided: the quadratic forms are
sums of 64-bit integers, and what is rounded (the integers' unit, E, one float sum at the end) is charged against the bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Floats
from deniable.core import Epsilon
from deniable.errors import InvalidParameter
from deniable.planning.workloads.rows import MOST_ENUMERATED, linear, quadratic, subset_squares, subset_sums
from deniable.planning.workloads.workload import Gram, Spread

FRACTION_BITS = 60
SUM_BITS = 61
FLOAT_SLACK = 2.0**-48
"""More than what four rounded products and three rounded sums can lose, relative to the sum of their sizes."""
FIRST_RAISE = 1e-10
MOST_RAISES = 8


class WrongBound(InvalidParameter):
    """Some row breaks the inequality: the multipliers prove nothing."""


@dataclass(frozen=True, eq=False)
class LowerBound:
    """A bound on the error beyond sampling, with what proves it."""

    value: float
    """The bound, rounded down."""
    inverse: Floats
    multipliers: Floats


def exact_matrix(values: Floats, bits: int) -> NDArray[Any]:
    """Floats times 2**bits as integers, rounded to nearest."""
    flat = [round(Fraction(float(value)) * (1 << bits)) for value in values.ravel()]
    return np.array(flat, dtype=object).reshape(values.shape)


def form(gram: Gram, people: Spread, inverse: Floats, multipliers: Floats) -> tuple[NDArray[Any], Fraction, Fraction]:
    """total·(H − (pλᵀ + λpᵀ)/2) as exact fractions, and tr(Y WᵀW) and λ·1, all exactly."""
    bits = FRACTION_BITS - math.frexp(float(np.abs(inverse).max()))[1]
    whole = exact_matrix((inverse + inverse.T) / 2, bits)
    unit = Fraction(2) ** -bits
    towards = gram.centred @ whole
    trace = int(np.trace(towards)) * unit * gram.scale
    squared = whole @ towards
    lifted = [Fraction(float(value)) for value in multipliers]
    weights = people.weights
    size, total = len(weights), people.total
    scale = unit * unit * gram.scale * total
    entries = np.empty((size, size), dtype=object)
    for x in range(size):
        for other in range(size):
            entries[x, other] = int(squared[x, other]) * scale - (weights[x] * lifted[other] + weights[other] * lifted[x]) / 2
    return entries, trace, sum(lifted, Fraction(0))


def check_every_row(entries: NDArray[Any], epsilon: Epsilon) -> None:
    """Is sᵀKs ≤ 0 for all s in {1, E}ⁿ? Decided with everything rounded against the claim; raises WrongBound if not."""
    size = len(entries)
    if size > MOST_ENUMERATED:
        raise InvalidParameter(f"all rows are enumerated for at most {MOST_ENUMERATED} values")
    largest = max(abs(entry) for entry in entries.ravel())
    if largest == 0:
        return
    unit = largest / (1 << (SUM_BITS - 2 * size.bit_length()))
    whole = np.array([[math.ceil(entry / unit) for entry in row] for row in entries], np.int64)
    step = float((epsilon.bounds()[0] + epsilon.bounds()[1]) / 2 - 1)
    constant = float(whole.sum())
    towards = 2 * step * subset_sums(whole.sum(axis=0)).astype(np.float64)
    square = step * step * subset_squares(whole).astype(np.float64)
    sizes = abs(constant) + np.abs(towards) + np.abs(square)
    values = constant + towards + square + FLOAT_SLACK * sizes
    # Entries were rounded up and rows are positive: rounding cannot hide a violation.
    if bool((values > 0).any()):
        row = int(values.argmax())
        raise WrongBound(f"the lower bound is not proved: row number {row} of 2**{size} breaks the inequality")


def proved(gram: Gram, people: Spread, epsilon: Epsilon, inverse: Floats, multipliers: Floats) -> LowerBound:
    """The bound that Y and λ prove as they are; WrongBound when they prove nothing."""
    entries, trace, prices = form(gram, people, inverse, multipliers)
    check_every_row(entries, epsilon)
    if trace <= 0 or prices <= 0:
        return LowerBound(0.0, inverse, multipliers)
    exact = trace * trace / prices - gram.sampling
    return LowerBound(max(math.nextafter(float(exact), -math.inf), 0.0), inverse, multipliers)


def repaired(gram: Gram, people: Spread, epsilon: Epsilon, inverse: Floats, multipliers: Floats) -> LowerBound:
    """The bound after λ is raised evenly by what the worst row lacks, and by a hair for the rounding."""
    raised = math.exp(float(epsilon))
    inverse = (inverse + inverse.T) / 2
    pull = inverse @ gram.floats @ inverse
    size = len(multipliers)
    lacking = quadratic(pull, raised) / linear(people.shares, raised) - linear(multipliers, raised)
    excess = max(float((lacking / linear(np.ones(size), raised)).max()), 0.0)
    hair = FIRST_RAISE * float(np.abs(multipliers).sum()) / size
    for _ in range(MOST_RAISES):
        try:
            return proved(gram, people, epsilon, inverse, multipliers + excess + hair)
        except WrongBound:
            hair *= 10
    raise WrongBound("the lower bound is not proved: the multipliers are too far from feasible")
