"""Linear equations that every report of one input satisfies: checksums, and parities of any number of bits.

A checksum of random bytes that depends on the value shows in no byte alone and in no pair. But reports of one input then
satisfy an equation, sum of c_j x_j = 0 modulo m, that reports of another input do not. Elimination finds all equations
that hold for a few more reports than there are unknowns; by chance one holds with probability 2**-16 at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.privacy.auditing.events import Codes, Feature
from deniable.privacy.auditing.field_readings import Bit, Words, bits, readings
from deniable.privacy.auditing.fields import Table

SPARE_ROWS = 16
"""Reports beyond the number of unknowns."""
MOST_FEATURES = 4
CHECKED_ROWS = 512
FEW_COLUMNS = 160
"""With more columns the elimination takes long, and only bytes that add up modulo 256 are tried."""
RINGS: tuple[tuple[int, Any], ...] = ((1 << 8, np.uint8), (1 << 16, np.uint16), (1 << 32, np.uint32), (1 << 64, np.uint64))
PRIMES = (3, 5, 7, 11, 13, 17, 31, 97, 127, 251, 257, 65521)
FEW_INPUTS = 8
MOST_UNKNOWNS = 4096
"""Over all test values: the elimination for each takes the longer, the more unknowns it has. A few are always tried."""

SELDOM_BROKEN = 0.02
Matrix = NDArray[Any]
Scored = tuple[float, Callable[[], Feature]]
"""How often an equation of one input fails for another one, and what makes an event of it."""


def propose(fit: Table, inputs: int) -> Iterator[Feature]:
    """Equations of one input that fail most often for another one."""
    equations = _bit_equations(fit, inputs)
    columns = _varying(fit)
    if 2 <= len(columns) <= CHECKED_ROWS:
        moduli = (*(modulus for modulus, _ in RINGS), *PRIMES) if len(columns) <= FEW_COLUMNS else (256,)
        equations += [one for modulus in moduli for one in _unit_equations(fit, columns, modulus, inputs)]
    for fails, make in sorted(equations, key=lambda one: -one[0])[:MOST_FEATURES]:
        if fails > SELDOM_BROKEN:
            yield make()


# Bits: over the field of two elements, rows packed into bytes.


def _bit_equations(fit: Table, inputs: int) -> list[Scored]:
    single = [bit for bit in bits(fit) if bit.single]
    need = len(single) + 1 + SPARE_ROWS
    runs = _runs(fit, need, inputs)
    if len(single) < 2 or not runs:
        return []
    matrices = [np.column_stack([np.ones(len(run), np.uint8), *[bit.read(run) for bit in single]]) for run in runs]
    equations: list[Scored] = []
    for own, matrix in enumerate(matrices):
        for equation in null_bits(matrix[:need]):
            others = (other[:, equation] for place, other in enumerate(matrices) if place != own)
            fails = max(float(np.bitwise_xor.reduce(other, axis=1).mean()) for other in others)
            equations.append((fails, partial(_parity, [single[place - 1] for place in equation if place])))
    return equations


def _runs(fit: Table, need: int, inputs: int) -> list[Table]:
    """Some reports of each test value; nothing when there are too few."""
    most = min(inputs, max(FEW_INPUTS, MOST_UNKNOWNS // need))
    rows = [np.flatnonzero(fit.places == value)[: max(need, CHECKED_ROWS)] for value in range(inputs - 1, inputs - 1 - most, -1)]
    return [fit.rows(own) for own in rows] if min(map(len, rows)) >= need else []


def null_bits(matrix: Matrix) -> Iterator[NDArray[np.intp]]:
    """Sets of columns whose exclusive or is zero in every row: a basis."""
    count = matrix.shape[1]
    packed = np.packbits(matrix, axis=1)
    pivots: list[int] = []
    free = []
    for column in range(count):
        byte, shift = divmod(column, 8)
        ones = (packed[:, byte] >> (7 - shift) & 1).astype(bool)
        rank = len(pivots)
        candidates = np.flatnonzero(ones[rank:])
        if not len(candidates):
            free.append(column)
            continue
        chosen = rank + int(candidates[0])
        packed[[rank, chosen]] = packed[[chosen, rank]]
        ones[[rank, chosen]] = ones[[chosen, rank]]
        ones[rank] = False
        packed[ones] ^= packed[rank]
        pivots.append(column)
    reduced = np.unpackbits(packed, axis=1, count=count)
    where = np.array(pivots, np.intp)
    for column in free:
        yield np.concatenate([where[reduced[: len(pivots), column].astype(bool)], [column]])


def _parity(chosen: list[Bit]) -> Feature:
    shown = " xor ".join(bit.label for bit in chosen[:2]) + (f" xor {len(chosen) - 2} more bits" if len(chosen) > 2 else "")

    def encode(table: Table) -> Codes:
        total = np.zeros(len(table), np.uint8)
        for bit in chosen:
            total ^= bit.read(table)
        return total.astype(np.intp)

    return Feature(shown, encode, 2)


# Bytes and digits: modulo powers of two and modulo primes.


def _varying(fit: Table) -> list[tuple[Words, int]]:
    units = [words for words in readings(fit) if words.radix in (256, 10) and words.unit != "character"]
    return [(words, int(place)) for words in units for place in np.flatnonzero(np.ptp(words.read(fit), axis=0))]


def _values(table: Table, columns: list[tuple[Words, int]]) -> Matrix:
    return np.column_stack([np.ones(len(table), np.uint8), *[words.read(table)[:, place] for words, place in columns]])


def _unit_equations(fit: Table, columns: list[tuple[Words, int]], modulus: int, inputs: int) -> list[Scored]:
    need = len(columns) + 1 + SPARE_ROWS
    matrices = [_values(run, columns) for run in _runs(fit, need, inputs)]
    equations: list[Scored] = []
    for own, matrix in enumerate(matrices):
        for equation in _null_units(matrix[:need], modulus):
            others = (other for place, other in enumerate(matrices) if place != own)
            fails = max(float((_residual(other, equation, modulus) != 0).mean()) for other in others)
            equations.append((fails, partial(_equation, columns, equation, modulus)))
    return equations


def _null_units(matrix: Matrix, modulus: int) -> Iterator[Matrix]:
    """Coefficients of equations that hold in every row."""
    kind: Any = dict(RINGS).get(modulus, np.int64)
    work = matrix.astype(kind)
    pivots: list[int] = []
    for column in range(work.shape[1]):
        rank = len(pivots)
        usable = np.flatnonzero(work[rank:, column] % 2 if kind is not np.int64 else work[rank:, column])
        if not len(usable):
            continue
        chosen = rank + int(usable[0])
        work[[rank, chosen]] = work[[chosen, rank]]
        inverse = pow(int(work[rank, column]), -1, modulus)
        work[rank] = _reduced(work[rank] * kind(inverse), modulus)
        factors = work[:, column].copy()
        factors[rank] = 0
        work = _reduced(work - factors[:, None] * work[rank], modulus)
        pivots.append(column)
    where = np.array(pivots, np.intp)
    for column in sorted(set(range(work.shape[1])) - set(pivots)):
        if not work[len(pivots) :, column].any():
            equation = np.zeros(work.shape[1], kind)
            equation[where] = _reduced(np.zeros(1, kind) - work[: len(pivots), column], modulus)
            equation[column] = 1
            yield equation


def _reduced(values: Matrix, modulus: int) -> Matrix:
    return values % modulus if values.dtype == np.int64 else values  # unsigned types wrap by themselves


def _residual(matrix: Matrix, equation: Matrix, modulus: int) -> Matrix:
    with np.errstate(over="ignore"):
        return _reduced((matrix.astype(equation.dtype) * equation).sum(axis=1, dtype=equation.dtype), modulus)


def _equation(columns: list[tuple[Words, int]], equation: Matrix, modulus: int) -> Feature:
    used = [(column, weight) for column, weight in zip(columns, equation[1:], strict=True) if weight]
    weights = np.concatenate([equation[:1], np.array([weight for _, weight in used], equation.dtype)])
    chosen = [column for column, _ in used]

    def encode(table: Table) -> Codes:
        return np.asarray(_residual(_values(table, chosen), weights, modulus) != 0, np.intp)

    label = f"{chosen[0][0].label(chosen[0][1])} and {len(chosen) - 1} more" if chosen else "nothing"
    return Feature(f"an equation between {label}, modulo {modulus}", encode, 2)
