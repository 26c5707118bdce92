"""Arrays of outputs back to values: post-processing, in floats."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch.frames import unframed
from deniable.batch.sampler import Outputs
from deniable.core import (
    Affine,
    Channel,
    Circle,
    CircularMechanism,
    Interval,
    Joined,
    Mechanism,
    NearestCodes,
    NumericMechanism,
    Reading,
    Record,
    Values,
    undigits,
)


def decode_many(mechanism: Mechanism, outputs: Any) -> Any:
    """The values an array of outputs stands for: an array, or a list where values are not numbers."""
    if not isinstance(outputs, np.ndarray | tuple):
        outputs = np.asarray(unframed(outputs))
    if isinstance(mechanism, NumericMechanism | CircularMechanism):
        return to_domain(mechanism.domain, positions(mechanism.reading, outputs))
    if isinstance(mechanism, NearestCodes):
        from deniable.batch.nearest_codes import directions

        return mechanism.scale * directions(mechanism.sets, outputs)
    from deniable.batch.place_decoding import decode_places  # compiled: a collector that only counts does without

    places = decode_places(mechanism, outputs)
    if places is not None:
        return [(x, y) for x, y in places.tolist()]
    if isinstance(outputs, tuple):
        return {name: decode_many(part, out) for (name, part), out in zip(mechanism.parts.items(), outputs, strict=True)}
    values = [mechanism.decode(output) for output in output_ints(mechanism.channel, outputs)]
    if isinstance(mechanism.domain, Record):
        return {name: [value[name] for value in values] for name in mechanism.domain.fields}
    return values


def positions(reading: Reading, outputs: NDArray[Any]) -> NDArray[np.float64]:
    """Positions of an array of outputs."""
    if isinstance(reading, Affine):
        places = outputs.astype(np.float64) * float(reading.step) + float(reading.start)
        return np.clip(places, 0.0, 1.0) if reading.clip else places
    if isinstance(reading, Values):
        return np.array([float(position) for position in reading.positions])[outputs.astype(np.int64)]
    if isinstance(reading, Joined):
        whole = outputs.astype(np.int64)
        places = np.empty(len(whole))
        begin = 0
        for size, part in reading.parts:
            chosen = (whole >= begin) & (whole < begin + size)
            places[chosen] = positions(part, whole[chosen] - begin)
            begin += size
        return places
    return np.array([float(reading.position(int(output))) for output in outputs])


def to_domain(domain: Interval | Circle, where: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions as numbers of the domain."""
    if isinstance(domain, Circle):
        where = where - np.floor(where)
    return where * float(domain.width) + float(domain.low)


def output_ints(channel: Channel, outputs: Any) -> list[int]:
    """Outputs as the integers the scalar path uses."""
    if channel.side_by_side:
        columns = [output_ints(part, out) for part, out in zip(channel.side_by_side, outputs, strict=True)]
        sizes = [part.outputs for part in channel.side_by_side]
        return [undigits(row, sizes) for row in zip(*columns, strict=True)]
    array: Outputs = outputs
    if array.ndim == 2:
        return [int.from_bytes(row.tobytes(), "little") for row in array]
    return [int(output) for output in array.tolist()]
