"""A lower bound for more values than rows can be listed for: a semidefinite relaxation, solved jointly in M and its dual.

With s = 1 + (E − 1)b, b in {0, 1}ⁿ, everything is linear in X = Σ μ_s (1, b)(1, b)ᵀ, μ_s = θ_s/(p·s): M = T X Tᵀ and Mp = 1.
X is positive semidefinite, its diagonal is its first row, and products of b_i ≥ 0 and 1 − b_j ≥ 0 are ≥ 0. The least
tr(W M⁻¹ Wᵀ) over all such X is below that of every mechanism. It is found by a barrier method, and the barrier's multipliers
prove it (`checked`): (p·s)(λ·s) − sᵀHs is a positive semidefinite form in (1, b), plus products that are ≥ 0, plus multiples of
b_i² − b_i = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky
from scipy.sparse import csr_array

from deniable.batch import Floats, Integers
from deniable.core import Epsilon
from deniable.errors import NotSupported
from deniable.planning.workloads.certificate import LowerBound, WrongBound, exact_matrix
from deniable.planning.workloads.symmetry import Permutations, orbits_of_values
from deniable.planning.workloads.workload import Gram, Spread

BITS = 200
MOST_VARIABLES = 5000
"""Variables of the relaxation after symmetries: 128 values that may be reflected have 4,161."""
TOGETHER = 1 << 22
"""Numbers that one block of the Hessian holds at a time."""
SHRINK = 0.25
MOST_STEPS = 40
CENTRED = 0.5
EXACT = 1e-6


@dataclass(frozen=True, eq=False)
class Proof:
    """What proves a relaxed bound: Y, λ, the multipliers of b_i b_j, b_i (1 − b_j), (1 − b_i)(1 − b_j), and those of b_i² − b_i."""

    inverse: Floats
    multipliers: Floats
    products: Floats
    """Three matrices, one for each kind of product; their diagonals do not count."""
    squares: Floats


class _Program:
    """The relaxation in the variables that the symmetries leave."""

    def __init__(self, gram: Floats, shares: Floats, raised: float, elements: Permutations) -> None:
        self.gram, self.shares, self.step = gram, shares, raised - 1
        size = len(shares)
        self.size = size
        self.lift = np.concatenate([np.ones((size, 1)), self.step * np.eye(size)], axis=1)
        self.label = _labels(elements)
        count = int(self.label.max()) + 1
        if count > MOST_VARIABLES:
            raise NotSupported(f"a bound for {size} values takes too much memory: the workload has too few symmetries")
        flat = self.label.ravel()
        self.sums = csr_array((np.ones(len(flat)), (flat, np.arange(len(flat)))), shape=(count, len(flat)))
        self.count = count
        # The entries of X by their variable, for the Hessian.
        self.entries = np.argsort(flat, kind="stable")
        self.begins = np.searchsorted(flat[self.entries], np.arange(count + 1))
        first = orbits_of_values(elements)
        self.values = np.unique(first)
        self.kind = np.searchsorted(self.values, first)
        towards = self.lift.T @ shares
        self.equal = np.array([self.sums @ np.outer(self.lift[x], towards).ravel() for x in self.values])
        self.unequal = self._inequalities(count)

    def _inequalities(self, count: int) -> csr_array:
        """Products of b_i and 1 − b_j, each once."""
        rows: set[tuple[tuple[int, float], ...]] = set()
        corner, label = int(self.label[0, 0]), self.label.tolist()
        for i in range(1, self.size + 1):
            for j in range(1, self.size + 1):
                if i == j:
                    continue
                rows.add(((label[i][j], 1.0),))
                rows.add(_gathered([(label[0][i], 1.0), (label[i][j], -1.0)]))
                rows.add(_gathered([(corner, 1.0), (label[0][i], -1.0), (label[0][j], -1.0), (label[i][j], 1.0)]))
        terms = [(row, place, weight) for row, some in enumerate(sorted(rows)) for place, weight in some]
        number, place, weight = (np.array(part) for part in zip(*terms, strict=True))
        return csr_array((weight, (number, place)), shape=(len(rows), count))

    def start(self) -> Floats:
        """Every value raised on its own with one probability: inside of all constraints."""
        chance = max(1.5 / self.size, 1 / (self.step + 2))
        whole = np.full((self.size + 1, self.size + 1), chance * chance)
        whole[0, :] = whole[:, 0] = chance
        whole[np.diag_indices(self.size + 1)] = chance
        whole[0, 0] = 1.0
        point = np.zeros(self.count)
        point[self.label.ravel()] = whole.ravel()
        return np.asarray(point / (self.equal @ point).mean(), np.float64)

    def merit(self, point: Floats, weight: float) -> float:
        whole = point[self.label]
        slack = self.unequal @ point
        sign, volume = np.linalg.slogdet(whole)
        if slack.min() <= 0 or sign <= 0 or np.linalg.eigvalsh(whole)[0] <= 0:
            return math.inf
        information = self.lift @ whole @ self.lift.T
        return float((self.gram * np.linalg.inv(information)).sum()) / weight - float(volume) - float(np.log(slack).sum())

    def newton(self, point: Floats, weight: float) -> tuple[Floats, Floats, float]:
        """One damped step toward the centre: the point, the multipliers of Mp = 1, and how far away it was."""
        whole = point[self.label]
        inverse = np.linalg.inv(self.lift @ whole @ self.lift.T)
        pull = inverse @ self.gram @ inverse
        left, right = self.lift.T @ inverse @ self.lift, self.lift.T @ pull @ self.lift
        own: Floats = np.asarray(np.linalg.inv(whole), np.float64)
        slack = self.unequal @ point
        slope = -(self.sums @ (right + weight * own).ravel()) - weight * (self.unequal.T @ (1 / slack))
        count = len(point)
        hessian: Floats = 2 * self._products(np.asarray(left, np.float64), np.asarray(right, np.float64))
        hessian += weight * self._products(own, own)
        scaled = self.unequal.multiply(1 / slack[:, None]).tocsr()
        hessian = (hessian + hessian.T) / 2 + weight * (scaled.T @ scaled).toarray()
        hessian[np.diag_indices(count)] *= 1 + 1e-13
        factor = cho_factor(hessian, check_finite=False)
        towards = cho_solve(factor, self.equal.T, check_finite=False)
        short = self.equal @ point - 1
        prices = np.linalg.solve(self.equal @ towards, short - self.equal @ cho_solve(factor, slope, check_finite=False))
        moved = -cho_solve(factor, slope + self.equal.T @ prices, check_finite=False)
        away = math.sqrt(max(float(moved @ hessian @ moved), 0.0) / weight)
        length, here = 1.0, self.merit(point, weight)
        tight = float(np.abs(short).max()) < 1e-9
        while length > 1e-8:
            there = self.merit(point + length * moved, weight)
            if there < math.inf and (not tight or there <= here - 0.1 * length * away * away + 1e-9 * abs(here)):
                break
            length *= 0.6
        return point + length * moved, prices, away

    def _products(self, left: Floats, right: Floats) -> Floats:
        """tr(B_a L B_b R) for all pairs of variables, B_a being 1 at the few entries of X that are variable a."""
        across = self.size + 1
        block = max(1, TOGETHER // (4 * across * across))
        total = np.empty((self.count, self.count))
        for first in range(0, self.count, block):
            last = min(first + block, self.count)
            row, column = np.divmod(self.entries[self.begins[first] : self.begins[last]], across)
            outer = left.T[row][:, :, None] * right[column][:, None, :]
            whole = np.add.reduceat(outer, self.begins[first:last] - self.begins[first], axis=0)
            total[:, first:last] = self.sums @ whole.reshape(last - first, -1).T
        return total


def _gathered(terms: list[tuple[int, float]]) -> tuple[tuple[int, float], ...]:
    sums: dict[int, float] = {}
    for place, weight in terms:
        sums[place] = sums.get(place, 0.0) + weight
    return tuple(sorted((place, weight) for place, weight in sums.items() if weight))


def _labels(elements: Permutations) -> Integers:
    """Which variable every entry of X is: symmetric, invariant, and with a diagonal that is the first row."""
    size = elements.shape[1]
    places = np.concatenate([np.zeros((len(elements), 1), np.int64), elements + 1], axis=1)
    code = np.full((size + 1, size + 1), np.iinfo(np.int64).max)
    for one in places:
        numbers = one[:, None] * (size + 1) + one[None, :]
        code = np.minimum(code, np.minimum(numbers, numbers.T))
    code[np.diag_indices(size + 1)] = code[0, :]
    return np.asarray(np.unique(code, return_inverse=True)[1].reshape(size + 1, size + 1), np.int64)


def relaxed(gram: Gram, people: Spread, epsilon: Epsilon, elements: Permutations, tolerance: float = 1e-3) -> Proof:
    """Solve the relaxation until its own gap is about `tolerance`, and read the multipliers off the barrier."""
    program = _Program(gram.floats, people.shares, math.exp(float(epsilon)), elements)
    point = program.start()
    parts = program.size + 1 + program.unequal.shape[0]
    weight = float((program.gram * np.linalg.inv(program.lift @ point[program.label] @ program.lift.T)).sum()) / parts
    while True:
        for _ in range(MOST_STEPS):
            point, prices, away = program.newton(point, weight)
            if away < CENTRED:
                break
        whole = point[program.label]
        inverse = np.linalg.inv(program.lift @ whole @ program.lift.T)
        if weight * parts < tolerance * float((program.gram * inverse).sum()):
            break
        weight *= SHRINK
    # At the very centre the form that is left is the barrier's own, which is positive definite.
    for _ in range(MOST_STEPS):
        before = point
        point, prices, away = program.newton(point, weight)
        if away < EXACT:
            break
    return _proof(program, before, prices, weight)


def _proof(program: _Program, point: Floats, prices: Floats, weight: float) -> Proof:
    whole = point[program.label]
    inverse = np.linalg.inv(program.lift @ whole @ program.lift.T)
    inverse = (inverse + inverse.T) / 2
    inner, first = whole[1:, 1:], whole[0, 1:]
    multipliers = (prices / np.bincount(program.kind))[program.kind]
    slack = np.stack([inner, first[:, None] - inner, whole[0, 0] - first[:, None] - first[None, :] + inner])
    off = ~np.eye(program.size, dtype=np.bool_)
    products = np.where(off, weight / np.where(off, slack, 1.0), 0.0) * _shares(program)
    form = np.outer(program.shares, multipliers)
    form = (form + form.T) / 2 - inverse @ program.gram @ inverse
    left = program.lift.T @ form @ program.lift - products_form(products)
    squares = np.diagonal(left - weight * np.linalg.inv(whole))[1:]
    return Proof(inverse, multipliers, products, np.asarray(squares, np.float64))


def products_form(products: NDArray[Any]) -> NDArray[Any]:
    """Σ of multipliers times b_i b_j, b_i (1 − b_j) and (1 − b_i)(1 − b_j), as a symmetric form in (1, b), times one.

    >>> products_form(np.array([[[0, 2], [0, 0]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]]) / 1.0).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    both, one, neither = products
    size = len(both)
    mixed = both - one + neither
    towards = one.sum(axis=1) - neither.sum(axis=1) - neither.sum(axis=0)
    form = np.empty((size + 1, size + 1), dtype=products.dtype)
    form[0, 0] = neither.sum()
    form[0, 1:] = form[1:, 0] = towards / 2
    form[1:, 1:] = (mixed + mixed.T) / 2
    return form


