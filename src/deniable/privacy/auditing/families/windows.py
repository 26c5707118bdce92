"""What a few reports in a row say together: a value shared out over them, or told by a later one.

Test values come in random order, so the reports before and after a draw, and their values, know nothing of its value.
Every trial has reports of its own, so that trials are independent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from deniable.privacy.auditing.events import Codes, Feature, contrast
from deniable.privacy.auditing.families.relations import CHECKED_ROWS, SPARE_ROWS, null_bits
from deniable.privacy.auditing.field_readings import Bit, bits
from deniable.privacy.auditing.fields import Table

BLOCK = 4
JUDGED = (0, 3)
"""Which report of a block is judged: the first, whose value later ones may tell, and the last."""
LAGS = (*range(1, 17), 20, 24, 32, 50, 64, 100)
MOST_BITS = 128
MOST_INPUTS = 4
MOST_FEATURES = 4
SELDOM_BROKEN = 0.02
Rows = NDArray[np.intp]


def propose(fit: Table, inputs: int) -> Iterator[Feature]:
    """Equations over the bits of a block, and bits of a later report."""
    every = [bit for bit in bits(fit) if bit.single]
    every = every if len(every) <= MOST_BITS else every[: MOST_BITS // 2] + every[-MOST_BITS // 2 :]
    if every:
        yield from _later(fit, every, inputs)
        for judged in JUDGED:
            yield from _equations(fit, every, judged, inputs)


@dataclass(frozen=True)
class Later:
    """Trials that are followed by another report, `lag` later, which belongs to no other trial."""

    lag: int

    def rows(self, table: Table) -> Rows:
        """The judged reports: those in every other stretch of `lag` reports."""
        key = f"trials with a report {self.lag} later"
        if key not in table.cache:
            first = np.flatnonzero(table.positions // self.lag % 2 == 0)
            first = first[first + self.lag < len(table)]
            table.cache[key] = first[table.positions[first + self.lag] - table.positions[first] == self.lag]
        rows: Rows = table.cache[key]
        return rows


def _later(fit: Table, every: list[Bit], inputs: int) -> Iterator[Feature]:
    matrix = np.column_stack([bit.read(fit) for bit in every])
    scored = []
    for lag in LAGS:
        rows = Later(lag).rows(fit)
        if len(rows) < CHECKED_ROWS:
            continue
        ones = np.stack([matrix[rows[fit.places[rows] == value] + lag].sum(axis=0) for value in range(inputs)])
        sizes = np.bincount(fit.places[rows], minlength=inputs)[:, None]
        scores = contrast(np.stack([ones, sizes - ones], axis=2).transpose(1, 0, 2))
        scored.append((float(scores.max()), lag, every[int(scores.argmax())]))
    for _, lag, bit in sorted(scored, key=lambda one: -one[0])[:2]:
        yield Feature(f"{bit.label} of the report {lag} later", partial(_read_later, bit, lag), 2, Later(lag).rows)


def _read_later(bit: Bit, lag: int, table: Table) -> Codes:
    return bit.read(table)[Later(lag).rows(table) + lag].astype(np.intp)


def starts(table: Table) -> Rows:
    """The first reports of complete blocks."""
    if "blocks" not in table.cache:
        first = np.flatnonzero(table.positions % BLOCK == 0)
        first = first[first + BLOCK <= len(table)]
        table.cache["blocks"] = first[table.positions[first + BLOCK - 1] - table.positions[first] == BLOCK - 1]
    rows: Rows = table.cache["blocks"]
    return rows


def _trials(judged: int, table: Table) -> Rows:
    return starts(table) + judged


Term = tuple[int, Bit | int]
"""A place in the block, and a bit of the report there or a test value that it may be of."""


def _read(term: Term, table: Table) -> NDArray[np.uint8]:
    place, what = term
    rows = starts(table) + place
    return what.read(table)[rows] if isinstance(what, Bit) else (table.places[rows] == what).astype(np.uint8)


def _equations(fit: Table, every: list[Bit], judged: int, inputs: int) -> Iterator[Feature]:
    """Sets of bits whose exclusive or is one thing for reports of one value and another for those of another one."""
    terms: list[Term] = [(place, bit) for place in range(BLOCK) for bit in every]
    terms += [(place, value) for place in range(BLOCK) if place != judged for value in range(min(inputs, MOST_INPUTS) - 1)]
    need = len(terms) + 1 + SPARE_ROWS
    places = fit.places[_trials(judged, fit)]
    counts = np.bincount(places, minlength=inputs)
    if counts.min() < need:
        return
    columns = np.column_stack([np.ones(len(places), np.uint8), *[_read(term, fit) for term in terms]])
    matrices = [columns[places == value][: max(need, CHECKED_ROWS)] for value in range(min(inputs, MOST_INPUTS))]
    equations = []
    for own, matrix in enumerate(matrices):
        for equation in null_bits(matrix[:need]):
            others = (other[:, equation] for place, other in enumerate(matrices) if place != own)
            fails = max(float(np.bitwise_xor.reduce(other, axis=1).mean()) for other in others)
            equations.append((fails, [terms[place - 1] for place in equation if place]))
    for fails, chosen in sorted(equations, key=lambda one: -one[0])[:MOST_FEATURES]:
        if fails > SELDOM_BROKEN:
            label = f"an equation between {len(chosen)} bits of {BLOCK} reports in a row"
            yield Feature(label, partial(_parity, chosen), 2, partial(_trials, judged))


def _parity(chosen: list[Term], table: Table) -> Codes:
    total = np.zeros(len(starts(table)), np.uint8)
    for term in chosen:
        total ^= _read(term, table)
    return total.astype(np.intp)
