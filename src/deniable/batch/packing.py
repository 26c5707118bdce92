"""Many reports as one frame of bytes: the format of deniable.core.wire, packed with arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch.decoding import output_ints
from deniable.batch.sampler import output_dtype
from deniable.core import (
    COUNT_BYTES,
    HEADER,
    Bits,
    Channel,
    Field,
    Interpolated,
    Mechanism,
    Mixture,
    Product,
    Report,
    Subsets,
    Table,
    TwoLevel,
    check_header,
    decode_reports,
    encode_reports,
    header,
    output_bits,
)
from deniable.errors import Malformed

ROWS = 1 << 13
"""Reports packed at a time: a multiple of 8, so that every group but the last ends on a whole byte."""


def pack_reports(mechanism: Mechanism, outputs: Any) -> bytes:
    """The same bytes as deniable.core.wire.encode_reports, from arrays."""
    channel = mechanism.channel
    if isinstance(outputs, tuple) and channel.outputs <= 1 << 63:
        outputs = _to_numbers(channel, outputs)
    if not isinstance(outputs, np.ndarray) or outputs.dtype == object:
        reports = [Report(mechanism.fingerprint, output) for output in output_ints(channel, outputs)]
        return encode_reports(mechanism, reports)
    bits = output_bits(channel)
    parts = [header(mechanism), len(outputs).to_bytes(COUNT_BYTES, "big")]
    for start in range(0, len(outputs), ROWS):
        parts.append(np.packbits(_digits(outputs[start : start + ROWS], bits)).tobytes())
    return b"".join(parts)


def unpack_reports(mechanism: Mechanism, data: bytes) -> Any:
    """The outputs in a frame; strict, like deniable.core.wire.decode_reports."""
    channel = mechanism.channel
    body, bits = HEADER + COUNT_BYTES, output_bits(channel)
    unary = _is_unary(channel)
    if not unary and channel.outputs > 1 << 63:
        return outputs_from_ints(channel, [report.output for report in decode_reports(mechanism, data)])
    check_header(mechanism, data)
    count = int.from_bytes(data[HEADER:body], "big")
    if len(data) < body or len(data) != body + (count * bits + 7) // 8:
        raise Malformed(f"the frame does not have the length its count of reports of {mechanism.name} asks for")
    packed = np.frombuffer(data, np.uint8, offset=body)
    outputs: NDArray[Any] = np.empty((count, -(-bits // 8)), np.uint8) if unary else np.empty(count, np.uint64)
    for start in range(0, count, ROWS):
        rows = min(ROWS, count - start)
        group = packed[start * bits // 8 : ((start + rows) * bits + 7) // 8]
        digits = np.unpackbits(group)
        if digits[rows * bits :].any():
            raise Malformed("the padding bits at the end of a batch must be zero")
        outputs[start : start + rows] = _undigits(digits[: rows * bits].reshape(rows, bits), unary)
    _check(channel, outputs)
    return outputs if unary else _from_numbers(channel, outputs)


def _to_numbers(channel: Channel, outputs: Any) -> NDArray[np.uint64]:
    """Columns of a record as the mixed-radix numbers the scalar path reports."""
    if isinstance(channel, Product):
        numbers = np.zeros(len(_first(outputs)), np.uint64)
        for part, column in zip(channel.parts, outputs, strict=True):
            numbers = numbers * np.uint64(part.outputs) + _to_numbers(part, column)
        return numbers
    if outputs.ndim == 2:
        wide = np.zeros((len(outputs), 8), np.uint8)
        wide[:, : outputs.shape[1]] = outputs
        return wide.view("<u8").reshape(-1).astype(np.uint64)
    return np.asarray(outputs, np.uint64)


def _from_numbers(channel: Channel, numbers: NDArray[np.uint64]) -> Any:
    """Numbers back to the arrays the samplers give."""
    if isinstance(channel, Product):
        columns: list[Any] = []
        for part in reversed(channel.parts):
            numbers, digit = np.divmod(numbers, np.uint64(part.outputs))
            columns.append(_from_numbers(part, digit))
        return tuple(columns[::-1])
    if _is_unary(channel):
        size = -(-output_bits(channel) // 8)
        return np.ascontiguousarray(numbers.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :size])
    return numbers.astype(output_dtype(channel.outputs))


def _first(outputs: Any) -> Any:
    return _first(outputs[0]) if isinstance(outputs, tuple) else outputs


def _is_unary(channel: Channel) -> bool:
    return isinstance(channel, Bits) or (isinstance(channel, TwoLevel) and isinstance(channel.sets, Subsets))


def _digits(outputs: NDArray[Any], bits: int) -> NDArray[np.uint8]:
    """Binary digits, most significant first, of every output."""
    if outputs.ndim == 2:
        return np.unpackbits(outputs, axis=1, count=bits, bitorder="little")[:, ::-1]
    wide = outputs.astype(outputs.dtype.newbyteorder(">")).view(np.uint8).reshape(len(outputs), -1)
    return np.unpackbits(wide, axis=1)[:, -bits:]


def _undigits(digits: NDArray[np.uint8], unary: bool) -> NDArray[Any]:
    if unary:
        return np.packbits(digits[:, ::-1], axis=1, bitorder="little")
    padded = np.zeros((len(digits), 64), np.uint8)
    padded[:, 64 - digits.shape[1] :] = digits
    return np.packbits(padded, axis=1).view(">u8").reshape(-1).astype(np.uint64)


def _check(channel: Channel, outputs: NDArray[Any]) -> None:
    if outputs.ndim == 2:
        sets = channel.sets if isinstance(channel, TwoLevel) else None
        wrong = np.bitwise_count(outputs).sum(axis=1) != sets.chosen if isinstance(sets, Subsets) else np.zeros(0, np.bool_)
    else:
        wrong = outputs >= np.uint64(channel.outputs)
        if not wrong.any():
            wrong = ~_possible(channel, outputs)
    if wrong.any():
        raise Malformed("a report's output is not one this recipe can give")


def _possible(channel: Channel, numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Does any input give these outputs? The same question as deniable.core.wire asks of one."""
    if isinstance(channel, Product):
        fine = np.ones(len(numbers), np.bool_)
        for part in reversed(channel.parts):
            numbers, digit = np.divmod(numbers, np.uint64(part.outputs))
            fine &= _possible(part, digit)
        return fine
    if isinstance(channel, Mixture):
        fine = np.ones(len(numbers), np.bool_)
        for part, start in zip(channel.parts, channel.starts, strict=True):
            mine = (numbers >= np.uint64(start)) & (numbers < np.uint64(start + part.outputs))
            fine[mine] = _possible(part, numbers[mine] - np.uint64(start))
        return fine
    if isinstance(channel, Interpolated | Field):
        return _possible(channel.inner, numbers)
    if isinstance(channel, Table):
        seen = np.array([any(row[output] for row in channel.rows) for output in range(channel.outputs)], np.bool_)
        return seen[numbers]
    if isinstance(channel, TwoLevel) and isinstance(channel.sets, Subsets):
        return np.equal(np.bitwise_count(numbers), channel.sets.chosen)
    return np.ones(len(numbers), np.bool_)


def outputs_from_ints(channel: Channel, outputs: list[int]) -> Any:
    """Integers back to the arrays the samplers give."""
    if isinstance(channel, Product):
        rows = [channel.split_output(output) for output in outputs]
        return tuple(outputs_from_ints(part, [row[i] for row in rows]) for i, part in enumerate(channel.parts))
    if _is_unary(channel):
        size = -(-output_bits(channel) // 8)
        joined = b"".join(output.to_bytes(size, "little") for output in outputs)
        return np.frombuffer(joined, np.uint8).reshape(len(outputs), size)
    if channel.outputs > 1 << 64:
        return np.array(outputs, object)
    return np.array(outputs, output_dtype(channel.outputs))