def _shares(program: _Program) -> Floats:
    """One over how many ordered pairs have the same inequality, for the three kinds of products."""
    size, label = program.size, program.label
    shares = np.zeros((3, size, size))
    corner = int(label[0, 0])
    names: list[dict[Any, int]] = [{}, {}, {}]
    keys: list[list[list[Any]]] = [[[None] * size for _ in range(size)] for _ in range(3)]
    table = label.tolist()
    for i in range(size):
        for j in range(size):
            if i == j:
                continue
            a, b, both = table[0][i + 1], table[0][j + 1], table[i + 1][j + 1]
            for kind, key in enumerate((both, (a, both), _gathered([(corner, 1.0), (a, -1.0), (b, -1.0), (both, 1.0)]))):
                keys[kind][i][j] = key
                names[kind][key] = names[kind].get(key, 0) + 1
    for kind in range(3):
        for i in range(size):
            for j in range(size):
                if i != j:
                    shares[kind, i, j] = 1 / names[kind][keys[kind][i][j]]
    return shares


def checked(gram: Gram, people: Spread, epsilon: Epsilon, proof: Proof) -> LowerBound:
    """The bound that a proof proves, in exact arithmetic up to one Cholesky factorisation whose rounding is charged.

    Multipliers below zero count as zero. The form left over is K' = K − Σ multipliers · products, its diagonal moved to the first
    row (b_i² = b_i). If K' + δI is positive semidefinite, raising every λ by 2δ makes up for δ: 1 + Σb ≤ 2 (p·s)(1·s).
    """
    size = len(people.weights)
    lower, upper = epsilon.bounds(BITS)
    step = (lower + upper) / 2 - 1
    whole = exact_matrix((proof.inverse + proof.inverse.T) / 2, BITS)
    towards = gram.centred @ whole
    trace = int(np.trace(towards)) * gram.scale / (1 << BITS)
    scale = gram.scale / (1 << (2 * BITS))
    squared = whole @ towards
    lifted = [Fraction(float(value)) for value in proof.multipliers]
    weights, total = people.weights, people.total
    form = np.empty((size, size), dtype=object)
    for x in range(size):
        for other in range(size):
            shared = (weights[x] * lifted[other] + weights[other] * lifted[x]) / (2 * total)
            form[x, other] = shared - int(squared[x, other]) * scale
    # In (1, b): s = 1 + step·b.
    rows = form.sum(axis=1)
    left = np.empty((size + 1, size + 1), dtype=object)
    left[0, 0] = rows.sum()
    left[0, 1:] = left[1:, 0] = rows * step
    left[1:, 1:] = form * step * step
    left = left - products_form(_exact(np.maximum(proof.products, 0.0) * ~np.eye(size, dtype=np.bool_)))
    for i, square in enumerate(_exact(proof.squares), start=1):
        left[i, i] -= square
        left[0, i] += square / 2
        left[i, 0] += square / 2
    return _concluded(gram, left, trace, sum(lifted, Fraction(0)), proof, upper - lower)


