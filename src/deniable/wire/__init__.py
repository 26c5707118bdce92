"""Reports as bytes and as JSON, and back: versioned, strict, one encoding for one report. No I/O.

encode_report, decode_report          one report
encode_reports, decode_reports        many reports of one recipe, bit-packed
report_to_json, report_from_json      one report as text
parse_json                            JSON without the ambiguities: used for everything that arrives

The format is written down in docs/wire.md.
"""

from deniable.wire.batch import decode_reports, encode_reports
from deniable.wire.json_text import parse_json, report_from_json, report_to_json
from deniable.wire.single import decode_report, encode_report
from deniable.wire.width import VERSION, output_bits

__all__ = [
    "VERSION",
    "decode_report",
    "decode_reports",
    "encode_report",
    "encode_reports",
    "output_bits",
    "parse_json",
    "report_from_json",
    "report_to_json",
]
