"""Samplers of places seen from references, and of several steps in a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from deniable.batch.digits import WIDE, digit_columns, join_columns
from deniable.batch.keystream import Keystream
from deniable.batch.sampler import Indices, Outputs, Sampler, TooWide, output_dtype
from deniable.batch.steps import StepKernel
from deniable.batch.windows import WindowSampler
from deniable.core import Channel, DirectionDistance, Steps


class DirectionDistanceSampler(Sampler):
    """Direction and distance cells of the inputs, then both windows."""

    def __init__(self, channel: DirectionDistance) -> None:
        self.kernel = StepKernel(channel)
        self.windows = (WindowSampler(self.kernel.direction), WindowSampler(channel.distance))
        self.outputs, self.distances = channel.outputs, channel.distance.outputs

    def allocate(self, count: int) -> Outputs:
        return np.empty(count, output_dtype(self.outputs))

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        """All seen from the channel's own reference."""
        out[:] = self.drawn(self.kernel.polar(indices), keystream)

    def drawn(self, cells: tuple[Indices, Indices], keystream: Keystream) -> Indices:
        """Both windows, as one number."""
        turns, shares = _each_drawn(self.windows, cells, keystream)
        return turns * self.distances + shares


class StepsSampler(Sampler):
    """All reports take their first step, then all their second: references follow the reports."""

    def __init__(self, channel: Steps, sampler_for: Callable[[Channel], Sampler]) -> None:
        step = channel.step
        if step.inputs >= WIDE or step.outputs >= WIDE:
            raise TooWide
        self.channel = channel
        self.wide = channel.outputs >= WIDE
        self.parts = list(step.side_by_side) or [step]
        self.samplers = [sampler_for(part) for part in self.parts]
        if any(sampler.allocate(1).ndim != 1 for sampler in self.samplers):
            raise TooWide

    def allocate(self, count: int) -> Outputs:
        """Python's integers where machine words are too narrow."""
        return np.empty(count, object if self.wide else np.uint64)

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        step, length = self.channel.step, self.channel.length
        numbers = np.asarray(indices, object if self.channel.inputs >= WIDE else np.int64)
        sampler, drawn = self.samplers[0], []
        references = sampler.kernel.references(len(numbers)) if isinstance(sampler, DirectionDistanceSampler) else None
        for digits in digit_columns(numbers, (step.inputs,) * length):
            if isinstance(sampler, DirectionDistanceSampler) and references is not None:
                drawn.append(sampler.drawn(sampler.kernel.polar(digits, references), keystream))
                sampler.kernel.follow(drawn[-1], references)
            else:
                drawn.append(self._independent(digits, keystream))
        out[:] = join_columns(drawn, (step.outputs,) * length, self.channel.outputs)

    def _independent(self, digits: Indices, keystream: Keystream) -> Indices:
        columns = digit_columns(digits, tuple(part.inputs for part in self.parts))
        reported = _each_drawn(self.samplers, columns, keystream)
        return join_columns(reported, tuple(part.outputs for part in self.parts), self.channel.step.outputs)


def _each_drawn(samplers: Sequence[Sampler], columns: Sequence[Indices], keystream: Keystream) -> list[Indices]:
    """Outputs of every sampler for its own column of inputs."""
    reported = []
    for sampler, column in zip(samplers, columns, strict=True):
        drawn = sampler.allocate(len(column))
        sampler.draw(column, drawn, keystream)
        reported.append(drawn.astype(np.int64))
    return reported
