"""One report as JSON, for places where bytes are awkward."""

from __future__ import annotations

import json
from typing import Any

from deniable.core.mechanisms.base import Mechanism
from deniable.core.reports.report import Report
from deniable.core.wire.width import VERSION, check_output, check_recipe, check_report, check_version, output_bits
from deniable.errors import Malformed

_DIGITS = frozenset("0123456789abcdef")


def announcement(count: int) -> str:
    """The first line of a file of so many JSON lines, so that one that is cut at the end of a line is noticed.

    >>> announcement(3)
    '{"reports":3}\\n'
    """
    return f'{{"reports":{count}}}\n'


def report_to_json(mechanism: Mechanism, report: Report) -> str:
    """One report as JSON text; the output is a hexadecimal number, since it may exceed what JSON numbers hold.

    >>> from deniable.core import RandomizedResponse
    >>> mechanism = RandomizedResponse(epsilon=1)
    >>> report_to_json(mechanism, Report(mechanism.fingerprint, 1))[-14:]
    ',"output":"1"}'
    """
    output = check_report(mechanism, report)
    document = {"version": VERSION, "recipe": mechanism.fingerprint, "output": format(output, "x")}
    return json.dumps(document, separators=(",", ":"))


def report_from_json(mechanism: Mechanism, text: str | bytes) -> Report:
    """The report in this text. JSON leaves white space and the order of fields free; nothing else is."""
    document = parse_json(text, most=output_bits(mechanism.channel) // 4 + 1024)
    if not isinstance(document, dict) or set(document) != {"version", "recipe", "output"}:
        raise Malformed("a report in JSON has exactly the fields version, recipe and output")
    if type(document["version"]) is not int:
        raise Malformed("the version of a report must be a whole number")
    check_version(document["version"])
    check_recipe(mechanism, _hexadecimal("recipe", document["recipe"]))
    digits = _hexadecimal("output", document["output"])
    if digits[0] == "0" and digits != "0":
        raise Malformed("the output of a report is written without leading zeros")
    return Report(mechanism.fingerprint, check_output(mechanism.channel, int(digits, 16)))


def parse_json(text: str | bytes, *, most: int = 1 << 24) -> Any:
    """JSON with at most `most` characters, no repeated fields and no NaN: one text, one meaning."""
    if not isinstance(text, str | bytes):
        raise Malformed(f"JSON arrives as text, got {type(text).__name__}")
    if len(text) > most:
        raise Malformed(f"the JSON text is longer than the {most} characters it may have")
    try:
        return json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)
    except Malformed:
        raise
    except (ValueError, RecursionError):
        raise Malformed("the text is not JSON") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise Malformed("a field occurs twice in the JSON text")
    return document


def _refuse_constant(name: str) -> Any:
    raise Malformed(f"{name} is not JSON")


def _hexadecimal(field: str, value: object) -> str:
    """Lower-case hexadecimal digits, at least one."""
    if not isinstance(value, str) or not value or not _DIGITS.issuperset(value):
        raise Malformed(f"{field} must be text of hexadecimal digits in lower case")
    return value
