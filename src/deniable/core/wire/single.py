"""One report as bytes: header, then the output as a fixed-width big-endian number."""

from __future__ import annotations

from deniable.core.mechanisms.base import Mechanism
from deniable.core.reports.report import Report
from deniable.core.wire.width import HEADER, check_header, check_output, check_report, header, output_bits
from deniable.errors import Malformed


def encode_report(mechanism: Mechanism, report: Report) -> bytes:
    """The bytes of one report.

    >>> from deniable.core import RandomizedResponse
    >>> mechanism = RandomizedResponse(epsilon=1)
    >>> data = encode_report(mechanism, Report(mechanism.fingerprint, 1))
    >>> len(data), data[:3], data[-1]
    (20, b'dn\\x01', 1)
    """
    output = check_report(mechanism, report)
    return header(mechanism) + output.to_bytes(_output_bytes(mechanism), "big")


def decode_report(mechanism: Mechanism, data: bytes) -> Report:
    """The report in these bytes; anything but exactly one report of this recipe is refused."""
    check_header(mechanism, data)
    size = HEADER + _output_bytes(mechanism)
    if len(data) != size:
        raise Malformed(f"a report of {mechanism.name} has {size} bytes, got {len(data)}")
    # Bits above the width make the number too large, so the range check covers the padding too.
    return Report(mechanism.fingerprint, check_output(mechanism.channel, int.from_bytes(data[HEADER:], "big")))


def _output_bytes(mechanism: Mechanism) -> int:
    return (output_bits(mechanism.channel) + 7) // 8
