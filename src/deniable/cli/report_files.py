"""Reports as CSV, as JSON lines and as a binary batch."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import click

from deniable.core import Mechanism, Report, announcement, encode_reports, report_to_json

FORMATS = ("csv", "json", "binary")


def write_reports(mechanism: Mechanism, outputs: list[int], path: str | None, kind: str) -> None:
    """Write reports to a file, or to standard output.

    csv has one line per report (the output in hexadecimal, and what it stands for), json one wire
    document per line, binary one wire batch. A file of JSON lines begins with one that says how many follow.
    """
    if kind == "binary":
        data = encode_reports(mechanism, (Report(mechanism.fingerprint, output) for output in outputs))
        _write_bytes(data, path)
        return
    text = _csv(mechanism, outputs) if kind == "csv" else _json_lines(mechanism, outputs)
    if path is None:
        click.echo(text, nl=False)
    else:
        Path(path).write_text((announcement(len(outputs)) if kind == "json" else "") + text, encoding="utf-8", newline="")


def _write_bytes(data: bytes, path: str | None) -> None:
    if path is not None:
        Path(path).write_bytes(data)
    elif sys.stdout.isatty():
        raise click.UsageError("binary reports are not for the terminal; use --output FILE or a pipe")
    else:
        click.echo(data, nl=False)


def _csv(mechanism: Mechanism, outputs: list[int]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["output", "value"])
    for output in outputs:
        value = mechanism.decode(output)
        writer.writerow([format(output, "x"), value if isinstance(value, str | int | float) else json.dumps(value, default=str)])
    return text.getvalue()


def _json_lines(mechanism: Mechanism, outputs: list[int]) -> str:
    lines = (report_to_json(mechanism, Report(mechanism.fingerprint, output)) for output in outputs)
    return "".join(f"{line}\n" for line in lines)
