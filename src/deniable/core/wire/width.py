"""What every encoding shares: the header, how wide an output is, and which outputs exist."""

from __future__ import annotations

from deniable.core.channels.base import Channel
from deniable.core.mechanisms.base import Mechanism
from deniable.core.reports.report import Report
from deniable.errors import Malformed, UnknownVersion, WrongRecipe

MAGIC = b"dn"
VERSION = 1
FINGERPRINT_BYTES = 16
HEADER = len(MAGIC) + 1 + FINGERPRINT_BYTES
_BEGIN = MAGIC + bytes([VERSION])


def output_bits(channel: Channel) -> int:
    """How many bits an output takes: enough for the largest one, and at least one."""
    return max(1, (channel.outputs - 1).bit_length())


def header(mechanism: Mechanism) -> bytes:
    """Magic, version and fingerprint."""
    return MAGIC + bytes([VERSION]) + bytes.fromhex(mechanism.fingerprint)


def check_header(mechanism: Mechanism, data: bytes) -> None:
    """Refuse bytes that do not begin as a report of this recipe."""
    if isinstance(data, bytes) and data.startswith(_BEGIN) and data[len(_BEGIN) : HEADER].hex() == mechanism.fingerprint:
        return  # as nearly all do; otherwise, why not?
    if not isinstance(data, bytes | bytearray | memoryview):
        raise Malformed(f"a report arrives as bytes, got {type(data).__name__}")
    if len(data) < HEADER:
        raise Malformed(f"a report begins with {HEADER} bytes of header, got {len(data)} bytes in all")
    if bytes(data[:2]) != MAGIC:
        raise Malformed("the bytes do not begin with 'dn': this is not a report")
    check_version(data[2])
    check_recipe(mechanism, bytes(data[3:HEADER]).hex())


def check_version(version: int) -> None:
    """Refuse every version but the one this release writes."""
    if version != VERSION:
        raise UnknownVersion(f"this release reads version {VERSION} of the format, got version {version}")


def check_recipe(mechanism: Mechanism, fingerprint: str) -> None:
    """Refuse what was drawn by another recipe: its numbers would mean something else."""
    if fingerprint != mechanism.fingerprint:
        raise WrongRecipe(f"the report belongs to recipe {fingerprint}, not to {mechanism.fingerprint} ({mechanism.name})")


def check_output(channel: Channel, output: int) -> int:
    """Refuse numbers no input could have given."""
    if not 0 <= output < channel.outputs or not channel.possible(output):
        raise Malformed("the report's output is not one this recipe can give")
    return output


def check_report(mechanism: Mechanism, report: Report) -> int:
    """The output of a report that is about to be written."""
    if not isinstance(report, Report):
        raise Malformed(f"only a Report can be written, got {type(report).__name__}")
    if type(report.recipe) is not str or type(report.output) is not int:
        raise Malformed("a report's recipe is text and its output a whole number")
    check_recipe(mechanism, report.recipe)
    return check_output(mechanism.channel, report.output)
