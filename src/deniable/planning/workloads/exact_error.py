"""The error of an integer channel, enclosed: fixed-point integers with every rounding counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Floats
from deniable.errors import NotSupported
from deniable.planning.workloads.certificate import exact_matrix
from deniable.planning.workloads.workload import Gram, Spread

BITS = 160
MOST_EXACT = 1 << 21
"""Beyond so many products of outputs with three weights or more, floats: their terms are positive and lose a known part."""
NEWTON = 4


@dataclass(frozen=True, eq=False)
class ExactError:
    """Per person and beyond sampling, rounded up: averaged over the people, and for every single value."""

    mean: float
    each: Floats
    inverse: Floats
    """M⁻¹, from which the answers are computed."""

    @property
    def worst(self) -> float:
        """The largest over the values a person may have."""
        return float(self.each.max())


def table_error(columns: Sequence[Sequence[int]], gram: Gram, people: Spread) -> ExactError:
    """The error of best linear unbiased answers from a channel with these columns (one for every output).

    The reconstruction is fixed by the spread of people; it is unbiased for every other spread, too.
    """
    weights = people.weights
    information, doubt = _information(columns, weights)
    inverse, off = _inverse(information, doubt)
    # tr(C M⁻¹): the float inverse is off by at most `off` of its own Frobenius norm.
    trace = sum((int(a) * int(b) for a, b in zip(gram.centred.ravel(), inverse.ravel(), strict=True)), 0)
    norm = math.isqrt(sum(int(entry) ** 2 for entry in inverse.ravel())) + 1
    heavy = math.isqrt(sum(int(entry) ** 2 for entry in gram.centred.ravel())) + 1
    exact = (Fraction(trace) + heavy * norm * off) / (1 << BITS) * gram.scale - gram.sampling
    floats = np.array([[float(Fraction(int(entry), 1 << BITS)) for entry in row] for row in inverse])
    each = _each(columns, gram, people, inverse, off)
    return ExactError(math.nextafter(float(exact), math.inf), each, floats)


def _information(columns: Sequence[Sequence[int]], weights: Sequence[int]) -> tuple[NDArray[Any], Fraction]:
    """M in units of 2**-BITS, and by how many units an entry may be off."""
    size, total = len(weights), sum(column[0] for column in columns)
    people = sum(weights)
    sets, others = _sorted(columns)
    if len(others) * size * size <= MOST_EXACT:
        information = _information_of_sets(sets, weights, total)
        for column in others:
            whole = np.array(column, dtype=object)
            own = sum(a * b for a, b in zip(column, weights, strict=True))
            information += (np.outer(whole, whole) << BITS) * people // (own * total)
        return information, Fraction(4 * len(sets) + len(others))
    table = np.array(columns, np.float64)
    shared = table @ np.array(weights, np.float64) / people
    once = table.T @ (table / shared[:, None]) / total
    lost = (len(columns) + size + 16) * Fraction(1, 1 << 52)
    doubt = Fraction(float(once.max())) * lost * (1 << BITS)
    return exact_matrix(once, BITS), doubt + 1


class Set(NamedTuple):
    """An output with two weights, and the values that have the higher one."""

    low: int
    high: int
    raised: NDArray[np.intp]


def _sorted(columns: Sequence[Sequence[int]]) -> tuple[list[Set], list[Sequence[int]]]:
    """Outputs with at most two weights, and the others: nearly all outputs of a designed channel are of the first kind."""
    sets, others = [], []
    for column in columns:
        low, high = min(column), max(column)
        if any(low < weight < high for weight in column):
            others.append(column)
        else:
            sets.append(Set(low, high, np.flatnonzero([weight > low for weight in column])))
    return sets, others


def _information_of_sets(sets: Sequence[Set], weights: Sequence[int], total: int) -> NDArray[Any]:
    """q qᵀ = low² + low·rise (1 bᵀ + b 1ᵀ) + rise² b bᵀ for every output: four terms of an entry are rounded, one unit each."""
    size, people = len(weights), np.array(weights, dtype=object)
    whole = int(people.sum())
    everywhere, of_value, of_pair = 0, np.zeros(size, dtype=object), np.zeros((size, size), dtype=object)
    for low, high, raised in sets:
        rise = high - low
        own = (low * whole + rise * int(people[raised].sum())) * total
        everywhere += ((low * low * whole) << BITS) // own
        of_value[raised] += ((low * rise * whole) << BITS) // own
        of_pair[np.ix_(raised, raised)] += ((rise * rise * whole) << BITS) // own
    return np.asarray(of_pair + of_value[:, None] + of_value[None, :] + everywhere)


def _each_of_sets(sets: Sequence[Set], pull: NDArray[Any], doubt: Fraction, people: Spread) -> NDArray[Any]:
    """Σ_y q_y(x) qᵀ pull q / (p·q)² for every x, each term rounded up."""
    weights, size = np.array(people.weights, dtype=object), len(people.weights)
    sums, everything = pull.sum(axis=0), int(pull.sum())
    shared, of_value = 0, np.zeros(size, dtype=object)
    for low, high, raised in sets:
        rise = high - low
        own = low * people.total + rise * int(weights[raised].sum())
        square = low * low * everything + 2 * low * rise * int(sums[raised].sum())
        square += rise * rise * int(pull[np.ix_(raised, raised)].sum())
        term = math.ceil((square + doubt * (low * size + rise * len(raised)) ** 2) * people.total**2 / (own * own))
        shared += low * term
        of_value[raised] += rise * term
    return np.asarray(of_value + shared)


def _inverse(information: NDArray[Any], doubt: Fraction) -> tuple[NDArray[Any], Fraction]:
    """M⁻¹ in the same units, and a bound on its error relative to its Frobenius norm."""
    size = len(information)
    rough = np.array([[float(Fraction(int(entry), 1 << BITS)) for entry in row] for row in information])
    try:
        guess = np.linalg.inv(rough)
    except np.linalg.LinAlgError:
        raise NotSupported("this channel cannot distinguish all answers: its information is singular") from None
    inverse = exact_matrix((guess + guess.T) / 2, BITS)
    one = np.zeros((size, size), dtype=object)
    one[np.diag_indices(size)] = 1 << BITS
    for _ in range(NEWTON):
        rest = one - (information @ inverse >> BITS)
        inverse = inverse + (inverse @ rest >> BITS)
    rest = one - (information @ inverse >> BITS)
    column = np.abs(inverse).sum(axis=0)
    # One unit for every shift, and what the entries of M may be off.
    bound = [abs(int(rest[x, y])) + 1 + doubt * int(column[y]) / (1 << BITS) for x in range(size) for y in range(size)]
    spread = Fraction(math.isqrt(math.ceil(sum(entry * entry for entry in bound))) + 1, 1 << BITS)
    if spread >= Fraction(1, 2):
        raise NotSupported("this channel cannot distinguish all answers: its information is singular")
    return inverse, spread / (1 - spread)


def _each(columns: Sequence[Sequence[int]], gram: Gram, people: Spread, inverse: NDArray[Any], off: Fraction) -> Floats:
    """Σ_y Q(y|x) ‖b_y‖² − ‖W_x‖² for every x, rounded up; ‖b_y‖² = qᵀ M⁻¹ C M⁻¹ q / (p·q)²."""
    weights, size, total = people.weights, len(people.weights), sum(column[0] for column in columns)
    norm = math.isqrt(sum(int(entry) ** 2 for entry in inverse.ravel())) + 1
    heavy = math.isqrt(sum(int(entry) ** 2 for entry in gram.centred.ravel())) + 1
    # M⁻¹ is off by `off` of its norm, on both sides of C, and one shift was rounded.
    doubt = Fraction(norm * norm * heavy, 1 << BITS) * (2 * off + off * off) + 1
    pull = inverse @ (gram.centred @ inverse) >> BITS
    sets, others = _sorted(columns)
    if len(others) * size * size <= MOST_EXACT:
        each = _each_of_sets(sets, pull, doubt, people)
        for column in others:
            whole = np.array(column, dtype=object)
            shared = int(whole @ np.array(weights, dtype=object))
            square = (int(whole @ (pull @ whole)) + doubt * int(whole.sum()) ** 2) * people.total**2 / (shared * shared)
            # A multiple of one unit: sums of long fractions would take longer than all the rest.
            each += whole * math.ceil(square)
        exact = [Fraction(int(part), total << BITS) * gram.scale - own for part, own in zip(each, gram.squares, strict=True)]
        return np.array([math.nextafter(float(part), math.inf) for part in exact])
    table = np.array(columns, np.float64)
    unit = float(gram.scale) / 2.0**BITS
    floats = np.array([[float(entry) * unit for entry in row] for row in pull])
    lost = (4 * size + 32) * 2.0**-52
    shared_ = table @ people.shares
    squares = ((table @ floats) * table).sum(axis=1) + lost * ((table @ np.abs(floats)) * table).sum(axis=1)
    squares = (squares + float(doubt) * unit * table.sum(axis=1) ** 2) / shared_**2
    expected = squares @ table / total * (1 + (len(table) + 8) * 2.0**-52)
    return np.asarray(expected - np.array([float(own) for own in gram.squares]), np.float64)
