"""A bit that tells the value only where another field, another byte or the place in the run says so.

One worker of eight, every thousandth report, the bit whose number another field holds: over all reports such a bit is
nearly fair. For every condition with few values this family looks for the best bit under each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from deniable.privacy.auditing.events import Codes, Feature
from deniable.privacy.auditing.families.values import alone
from deniable.privacy.auditing.field_readings import Bit, Words, bits, readings
from deniable.privacy.auditing.fields import Table

MOST_VALUES = 256
MOST_FIELDS = 16
MOST_UNITS = 24
MOST_BITS = 256
LEAST_SPREAD = 0.02
FEW_BITS = 8
"""So few are counted one by one; more of them are faster in one sum over sorted reports."""
MOST_READ = 1 << 22
"""Bits that are read in all: the fewer a report has, the more reports are looked at."""
MOST_FEATURES = 4
SPARE_EVIDENCE = 8.0
"""Chi-square that a bit must have beyond what the best of all bits has by chance."""
PERIODS = (*range(2, 17), 20, 24, 25, 30, 32, 50, 60, 64, 100, 128, 200, 250, 256, 500, 512, 1000, 1024)
Condition = tuple[str, Callable[[Table], Codes], int]


def propose(fit: Table, inputs: int) -> Iterator[Feature]:
    """The conditions under which single bits differ most between the test values."""
    yield from _best([*_fields(fit), *_units(fit), *_phases()], fit, inputs)


def propose_phases(fit: Table, inputs: int) -> Iterator[Feature]:
    """Only by the place in the run, for reports that have one small field."""
    yield from _best(list(_phases()), fit, inputs)


def _best(conditions: list[Condition], fit: Table, inputs: int) -> Iterator[Feature]:
    every = bits(fit)
    every = every if len(every) <= MOST_BITS else every[: MOST_BITS // 2] + every[-MOST_BITS // 2 :]
    if not every:
        return
    most = MOST_READ // len(every)
    rows = fit.rows(slice(0, most)) if len(fit) > most else fit
    matrix = np.column_stack([bit.read(rows) for bit in every])
    scored = []
    for condition in conditions:
        chances = _unlike(matrix, condition[1](rows), rows.places, condition[2], inputs)
        beyond = chances.max(axis=1) - 2 * np.log(chances.size) - SPARE_EVIDENCE
        scored.append((float(np.maximum(beyond, 0).sum()), condition, chances.argmax(axis=1)))
    for score, condition, chosen in sorted(scored, key=lambda one: -one[0])[:MOST_FEATURES]:
        if score > 0:
            yield _under(condition, every, chosen)


def _unlike(matrix: NDArray[np.uint8], codes: Codes, places: Codes, cells: int, inputs: int) -> NDArray[np.float64]:
    """Chi-square of each bit between the test values, by the values of the condition: of what it does not tell everywhere."""
    groups = codes * inputs + places
    sizes = np.bincount(groups, minlength=cells * inputs)
    summed = np.zeros((cells * inputs, matrix.shape[1]))
    if matrix.shape[1] <= FEW_BITS:
        for column in range(matrix.shape[1]):
            summed[:, column] = np.bincount(groups[matrix[:, column] > 0], minlength=cells * inputs)
    else:
        have = np.flatnonzero(sizes)
        starts = (np.cumsum(sizes) - sizes)[have]
        summed[have] = np.add.reduceat(matrix[np.argsort(groups, kind="stable")], starts, axis=0, dtype=np.int32)
    ones = summed.reshape(cells, inputs, -1)
    trials = np.maximum(sizes.reshape(cells, inputs, 1), 1e-9)
    here = ones.sum(axis=1, keepdims=True) / trials.sum(axis=1, keepdims=True)
    everywhere = ones.sum(axis=0, keepdims=True) / trials.sum(axis=0, keepdims=True)
    more = ones / trials - here - (everywhere - everywhere.mean(axis=1, keepdims=True))
    return np.asarray((trials * more**2 / np.maximum(here * (1 - here), LEAST_SPREAD)).sum(axis=1))


def _fields(fit: Table) -> Iterator[Condition]:
    for feature in [one for one in alone(fit) if one.cells <= MOST_VALUES][:MOST_FIELDS]:
        yield feature.name, feature.encode, feature.cells


def _units(fit: Table) -> Iterator[Condition]:
    units = [(words, place) for words in readings(fit) if words.main and not words.names for place in range(words.width)]
    for words, place in units if len(units) <= MOST_UNITS else units[: MOST_UNITS // 2] + units[-MOST_UNITS // 2 :]:
        yield words.label(place), partial(_unit, words, place), words.radix


def _unit(words: Words, place: int, table: Table) -> Codes:
    return words.read(table)[:, place].astype(np.intp)


def _phases() -> Iterator[Condition]:
    for period in PERIODS:
        yield f"the place in the run modulo {period}", partial(_phase, period), period


def _phase(period: int, table: Table) -> Codes:
    return (table.positions % period).astype(np.intp)


def _under(condition: Condition, every: list[Bit], chosen: NDArray[np.intp]) -> Feature:
    name, encode, cells = condition

    def encoded(table: Table) -> Codes:
        codes = encode(table)
        seen = np.zeros(len(table), np.intp)
        for number in np.unique(chosen[codes]):
            where = chosen[codes] == number
            seen[where] = every[int(number)].read(table)[where]
        return codes * 2 + seen

    return Feature(f"a bit chosen by {name}", encoded, 2 * cells)
