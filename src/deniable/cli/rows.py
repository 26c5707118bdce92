"""Rows of private values from a CSV file."""

from __future__ import annotations

import csv
import difflib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TextIO

import click

from deniable.core import Disc, Domain, Points, Record, Rectangle, Text
from deniable.errors import Malformed, OutOfDomain
from deniable.surveys import parse_value


@dataclass(frozen=True, slots=True, repr=False)
class Row:
    """One private value, as text or already read, and the number of its row. Not shown: it is private."""

    number: int
    value: Any
    parsed: bool = False


def read_rows(domain: Domain, source: str, columns: tuple[str, ...]) -> list[Row]:
    """All rows of a CSV file with a header. The header is row 1, as in a spreadsheet."""
    problem = None
    with _text_of(source) as file:
        try:
            table = csv.reader(file)
            header = next(table, None)
            if not header:
                raise Malformed("the input must be a CSV file with a header line")
            wanted = wanted_columns(domain, header, columns)
            places = [column_number(domain, header, name) for name in wanted]
            return [_row(domain, number, cells, wanted, places) for number, cells in enumerate(table, start=2) if cells]
        except UnicodeDecodeError:
            problem = "the input must be text in UTF-8"
        except csv.Error:
            problem = "the input is not a well-formed CSV file"
    # Raised outside the handler: the original error holds a piece of the private input.
    raise Malformed(problem)


@contextmanager
def _text_of(source: str) -> Iterator[TextIO]:
    if source == "-":
        yield sys.stdin
        return
    with open(source, encoding="utf-8-sig", newline="") as file:
        yield file


def wanted_columns(domain: Domain, header: list[str], columns: tuple[str, ...], usual: Sequence[str] = ()) -> list[str]:
    """The columns of a domain's values: those asked for, else the usual ones, else the only one there is."""
    if isinstance(domain, Record):
        if columns:
            raise click.UsageError("a record takes its columns from the names of its fields; leave --column out")
        return list(domain.fields)
    wanted = list(columns or usual)
    if not wanted:
        refuse_values(domain, header)
        wanted = header if len(header) == 1 else []
    if not wanted:
        raise click.UsageError(f"--column must name one of the columns {', '.join(header)[:200]}")
    most = 2 if isinstance(domain, Rectangle | Disc | Points) else 1
    if len(wanted) > most:
        raise click.UsageError(f"this domain takes {'one or two columns' if most == 2 else 'one column'}, got {len(wanted)}")
    return wanted


def refuse_values(domain: Domain, header: list[str]) -> None:
    """A first line of values must not be taken for names of columns: the row would be lost, and an error would show it."""
    fields = tuple(domain.fields.values()) if isinstance(domain, Record) else (domain,)
    if any(_is_value(field, cell) for cell in header for field in fields):
        raise Malformed("the input's first line must name its columns, and it looks like values: add such a line above it")


def _is_value(domain: Domain, text: str) -> bool:
    """Is this a number, or a value of the domain? Every word is one of a domain of words, so there only numbers count."""
    with suppress(ValueError):
        float(text)
        return True
    if isinstance(domain, Text) or not text.strip():
        return False
    try:
        domain.encode(parse_value(domain, text))
    except OutOfDomain:
        return False
    return True


def column_number(domain: Domain, header: list[str], name: str) -> int:
    """Where a column stands."""
    if name not in header:
        refuse_values(domain, header)
        near = difflib.get_close_matches(name, header, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(header)[:200]}"
        raise click.UsageError(f"the input has no column {name[:60]!r}; {hint}")
    return header.index(name)


def _row(domain: Domain, number: int, cells: list[str], wanted: list[str], places: list[int]) -> Row:
    """A row that is too short or holds what cannot be read stays a row: it is refused later, by number."""
    texts = [cells[place] if place < len(cells) else "" for place in places]
    if isinstance(domain, Record):
        try:
            pairs = zip(wanted, texts, strict=True)
            return Row(number, {name: parse_value(domain.fields[name], text) for name, text in pairs}, parsed=True)
        except OutOfDomain:
            return Row(number, None, parsed=True)
    return Row(number, ",".join(texts))
