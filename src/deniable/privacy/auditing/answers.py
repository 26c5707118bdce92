"""What programs print and services send: the report in it, and the text itself, spaces and order of fields included."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.privacy.auditing.fields import Table, hashes, table_of
from deniable.privacy.auditing.octets import of_bytes

LONGEST = 1 << 16
"""Answers longer than so many bytes are not reports."""
TEXT = "the text"
LAYOUT_OF = 4096
"""Only the first so many bytes are looked at for their layout."""
TOKEN = re.compile(rb'("(?:[^"\\]|\\.)*")(\s*:)?|[0-9]+|[A-Za-z]+')


@dataclass(frozen=True, slots=True)
class Answer:
    """A report, the bytes it came in, what these bytes look like without their content, and their needless length."""

    report: Any
    raw: bytes
    layout: bytes
    spare: int
    head: str


def in_output(output: bytes, size: int, head: str = "") -> tuple[list[Answer], Counter[str]]:
    """The reports in what was printed: one per line, JSON or plain words. A single one may have several lines of JSON."""
    if size == 1 and len(output) > LONGEST:
        return [], Counter({"answered with too much": 1})
    try:
        output.decode()
    except UnicodeDecodeError:
        return [], Counter({"answered with something that is not text": size})
    lines = _with_empty_lines(output)
    if size == 1 and len(lines) > 1 and not isinstance(_parsed(output.decode()), str):
        lines = [output]
    if len(lines) != size:
        return [], Counter({"answered with another number of lines than values": size})
    known: dict[bytes, Answer] = {}
    return [known.get(line) or known.setdefault(line, _answer(line, head)) for line in lines], Counter()


def _with_empty_lines(output: bytes) -> list[bytes]:
    """The lines that hold something, each with the empty lines after it; the first one also with those before it."""
    lines: list[bytes] = []
    before = b""
    for line in output.splitlines(keepends=True):
        if line.strip():
            lines.append(before + line)
            before = b""
        elif lines:
            lines[-1] += line
        else:
            before += line
    return lines


def _answer(line: bytes, head: str) -> Answer:
    text = line.decode().strip()
    report = _parsed(text)
    plain = text if isinstance(report, str) and not text.startswith('"') else _compact(report)
    return Answer(report, line, layout(line), len(line) - len(plain.encode("utf-8", "surrogatepass")), head)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _compact(report: Any) -> str:
    return json.dumps(report, separators=(",", ":"), ensure_ascii=False)


def layout(line: bytes) -> bytes:
    """Keys, spaces and punctuation; what strings and numbers hold is left out.

    >>> layout(b'{"seed": 17, "tag":"ab"} ')
    b'{"seed": 0, "tag":""} '
    """
    return TOKEN.sub(_bare, line[:LAYOUT_OF])


def _bare(token: re.Match[bytes]) -> bytes:
    if token[2] is not None:
        return token[0]
    return b'""' if token[1] is not None else b"0" if token[0][:1].isdigit() else b"a"


def table_of_answers(answers: Sequence[Answer], places: NDArray[np.intp], positions: NDArray[np.intp]) -> Table:
    """The fields of the reports, and of the text around them."""
    table = table_of([answer.report for answer in answers], places, positions)
    if answers:
        table.columns[f"layout of {TEXT}"] = hashes(answer.layout for answer in answers)
        table.columns[f"spare length of {TEXT}"] = np.array([answer.spare for answer in answers], np.int64)
        table.columns[TEXT] = of_bytes([answer.raw for answer in answers], text=True)
        if any(answer.head for answer in answers):
            table.columns["the headers"] = of_bytes([answer.head.encode() for answer in answers], text=True)
    return table
