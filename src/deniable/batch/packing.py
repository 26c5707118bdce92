"""Many reports as one frame of bytes: the format of deniable.core.wire, packed with arrays."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch.decoding import output_ints
from deniable.batch.sampler import output_dtype
from deniable.core import (
    COUNT_BYTES,
    HEADER,
    Channel,
    DigitReader,
    Interpolated,
    Mechanism,
    Mixture,
    Product,
    Report,
    Table,
    TwoLevel,
    check_header,
    decode_reports,
    digits,
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
    unary = channel.in_bytes
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
        binary = np.unpackbits(group)
        if binary[rows * bits :].any():
            raise Malformed("the padding bits at the end of a batch must be zero")
        outputs[start : start + rows] = _undigits(binary[: rows * bits].reshape(rows, bits), unary)
    _check(channel, outputs)
    return outputs if unary else _from_numbers(channel, outputs)


def _to_numbers(channel: Channel, outputs: Any) -> NDArray[np.uint64]:
    """Columns of a record as the mixed-radix numbers the scalar path reports."""
    if channel.side_by_side:
        numbers = np.zeros(len(_first(outputs)), np.uint64)
        for part, column in zip(channel.side_by_side, outputs, strict=True):
            numbers = numbers * np.uint64(part.outputs) + _to_numbers(part, column)
        return numbers
    if outputs.ndim == 2:
        wide = np.zeros((len(outputs), 8), np.uint8)
        wide[:, : outputs.shape[1]] = outputs
        return wide.view("<u8").reshape(-1).astype(np.uint64)
    return np.asarray(outputs, np.uint64)


def _from_numbers(channel: Channel, numbers: NDArray[np.uint64]) -> Any:
    """Numbers back to the arrays the samplers give."""
    if channel.side_by_side:
        columns: list[Any] = []
        for part in reversed(channel.side_by_side):
            numbers, digit = np.divmod(numbers, np.uint64(part.outputs))
            columns.append(_from_numbers(part, digit))
        return tuple(columns[::-1])
    if channel.in_bytes:
        size = -(-output_bits(channel) // 8)
        return np.ascontiguousarray(numbers.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :size])
    return numbers.astype(output_dtype(channel.outputs))


def _first(outputs: Any) -> Any:
    return _first(outputs[0]) if isinstance(outputs, tuple) else outputs


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
        ones = channel.ones
        wrong = np.zeros(0, np.bool_) if ones is None else np.bitwise_count(outputs).sum(axis=1) != ones
        if channel.exclusive:
            wrong = (outputs & outputs >> 1 & 0x55).any(axis=1)
    else:
        wrong = outputs >= np.uint64(channel.outputs)
        if not wrong.any():
            wrong = ~_possible(channel, outputs)
    if wrong.any():
        raise Malformed("a report's output is not one this recipe can give")


@singledispatch
def _possible(channel: Channel, numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Does any input give these outputs? The same question as `Channel.possible` answers for one."""
    return np.ones(len(numbers), np.bool_)


@_possible.register
def _(channel: Product, numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
    fine = np.ones(len(numbers), np.bool_)
    for part in reversed(channel.parts):
        numbers, digit = np.divmod(numbers, np.uint64(part.outputs))
        fine &= _possible(part, digit)
    return fine


@_possible.register
def _(channel: Mixture, numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
    fine = np.ones(len(numbers), np.bool_)
    for part, start in zip(channel.parts, channel.starts, strict=True):
        mine = (numbers >= np.uint64(start)) & (numbers < np.uint64(start + part.outputs))
        fine[mine] = _possible(part, numbers[mine] - np.uint64(start))
    return fine


@_possible.register
def _(channel: Interpolated | DigitReader, numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
    return _possible(channel.inner, numbers)


@_possible.register
def _(channel: Table, numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
    return np.array([channel.possible(output) for output in range(channel.outputs)], np.bool_)[numbers]


@_possible.register
def _(channel: TwoLevel, numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
    return np.ones(len(numbers), np.bool_) if channel.ones is None else np.equal(np.bitwise_count(numbers), channel.ones)


def outputs_from_ints(channel: Channel, outputs: list[int]) -> Any:
    """Integers back to the arrays the samplers give."""
    if channel.side_by_side:
        rows = [digits(output, [part.outputs for part in channel.side_by_side]) for output in outputs]
        return tuple(outputs_from_ints(part, [row[i] for row in rows]) for i, part in enumerate(channel.side_by_side))
    if channel.in_bytes:
        size = -(-output_bits(channel) // 8)
        joined = b"".join(output.to_bytes(size, "little") for output in outputs)
        return np.frombuffer(joined, np.uint8).reshape(len(outputs), size)
    if channel.outputs > 1 << 64:
        return np.array(outputs, object)
    return np.array(outputs, output_dtype(channel.outputs))
