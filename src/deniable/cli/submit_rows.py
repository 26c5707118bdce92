"""Rows of a CSV, JSON lines or Parquet file as answers to a survey; what cannot be sent is said by row, column and reason."""

from __future__ import annotations

import csv
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deniable.cli.rows import column_number, wanted_columns
from deniable.core import ItemSet, KeyValue, Record
from deniable.errors import Malformed, MissingPackage, OutOfDomain
from deniable.surveys import Survey, parse_value

MISSING, OUTSIDE = "is missing", "is outside the survey's domain"
Refusal = tuple[str, str]
"""A column, and what is wrong with it."""


@dataclass(slots=True, repr=False)
class Answered:
    """One row: its number as a spreadsheet counts, its identity, and a value, or why there is none. Not shown: it is private."""

    number: int
    identity: str
    value: Any = None
    missing: tuple[str, ...] = ()
    """Questions without an answer, where the survey picks one question at random."""
    refused: Refusal | None = None


@dataclass(repr=False)
class Table:
    """A header and rows of text; `digest` is the whole file's when all rows were read."""

    header: list[str]
    rows: Iterable[tuple[int, list[str]]]
    digest: Any = field(default_factory=hashlib.sha256)


def read_answers(survey: Survey, source: str, columns: tuple[str, ...], identity: str | None) -> tuple[list[Answered], bytes]:
    """All rows of a file, and a digest of everything in it."""
    problem = None
    try:
        table = _table(source)
        usual = survey.names if survey.names[0] in table.header else ()
        domain = survey.mechanism.domain
        wanted = wanted_columns(domain, table.header, columns, usual)
        places = [column_number(domain, table.header, name) for name in wanted]
        named = None if identity is None else column_number(domain, table.header, identity)
        digest = hashlib.sha256(json.dumps(table.header).encode())
        answered: list[Answered] = []
        for number, cells in table.rows:
            digest.update(json.dumps(cells).encode())
            texts = [cells[place] if place < len(cells) else "" for place in places]
            who = cells[named] if named is not None and named < len(cells) else ""
            answered.append(_answered(survey, number, who, dict(zip(wanted, texts, strict=True)), asked=identity))
        return answered, digest.digest()
    except UnicodeDecodeError:
        problem = "the input must be text in UTF-8"
    except (csv.Error, json.JSONDecodeError):
        problem = "the input is not a well-formed file of its kind"
    # Raised outside the handler: the original error holds a piece of the private input.
    raise Malformed(problem)


def _answered(survey: Survey, number: int, who: str, cells: dict[str, str], *, asked: str | None) -> Answered:
    row = Answered(number, who)
    if asked is not None and not who.strip():
        row.refused = (asked, MISSING)
        return row
    domain = survey.mechanism.domain
    record = domain if isinstance(domain, Record) and survey.strategy is not None else None
    fields = {} if record is None else {name: (record.fields[name], cells[name]) for name in cells}
    if not fields:
        fields = {next(iter(cells)): (domain, ",".join(cells.values()))}
    values: dict[str, Any] = {}
    missing = []
    for name, (part, text) in fields.items():
        if not text.strip(" ,"):
            missing.append(name)
            continue
        try:
            values[name] = parse_value(part, text)
            mechanism = survey.parts.get(name, survey.mechanism)
            mechanism.encode(values[name])
        except OutOfDomain:
            row.refused = row.refused or (name, OUTSIDE)
    partial = survey.strategy == "sample-one" and values
    if missing and not partial:
        row.refused = row.refused or (missing[0], MISSING)
    row.missing = tuple(missing)
    if row.refused is None:
        row.value = values if record is not None else next(iter(values.values()))
    return row


def _table(source: str) -> Table:
    if source != "-" and Path(source).suffix.lower() in (".parquet", ".pq"):
        return _parquet(source)
    lines = sys.stdin if source == "-" else _lines(source)
    if Path(source).suffix.lower() in (".jsonl", ".ndjson"):
        return _json_lines(lines)
    rows = csv.reader(lines)
    header = next(rows, None)
    if not header:
        raise Malformed("the input must be a CSV file with a header line, JSON lines (.jsonl) or Parquet (.parquet)")
    return Table(header, ((number, cells) for number, cells in enumerate(rows, start=2) if cells))


def _lines(source: str) -> Iterator[str]:
    with open(source, encoding="utf-8-sig", newline="") as file:
        yield from file


def _json_lines(lines: Iterable[str]) -> Table:
    rows = [(number, json.loads(line)) for number, line in enumerate(lines, start=1) if line.strip()]
    if not rows or not all(isinstance(row, dict) for _, row in rows):
        raise Malformed('every line of a .jsonl file must be an object, such as {"commute": "bus"}')
    header = list(dict.fromkeys(name for _, row in rows for name in row))
    return Table(header, [(number, [_text(row.get(name)) for name in header]) for number, row in rows])


def _parquet(source: str) -> Table:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingPackage("Parquet files need pyarrow: pip install 'deniable[files]'") from None
    problem = None
    try:
        file = parquet.ParquetFile(source)
    except (OSError, ValueError):  # pyarrow's own errors are of these kinds
        problem = "the input is not a Parquet file"
    if problem is not None:
        raise Malformed(problem)
    header = [str(name) for name in file.schema_arrow.names]

    def rows() -> Iterator[tuple[int, list[str]]]:
        number = 0
        for batch in file.iter_batches():
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                number += 1
                yield number, [_text(cell) for cell in row]

    return Table(header, rows())


def _text(cell: Any) -> str:
    """A cell as it would stand in a CSV file; nothing for nothing."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool):
        return str(int(cell))
    if isinstance(cell, list | dict):  # items of a set, or numbers by key, of which a Parquet file names the missing ones, too
        given = {key: number for key, number in cell.items() if number is not None} if isinstance(cell, dict) else cell
        return json.dumps(given)
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def left_empty(survey: Survey, rows: Iterable[Answered]) -> list[str]:
    """The questions about sets of items, or numbers by key, that some rows leave empty."""
    domain = survey.mechanism.domain
    asked = (
        dict(domain.fields) if isinstance(domain, Record) and survey.strategy is not None else dict.fromkeys(survey.names, domain)
    )
    sets = {name for name, part in asked.items() if isinstance(part, ItemSet | KeyValue)}
    empty = {name for row in rows for name in row.missing}
    return [name for name in asked if name in sets & empty]


def by_reason(rows: Iterable[Answered]) -> dict[Refusal, list[int]]:
    """The numbers of the rows that cannot be sent, by column and reason."""
    numbers: dict[Refusal, list[int]] = {}
    for row in rows:
        if row.refused is not None:
            numbers.setdefault(row.refused, []).append(row.number)
    return dict(sorted(numbers.items()))
