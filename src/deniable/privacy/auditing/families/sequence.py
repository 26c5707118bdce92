"""A report beside its neighbours: counters that run differently, and randomness that two reports share.

Test values come in random order, so what happened before and after a draw knows nothing of its value. An event may
therefore look at the neighbours, and at their test values, without any loss: a correct program still shows at most
epsilon. Draws are taken in blocks of four, of which the third is judged, so that the trials are independent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Integers
from deniable.privacy.auditing.events import Codes, Feature, contrast, most_telling
from deniable.privacy.auditing.families.values import FEW_VALUES, of_measure
from deniable.privacy.auditing.field_readings import Bit, bits
from deniable.privacy.auditing.fields import Table
from deniable.privacy.auditing.measures import measures
from deniable.privacy.auditing.octets import Octets, words_of

BLOCK = 4
MOST_FIELDS = 24
MOST_VALUES = 4
MOST_STEPS = 30
MOST_FEATURES = 8
FEWEST_TRIALS = 100
NOT_VALUES = ("type of ", "keys of ", "layout of ", "the text", "the headers")

Rows = NDArray[np.intp]


def trials(table: Table) -> Rows:
    """The third report of every complete block."""
    if "trials" not in table.cache:
        starts = np.flatnonzero(table.positions % BLOCK == 0)
        starts = starts[starts + BLOCK <= len(table)]
        whole = table.positions[starts + BLOCK - 1] - table.positions[starts] == BLOCK - 1
        table.cache["trials"] = starts[whole] + 2
    rows: Rows = table.cache["trials"]
    return rows


@dataclass(frozen=True)
class Neighbour:
    """Another report of the block: the one before, the one after, or the last one of a test value."""

    value: int | None
    step: int

    def rows(self, table: Table) -> tuple[Rows, NDArray[np.intp]]:
        """For every trial, the neighbour's row and what is known of it: its test value, or whether there is one."""
        own = trials(table)
        if self.value is None:
            return own + self.step, table.places[own + self.step]
        near, far = table.places[own - 1] == self.value, table.places[own - 2] == self.value
        return np.where(near, own - 1, own - 2), (near | far).astype(np.intp)

    @property
    def label(self) -> str:
        """The neighbour in words, as an event's name shows it."""
        if self.value is not None:
            return f"the last report of test value number {self.value + 1}"
        return "the report before" if self.step < 0 else "the report after"


def propose(fit: Table, inputs: int) -> Iterator[Feature]:
    """Steps between neighbours, pairs of small values, and bits that neighbours share."""
    if len(trials(fit)) < FEWEST_TRIALS * inputs:
        return
    neighbours = [Neighbour(None, -1), Neighbour(None, 1), *[Neighbour(value, 0) for value in range(min(inputs, MOST_VALUES))]]
    features: list[Feature] = []
    for neighbour in neighbours:
        known = inputs if neighbour.value is None else 2
        for measure in measures(fit)[:MOST_FIELDS]:
            feature = of_measure(measure, fit)
            if feature.cells <= FEW_VALUES:
                features.append(_pair(feature, neighbour, known))
        names = [name for name in fit.columns if not name.startswith(NOT_VALUES)]
        for name in [*names[: MOST_FIELDS // 2], *names[MOST_FIELDS // 2 :][-MOST_FIELDS // 2 :]]:
            features += _steps(fit, name, neighbour, known)
        features += _shared_bits(fit, neighbour, known, inputs)
    yield from most_telling(features, fit, inputs, MOST_FEATURES)


def _pair(feature: Feature, neighbour: Neighbour, known: int) -> Feature:
    def encode(table: Table) -> Codes:
        codes = feature.encode(table)
        rows, what = neighbour.rows(table)
        return (codes[trials(table)] * feature.cells + codes[rows]) * known + what

    return Feature(f"{feature.name} beside {neighbour.label}", encode, feature.cells**2 * known, trials)


def _steps(fit: Table, name: str, neighbour: Neighbour, known: int) -> Iterator[Feature]:
    """How far a field moved: its most frequent steps, and whether it grew or shrank otherwise."""
    column = fit.columns[name]
    words = words_of(column).shape[1] if isinstance(column, Octets) else 1
    for word in sorted({0, words - 1}):
        step = partial(_step, name, word - words, neighbour)
        values, counts = np.unique(step(fit), return_counts=True)
        often = np.sort(values[np.argsort(counts)[::-1][:MOST_STEPS]])
        label = f"step of {name}" + ("" if words == 1 else f", word {word + 1} of {words}") + f" from {neighbour.label}"
        yield Feature(label, partial(_frequent, step, often, neighbour, known), (len(often) + 2) * known, trials)


def _step(name: str, word: int, neighbour: Neighbour, table: Table) -> Integers:
    column = table.columns.get(name)
    own, (rows, _) = trials(table), neighbour.rows(table)
    if column is None:
        return np.zeros(len(own), np.int64)
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        with np.errstate(all="ignore"):
            moved = np.nan_to_num((column[own] - column[rows]) * 2.0**20, posinf=0, neginf=0)
        return np.asarray(np.clip(np.round(moved), -(2.0**62), 2.0**62), np.int64)
    words = words_of(column)
    if -word > words.shape[1]:
        return np.zeros(len(own), np.int64)
    return np.asarray((words[own, word] - words[rows, word]).view(np.int64))


def _frequent(step: Any, often: Integers, neighbour: Neighbour, known: int, table: Table) -> Codes:
    moved = step(table)
    inside = np.minimum(np.searchsorted(often, moved), len(often) - 1)
    codes = np.where(often[inside] == moved, inside, len(often) + (moved > 0))
    return np.asarray(codes * known + neighbour.rows(table)[1], np.intp)


def _shared_bits(fit: Table, neighbour: Neighbour, known: int, inputs: int) -> Iterator[Feature]:
    """Bits of the neighbour, and bits that differ from the neighbour's, given what is known of it."""
    every = bits(fit)
    if not every:
        return
    own, (rows, what) = trials(fit), neighbour.rows(fit)
    groups = fit.places[own] * known + what
    sizes = np.bincount(groups, minlength=inputs * known)
    scores = []
    for bit in every:
        read = bit.read(fit)
        for seen in (read[rows], read[own] ^ read[rows]):
            ones = np.bincount(groups[seen.astype(bool)], minlength=inputs * known).reshape(inputs, known)
            scores.append(float(contrast(np.concatenate([ones, sizes.reshape(inputs, known) - ones], axis=1))))
    for best in np.argsort(scores)[::-1][:2]:
        bit, against = every[int(best) // 2], bool(best % 2)
        label = f"{bit.label} {'against' if against else 'of'} {neighbour.label}"
        yield Feature(label, partial(_differs, bit, against, neighbour, known), 2 * known, trials)


def _differs(bit: Bit, against: bool, neighbour: Neighbour, known: int, table: Table) -> Codes:
    read = bit.read(table)
    rows, what = neighbour.rows(table)
    seen = read[trials(table)] ^ read[rows] if against else read[rows]
    return seen.astype(np.intp) * known + what