def _exact(values: Floats) -> NDArray[Any]:
    """Floats as the fractions they are."""
    return np.array([Fraction(float(value)) for value in values.ravel()], dtype=object).reshape(values.shape)


def _concluded(gram: Gram, left: NDArray[Any], trace: Fraction, prices: Fraction, proof: Proof, doubt: Fraction) -> LowerBound:
    size = len(left) - 1
    floats = np.array([[float(entry) for entry in row] for row in left])
    sizes = float(np.abs(floats).sum()) + 1e-300
    slack = 16 * (size + 2) * 2.0**-53 * sizes + 4 * float(doubt) * sizes
    least = float(np.linalg.eigvalsh(floats)[0])
    spare = max(0.0, -2 * least) + slack
    try:
        cholesky(floats + spare / 2 * np.eye(size + 1), check_finite=True)
    except LinAlgError:
        raise WrongBound("the lower bound is not proved: the form that is left is not positive semidefinite") from None
    raised = prices + 2 * size * Fraction(spare)
    if trace <= 0 or raised <= 0:
        return LowerBound(0.0, proof.inverse, proof.multipliers)
    exact = trace * trace / raised - gram.sampling
    return LowerBound(max(math.nextafter(float(exact), -math.inf), 0.0), proof.inverse, proof.multipliers)
