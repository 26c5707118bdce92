"""Many reports of one recipe: header, count, then all outputs packed without gaps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deniable.core.mechanisms.base import Mechanism
from deniable.core.reports.report import Report
from deniable.core.wire.width import HEADER, check_header, check_output, check_report, header, output_bits
from deniable.errors import Malformed

COUNT_BYTES = 8


def encode_reports(mechanism: Mechanism, reports: Iterable[Report]) -> bytes:
    """The bytes of many reports, in order.

    >>> from deniable.core import RandomizedResponse
    >>> mechanism = RandomizedResponse(epsilon=1)
    >>> encode_reports(mechanism, [Report(mechanism.fingerprint, bit) for bit in (1, 0, 1)])[-1:].hex()
    'a0'
    """
    outputs = [check_report(mechanism, report) for report in reports]
    bits = output_bits(mechanism.channel)
    return header(mechanism) + len(outputs).to_bytes(COUNT_BYTES, "big") + b"".join(_pack(outputs, bits))


def decode_reports(mechanism: Mechanism, data: bytes) -> list[Report]:
    """The reports in these bytes. The length is checked before anything is built, so a lying count costs nothing."""
    check_header(mechanism, data)
    body = HEADER + COUNT_BYTES
    if len(data) < body:
        raise Malformed(f"a batch begins with {body} bytes of header and count, got {len(data)} bytes in all")
    count, bits = int.from_bytes(data[HEADER:body], "big"), output_bits(mechanism.channel)
    size = body + (count * bits + 7) // 8
    if len(data) != size:
        raise Malformed(f"a batch of {count} reports of {mechanism.name} has {size} bytes, got {len(data)}")
    fingerprint, channel = mechanism.fingerprint, mechanism.channel
    return [Report(fingerprint, check_output(channel, output)) for output in _unpack(data[body:], count, bits)]


def _pack(outputs: list[int], bits: int) -> Iterator[bytes]:
    """Groups of eight outputs: exactly `bits` bytes each; the last group is cut after its last used byte."""
    for begin in range(0, len(outputs), 8):
        group = outputs[begin : begin + 8]
        number = 0
        for output in group:
            number = number << bits | output
        padding = -len(group) * bits % 8
        yield (number << padding).to_bytes((len(group) * bits + padding) // 8, "big")


def _unpack(data: bytes, count: int, bits: int) -> Iterator[int]:
    """The outputs, group by group."""
    mask = (1 << bits) - 1
    for begin in range(0, count, 8):
        used = min(8, count - begin) * bits
        start, padding = begin // 8 * bits, -used % 8
        number = int.from_bytes(data[start : start + (used + 7) // 8], "big")
        if number & ((1 << padding) - 1):
            raise Malformed("the padding bits at the end of a batch must be zero")
        for place in range(used - bits, -1, -bits):
            yield number >> (place + padding) & mask
