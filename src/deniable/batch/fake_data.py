"""Records of which some fields are answered: read their digits of every input, or answer among fakes."""

from __future__ import annotations

import numpy as np

from deniable.batch.digits import WIDE, digit_columns, join_columns
from deniable.batch.keystream import Keystream
from deniable.batch.sampler import Indices, Outputs, Sampler, TooWide, output_dtype, uniform_below
from deniable.batch.windows import WindowSampler
from deniable.core import DigitReader, FakeData


class ReadingSampler(Sampler):
    """The inner sampler on some digits of every input, read as one number."""

    def __init__(self, channel: DigitReader, inner: Sampler) -> None:
        self.channel = channel
        self.inner = inner
        self.chunk = inner.chunk

    def allocate(self, count: int) -> Outputs:
        return self.inner.allocate(count)

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        number: Indices = np.zeros(len(indices), np.int64)
        for stride, size in self.channel.kept:
            number = number * size + (indices // stride % size).astype(np.int64, copy=False)
        self.inner.draw(number, out, keystream)


class FakeDataSampler(Sampler):
    """An answer and a fake for every field of everyone, and a coin that chooses."""

    def __init__(self, channel: FakeData) -> None:
        self.channel = channel
        self.parts = [WindowSampler(part) for part in channel.parts]
        if channel.outputs >= WIDE:
            raise TooWide

    def allocate(self, count: int) -> Outputs:
        """Unsigned integers: all fields as one mixed-radix number."""
        return np.empty(count, output_dtype(self.channel.outputs))

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        """One coin per report; two draws per field."""
        chosen = uniform_below(len(self.parts), len(indices), keystream)
        columns = []
        digits = digit_columns(indices, self.channel.sizes)
        for place, (part, digit, size) in enumerate(zip(self.parts, digits, self.channel.sizes, strict=True)):
            answer = part.allocate(len(indices))
            part.draw(digit, answer, keystream)
            fake = uniform_below(size, len(indices), keystream)
            columns.append(np.where(chosen == place, answer.astype(np.int64), fake))
        out[:] = join_columns(columns, self.channel.sizes, self.channel.outputs)
