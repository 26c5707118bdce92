"""Samplers made of samplers, and the scalar path for channels without a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from deniable.batch.keystream import Keystream, KeystreamCoins
from deniable.batch.packing import outputs_from_ints
from deniable.batch.sampler import Indices, Outputs, Sampler, TooWide, output_dtype, uniform_below
from deniable.core import Channel, Identity, Interpolated, Mixture


@njit(nogil=True, cache=True)
def _round_at_random(words, indices, rows, shift):  # type: ignore[no-untyped-def]
    """rows[i] = indices[i] / 2**shift, rounded up with the chance of its fraction."""
    mask = (np.int64(1) << shift) - 1
    for i in range(indices.size):
        rows[i] = (indices[i] >> shift) + ((np.int64(words[i]) & mask) < (indices[i] & mask))


class InterpolatedSampler(Sampler):
    """Round every fine input to a row at random, then let the inner sampler draw."""

    def __init__(self, channel: Interpolated, inner: Sampler) -> None:
        self.inner = inner
        self.chunk = inner.chunk
        self.steps = channel.steps
        if channel.inputs >= 1 << 62:
            raise TooWide

    def allocate(self, count: int) -> Outputs:
        return self.inner.allocate(count)

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        """Random bits for the rounding, then the inner draw."""
        self.inner.draw(self._rows(indices, keystream), out, keystream)

    def _rows(self, indices: Indices, keystream: Keystream) -> Indices:
        shift = self.steps.bit_length() - 1
        if self.steps == 1 << shift:
            words = np.empty(len(indices), np.uint16 if shift <= 16 else np.uint32 if shift <= 32 else np.uint64)
            keystream.fill(words)
            rows = np.empty(len(indices), np.int64)
            _round_at_random(words, indices, rows, shift)
            return rows
        rows, rest = np.divmod(indices, self.steps)
        return rows + (uniform_below(self.steps, len(indices), keystream) < rest)


FEW_PARTS = 2


class MixtureSampler(Sampler):
    """Every part draws for everyone, and a coin chooses: no branch, no trace in the time it takes.

    Of many parts each draws only where the coin chose it: the coin does not see the input, and the output shows it anyway.
    """

    def __init__(self, channel: Mixture, parts: list[Sampler]) -> None:
        self.channel = channel
        self.parts = parts
        self.chunk = min(part.chunk for part in parts)
        self.outputs = channel.outputs
        self.dtype = output_dtype(channel.outputs)
        if not all(_can_be_numbered(part.allocate(1), one) for part, one in zip(parts, channel.parts, strict=True)):
            raise TooWide
        self.total = sum(channel.shares)
        if self.total >= 1 << 62:
            raise TooWide

    def allocate(self, count: int) -> Outputs:
        """Unsigned integers: a part's outputs come after those of the parts before it."""
        return np.empty(count, self.dtype)

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        """One coin per report and one draw of every part."""
        coin = uniform_below(self.total, len(indices), keystream)
        boundary = 0
        for part, share, start in zip(self.parts, self.channel.shares, self.channel.starts, strict=True):
            chosen = (coin >= boundary) & (coin < boundary + share)
            boundary += share
            if len(self.parts) > FEW_PARTS:
                rows = np.flatnonzero(chosen)
                drawn = part.allocate(len(rows))
                part.draw(indices[rows], drawn, keystream)
                out[rows] = _numbered(drawn, self.dtype) + self.dtype(start)
                continue
            drawn = part.allocate(len(indices))
            part.draw(indices, drawn, keystream)
            out[chosen] = _numbered(drawn[chosen], self.dtype) + self.dtype(start)


def _can_be_numbered(drawn: Outputs, channel: Channel) -> bool:
    """Numbers are; so are rows of bits, as far as they fit into a machine word."""
    if drawn.ndim == 2:
        return channel.in_bytes and drawn.dtype == np.uint8 and drawn.shape[1] <= 8
    return drawn.ndim == 1 and drawn.dtype != object


def _numbered(drawn: Outputs, dtype: type[np.unsignedinteger[Any]]) -> Outputs:
    """The numbers of outputs: bit v of a row is the binary digit 2**v."""
    if drawn.ndim == 1:
        return drawn.astype(dtype)
    padded = np.zeros((len(drawn), 8), np.uint8)
    padded[:, : drawn.shape[1]] = drawn
    return padded.view("<u8")[:, 0].astype(dtype)


class IdentitySampler(Sampler):
    """Reports the input as it is."""

    def __init__(self, channel: Identity) -> None:
        self.outputs = channel.outputs

    def allocate(self, count: int) -> Outputs:
        return np.empty(count, output_dtype(self.outputs))

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        out[:] = indices


class ScalarSampler(Sampler):
    """The scalar draw, one report at a time: for integers wider than a machine word and rare channels."""

    chunk = 1 << 10

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    def allocate(self, count: int) -> Outputs:
        """Rows of bytes for strings of bits; machine integers where they fit, Python's own otherwise."""
        if self.channel.unary:
            return np.empty((count, -(-self.channel.inputs // 8)), np.uint8)
        return np.empty(count, object if self.channel.outputs > 1 << 64 else output_dtype(self.channel.outputs))

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        """channel.draw, with coins from the keystream."""
        coins = KeystreamCoins(keystream)
        drawn = [self.channel.draw(int(index), coins) for index in indices]
        out[:] = outputs_from_ints(self.channel, drawn) if self.channel.unary else np.array(drawn, out.dtype)
