"""Auditing this package's own mechanisms by their draws, like anybody else's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Keystream, SystemKeystream, among_nearest, draw_many
from deniable.core import UNIT, Channel, Mechanism, Mixture, NearestCodeSets, Privacy, SketchSigns, TwoLevel, WideHashing, index_of
from deniable.privacy.auditing.fields import table_of_array
from deniable.privacy.auditing.sampled import CONFIDENCE, audit
from deniable.privacy.auditing.search import Support
from deniable.privacy.auditing.targets import Draws, Order
from deniable.privacy.auditing.verdict import Audit

INPUTS = 4
WIDEST = 1 << 62


class OwnTarget:
    """The batch sampler of a mechanism; its inputs are channel inputs."""

    def __init__(self, mechanism: Mechanism, keystream: Keystream | None = None) -> None:
        self.channel = mechanism.channel
        self._stream = SystemKeystream() if keystream is None else keystream

    def draw(self, values: Sequence[int], order: Order) -> Draws:
        """Outputs as numbers, or as rows of bits or parts."""
        outputs = draw_many(self.channel, _inputs(self.channel, list(values), order), self._stream)
        return Draws(table_of_array(spread(self.channel, outputs), order.astype(np.intp, copy=False), np.arange(len(order))))


def _inputs(channel: Channel, indices: list[int], order: Order) -> Any:
    if channel.side_by_side:
        digits = zip(*[channel.split_input(index) for index in indices], strict=True)
        return tuple(_inputs(part, list(digit), order) for part, digit in zip(channel.side_by_side, digits, strict=True))
    return np.array(indices, np.int64 if channel.inputs < WIDEST else object)[order]


def spread(channel: Channel, outputs: Any) -> NDArray[Any]:
    """Batch outputs as one array: numbers, or rows with one column per bit or part."""
    if isinstance(outputs, tuple):
        parts = channel.side_by_side or [channel] * len(outputs)
        columns = [spread(part, column) for part, column in zip(parts, outputs, strict=True)]
        return np.column_stack(columns)
    rows = np.asarray(outputs)
    if channel.unary and rows.ndim == 2:
        return np.unpackbits(rows, axis=1, bitorder="little", count=(channel.outputs - 1).bit_length())
    return rows


def own_inputs(channel: Channel, most: int = INPUTS) -> list[int]:
    """Both ends, a neighbour and one in between."""
    if isinstance(channel.set_system, NearestCodeSets):  # ends of the first axis, and the vector 0: other indices are no vectors
        rest = [0] * (channel.set_system.dimension - 1)
        return [index_of([step, *rest]) for step in (UNIT, -UNIT, UNIT // 2, 0)][:most]
    last = channel.inputs - 1
    return sorted({0, 1, last * 38 // 100, last})[:most] if last > 0 else [0]


def _promised(promise: Privacy, channel: Channel) -> list[int]:
    """The two values that come nearest to breaking the promise, and a few others."""
    pair = promise.nearest(channel)
    return sorted({pair.value, pair.other, *own_inputs(channel, INPUTS - 2)})


def own_support(channel: Channel) -> Support | None:
    """How to read hashed reports: does the report's bucket hold the value?"""
    buckets = channel.buckets
    if buckets is not None:
        return lambda reports, value: _in_bucket(reports, value, buckets)
    sets = channel.set_system
    if isinstance(sets, NearestCodeSets):
        return lambda reports, value: among_nearest(sets, value, reports)
    if isinstance(channel, Mixture) and all(_of_words(part) for part in channel.parts):
        return lambda reports, value: np.array([_favoured(channel, value, int(report)) for report in reports])
    return None


def _of_words(part: Channel) -> bool:
    return isinstance(part, TwoLevel) and isinstance(part.sets, WideHashing | SketchSigns)


def _favoured(channel: Mixture, value: int, output: int) -> bool:
    place, inner = channel.part_of(output)
    return channel.parts[place].supports(value, inner)


def _in_bucket(reports: NDArray[Any], value: int, buckets: int) -> NDArray[np.bool_]:
    seed, bucket = np.divmod(reports.astype(np.uint64), np.uint64(buckets))
    mask, h = np.uint64(0xFFFFFFFF), (seed + np.uint64(value * 0x9E3779B1 & 0xFFFFFFFF)) & np.uint64(0xFFFFFFFF)
    h = ((h ^ (h >> np.uint64(16))) * np.uint64(0x7FEB352D)) & mask
    h = ((h ^ (h >> np.uint64(15))) * np.uint64(0x846CA68B)) & mask
    h ^= h >> np.uint64(16)
    return np.asarray((h * np.uint64(buckets)) >> np.uint64(32) == bucket)


def audit_mechanism(
    mechanism: Mechanism, *, samples: int = 1_000_000, confidence: float = CONFIDENCE, keystream: Keystream | None = None
) -> Audit:
    """Draw from a mechanism's own batch sampler and try to disprove its claim.

    >>> from deniable.core import make_mechanism
    >>> audit_mechanism(make_mechanism("k-rr", epsilon=1), samples=20_000).violated
    False
    """
    channel, promise = mechanism.channel, mechanism.promise
    inputs = own_inputs(channel) if promise is None else _promised(promise, channel)
    return audit(
        OwnTarget(mechanism, keystream),
        inputs,
        epsilon=mechanism.privacy if promise is None else promise.among(inputs),
        delta=float(mechanism.delta),
        samples=samples,
        confidence=confidence,
        support=own_support(channel),
        learned=False,
        order=keystream,
    )
