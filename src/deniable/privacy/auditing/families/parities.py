"""Single bits of every field, and the exclusive or of any two bits of the report."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deniable.privacy.auditing.events import Feature
from deniable.privacy.auditing.field_readings import Bit, bits
from deniable.privacy.auditing.fields import Table

MOST_FEATURES = 8
MOST_ROWS = 1 << 14
"""Rows of the products: more of them cost time and choose no better pair."""


def propose(fit: Table, inputs: int) -> Iterator[Feature]:
    """The bits and pairs of bits that differ most between the test values: all pairs by one matrix product per value."""
    every = bits(fit)
    if not every:
        return
    rows = fit.rows(slice(0, MOST_ROWS)) if len(fit) > MOST_ROWS else fit
    signs = np.empty((len(rows), len(every) + 1), np.float32)
    signs[:, 0] = 1  # a bit with this one is the bit alone
    for place, bit in enumerate(every):
        signs[:, place + 1] = 1 - 2.0 * bit.read(rows)
    highest = lowest = None
    for value in range(inputs):
        own = signs[rows.places == value]
        products = own.T @ own / max(len(own), 1)
        highest = products if highest is None else np.maximum(highest, products)
        lowest = products if lowest is None else np.minimum(lowest, products)
    assert highest is not None
    assert lowest is not None
    gaps = np.triu(highest - lowest, 1)
    for best in np.argpartition(gaps, -min(MOST_FEATURES, gaps.size), axis=None)[-MOST_FEATURES:][::-1]:
        first, second = np.unravel_index(int(best), gaps.shape)
        if first < second:
            yield parity_of([every[int(place) - 1] for place in (first, second) if place])


def parity_of(chosen: list[Bit]) -> Feature:
    """The exclusive or of a few bits."""
    label = " xor ".join(bit.label for bit in chosen)
    return Feature(label, lambda table: np.bitwise_xor.reduce([bit.read(table) for bit in chosen]).astype(np.intp), 2)
