"""From values to reports, chunk by chunk, on as many threads as pay."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.batch.digits import WIDE
from deniable.batch.encoding import as_array, chunk_encoder, encode_many
from deniable.batch.frames import unframed
from deniable.batch.grids import Encoder
from deniable.batch.kept import LastFew
from deniable.batch.keystream import Keystream, SystemKeystream
from deniable.batch.parallel import in_parallel, worthwhile_threads
from deniable.batch.reports import Reports
from deniable.batch.sampler import Indices, Outputs, Sampler
from deniable.batch.samplers import sampler_for
from deniable.core import Channel, Mechanism, Record
from deniable.errors import InvalidParameter


def randomize_many(mechanism: Mechanism, values: Any, keystream: Keystream | None = None) -> Reports:
    """Private reports of an array of values, by exactly the law of `mechanism.randomize`.

    Columns of pandas, polars and Arrow are arrays too; for records and places, whole frames.
    Nothing beyond the reports and a few chunks of work space is allocated. Without a keystream, a
    fresh one is keyed by the operating system.
    """
    stream = SystemKeystream() if keystream is None else keystream
    ready = _PREPARED(mechanism)
    if ready is None:
        return Reports(mechanism, draw_many(mechanism.channel, encode_many(mechanism, values), stream))
    encode, sampler = ready
    return Reports(mechanism, _run(sampler, as_array(mechanism, values), stream, encode))


def _prepare(mechanism: Mechanism) -> tuple[Encoder, Sampler] | None:
    """What encodes and draws chunk by chunk; None where a value is several columns."""
    if isinstance(mechanism.domain, Record) or mechanism.channel.side_by_side:
        return None
    return chunk_encoder(mechanism), sampler_for(mechanism.channel)


_PREPARED: LastFew[Mechanism, tuple[Encoder, Sampler] | None] = LastFew(lambda mechanism: _prepare(mechanism))


def draw_many(channel: Channel, indices: Any, keystream: Keystream | None = None) -> Any:
    """Outputs for an array of channel inputs (a tuple of arrays for a product)."""
    stream = SystemKeystream() if keystream is None else keystream
    if channel.side_by_side:
        return tuple(draw_many(part, column, stream) for part, column in zip(channel.side_by_side, indices, strict=True))
    inputs = np.ascontiguousarray(unframed(indices), np.int64 if channel.inputs < WIDE else object)
    if len(inputs) and not (inputs.min() >= 0 and inputs.max() < channel.inputs):
        raise InvalidParameter(f"the channel has inputs 0 to {channel.inputs - 1}")
    return _run(sampler_for(channel), inputs, stream, None)


def _run(sampler: Sampler, values: Any, keystream: Keystream, encode: Encoder | None) -> Outputs:
    out = sampler.allocate(len(values))
    threads = worthwhile_threads(len(values))
    # Two threads take turns with the interpreter between chunks: longer chunks keep them out of each other's way.
    chunk = sampler.chunk if threads == 1 else 4 * sampler.chunk
    bounds = [(start, min(start + chunk, len(values))) for start in range(0, len(values), chunk)]

    streams = [keystream]

    def work(thread: int, share: list[tuple[int, int]]) -> None:
        for start, end in share:
            inputs: Indices = values[start:end] if encode is None else encode(values[start:end])
            sampler.draw(inputs, out[start:end], streams[thread])

    streams += [keystream.spawn() for _ in range(threads - 1)]
    in_parallel(work, bounds, threads)
    return out
