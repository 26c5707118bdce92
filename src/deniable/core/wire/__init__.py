"""Reports as bytes and as JSON, and back: versioned, strict, one encoding for one report. No I/O.

encode_report, decode_report          one report
encode_reports, decode_reports        many reports of one recipe, bit-packed
report_to_json, report_from_json      one report as text
parse_json                            JSON without the ambiguities: used for everything that arrives

The format is written down in docs/wire.md.
"""
