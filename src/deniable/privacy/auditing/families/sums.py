"""Sums, exclusive or and set bits of all bytes of a field, and of the whole report; how often each character comes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from deniable.privacy.auditing.events import Codes, Feature, most_telling
from deniable.privacy.auditing.field_readings import Units, Words, readings
from deniable.privacy.auditing.fields import Table

MOST_FEATURES = 8
MOST_SYMBOLS = 96
WIDEST = 128
MOST_COUNTS = 2


def propose(fit: Table, inputs: int) -> Iterator[Feature]:
    """The totals in which the test values look least alike."""
    words = [one for one in readings(fit) if one.width > 1]
    features = [feature for one in words for feature in _totals(one.name, [one])]
    main = [one for one in readings(fit) if one.main]
    if len(main) > 1:
        features += _totals("the whole report", main)
    yield from most_telling(features, fit, inputs, MOST_FEATURES)
    counts = [feature for one in words if one.radix != 256 or one.unit == "character" for feature in _symbols(one, fit)]
    yield from most_telling(counts, fit, inputs, MOST_COUNTS)


def _symbols(words: Words, fit: Table) -> list[Feature]:
    """How often each digit or character comes in a field that has few different ones."""
    seen = np.unique(words.read(fit)) if words.width <= WIDEST else np.zeros(0, np.uint8)
    if not 2 < len(seen) <= MOST_SYMBOLS:
        return []
    return [
        Feature(f"how often {words.unit} {symbol} comes in {words.name}", partial(_count, words, int(symbol)), words.width + 1)
        for symbol in seen
    ]


def _count(words: Words, symbol: int, table: Table) -> Codes:
    return np.asarray((words.read(table) == symbol).sum(axis=1), np.intp)


def _totals(name: str, words: list[Words]) -> list[Feature]:
    def units(table: Table) -> Units:
        return words[0].read(table) if len(words) == 1 else np.concatenate([one.read(table) for one in words], axis=1)

    def total(table: Table) -> Codes:
        return np.asarray(units(table).sum(axis=1, dtype=np.intp) % 256, np.intp)

    def exclusive(table: Table) -> Codes:
        return np.asarray(np.bitwise_xor.reduce(units(table), axis=1), np.intp)

    def set_bits(table: Table) -> Codes:
        return np.asarray(np.bitwise_count(units(table)).sum(axis=1), np.intp)

    width = sum(one.width for one in words)
    unit = words[0].unit if len(words) == 1 else "byte"
    return [
        Feature(f"the sum of the {unit}s of {name}, modulo 256", total, 256),
        Feature(f"the exclusive or of the {unit}s of {name}", exclusive, 256),
        Feature(f"set bits of the {unit}s of {name}", set_bits, 8 * width + 1),
    ]
