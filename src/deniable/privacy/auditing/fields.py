"""Reports taken apart into fields: the elements of lists and tuples, the values of dictionaries, at every depth.

A field is a column of numbers, or of bytes (text, byte strings and whole numbers of any size). What is not a value has a
column too: the types, the order of the keys, the length of lists.
"""

from __future__ import annotations

import dataclasses
import re
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.privacy.auditing.octets import Octets, identities, of_bytes, of_wholes

Numbers = NDArray[Any]
Column = Numbers | Octets

ROOT = "report"
MOST_FIELDS = 4096
MOST_KEYS = 256
DEEPEST = 8
EXACT_FLOAT = 1 << 53
SEPARATORS = re.compile(r"[^0-9A-Za-z]+", re.ASCII)
MOST_WORDS = 32
LONGEST_NUMBER = 100
"""Longer runs of digits stay text."""


class Table:
    """Reports of a run, field by field, and for each the number of its test value and its place in the run."""

    def __init__(
        self, columns: dict[str, Column], places: NDArray[np.intp], positions: NDArray[np.intp], given: NDArray[Any] | None = None
    ) -> None:
        self.columns = columns
        self.places = places
        self.positions = positions
        self.given = given
        """The array a function gave, where it gave one."""
        self.cache: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self.places)

    def rows(self, chosen: slice | NDArray[Any]) -> Table:
        """The chosen reports, with their test values and positions."""
        return Table(
            {name: column[chosen] for name, column in self.columns.items()},
            self.places[chosen],
            self.positions[chosen],
            None if self.given is None else self.given[chosen],
        )

    def numbers(self) -> Numbers:
        """The reports as one array, when they are numbers or equally long rows of numbers."""
        if self.given is not None and self.given.dtype.kind in "biuf":
            return self.given
        plain = self.columns.get(ROOT)
        if isinstance(plain, np.ndarray) and f"type of {ROOT}" not in self.columns:
            return plain
        lengths = self.columns.get(f"length of {ROOT}")
        size = int(lengths[0]) if isinstance(lengths, np.ndarray) and np.all(lengths == lengths[0]) else 0
        columns = [self.columns.get(f"{ROOT}[{place}]") for place in range(size)]
        if columns and all(isinstance(column, np.ndarray) for column in columns):
            return np.column_stack([column for column in columns if isinstance(column, np.ndarray)])
        raise InvalidParameter("this test needs reports that are numbers or equally long rows of numbers")

    def whole(self) -> NDArray[np.uint64]:
        """One number per report, equal for equal reports."""
        if "whole" not in self.cache:
            mixed = np.zeros(len(self), np.uint64)
            for column in self.columns.values():
                mixed = (mixed ^ identities(column)) * np.uint64(0x9E3779B97F4A7C15)
                mixed ^= mixed >> np.uint64(29)
            self.cache["whole"] = mixed
        codes: NDArray[np.uint64] = self.cache["whole"]
        return codes


def joined(tables: Sequence[Table]) -> Table:
    """Runs one after the other; a field that one of them lacks is empty there."""
    if len(tables) == 1:
        return tables[0]
    names = list(dict.fromkeys(name for table in tables for name in table.columns))
    given = [table.given for table in tables if table.given is not None]
    return Table(
        {name: _stacked([(table.columns.get(name), len(table)) for table in tables]) for name in names},
        np.concatenate([table.places for table in tables]),
        np.concatenate([table.positions for table in tables]),
        np.concatenate(given) if len(given) == len(tables) and len({part.shape[1:] for part in given}) == 1 else None,
    )


def _stacked(parts: list[tuple[Column | None, int]]) -> Column:
    known = [part for part, _ in parts if part is not None]
    if all(isinstance(part, np.ndarray) for part in known):
        return np.concatenate([np.zeros(count) if part is None else part for part, count in parts])
    return Octets.stacked([part if isinstance(part, Octets) else of_bytes([b""] * count) for part, count in parts])


def table_of(reports: Sequence[Any], places: NDArray[np.intp], positions: NDArray[np.intp]) -> Table:
    """A table from Python objects.

    >>> rows = table_of([(3, "a"), (4, "b")], np.zeros(2, np.intp), np.arange(2))
    >>> list(rows.columns)
    ['length of report', 'report[0]', 'report[1]']
    """
    columns: dict[str, Column] = {}
    if len(reports):
        _take(ROOT, list(reports), np.arange(len(reports)), len(reports), columns, 0)
    return Table(columns, places, positions)


def table_of_array(reports: NDArray[Any], places: NDArray[np.intp], positions: NDArray[np.intp]) -> Table:
    """A table from an array with one report per row."""
    if reports.dtype.names:
        return table_of(reports.tolist(), places, positions)
    if reports.dtype.kind not in "biuf":
        table = table_of([row.tolist() if isinstance(row, np.ndarray) else row for row in reports], places, positions)
        table.given = reports
        return table
    columns: dict[str, Column] = {ROOT: reports}
    if reports.ndim == 2:
        columns = {f"{ROOT}[{place}]": reports[:, place] for place in range(min(reports.shape[1], MOST_FIELDS))}
    return Table(columns, places, positions, reports)


def _take(name: str, values: list[Any], rows: NDArray[np.intp], total: int, columns: dict[str, Column], depth: int) -> None:
    """Add the columns of one field; `rows` says which reports have it."""
    groups: dict[str, list[int]] = {}
    types = set(map(type, values))
    names = {kind: _group(kind) for kind in types}
    for kind in types:
        groups.setdefault(names[kind], [])
    if len(groups) == 1:
        groups[next(iter(groups))] = list(range(len(values)))
    else:
        for place, value in enumerate(values):
            groups[names[type(value)]].append(place)
    if len(types) > 1:
        codes = {kind: zlib.crc32(kind.__name__.encode()) for kind in types}
        columns[f"type of {name}"] = _placed(np.array([codes[type(value)] for value in values], np.int64), rows, total)
    for group, members in groups.items():
        kept = [values[place] for place in members] if len(groups) > 1 else values
        where = rows[np.array(members, np.intp)] if len(groups) > 1 else rows
        label = name if len(groups) == 1 or group == "number" else f"{name} as {group}"
        if group in ("list", "dict", "object") and (depth >= DEEPEST or len(columns) >= MOST_FIELDS):
            kept, group = [str(value) for value in kept], "text"
        if group == "number":
            columns[label] = _placed(_numbers(kept), where, total)
        elif group == "text":
            texts = [str(value) for value in kept]
            columns[label] = _placed(of_bytes([text.encode("utf-8", "surrogatepass") for text in texts], text=True), where, total)
            _words(label, texts, where, total, columns)
        elif group == "bytes":
            columns[label] = _placed(of_bytes([bytes(value) for value in kept]), where, total)
        elif group == "list":
            _elements(label, [_listed(value) for value in kept], where, total, columns, depth)
        elif group == "dict":
            _entries(label, kept, where, total, columns, depth)
        elif group == "object":
            _entries(label, [_parts(value) for value in kept], where, total, columns, depth)


def _words(name: str, texts: list[str], rows: NDArray[np.intp], total: int, columns: dict[str, Column]) -> None:
    """What stands between the punctuation of a text, where all have equally many words and not all at the same places."""
    words = [SEPARATORS.split(text) for text in texts]
    count = len(words[0])
    if not 2 <= count <= MOST_WORDS or any(len(parts) != count for parts in words):
        return
    if len({tuple(map(len, parts[:-1])) for parts in words}) == 1:
        return  # every character of the text has its own place, and no word can be found that its characters do not show
    for place in range(count):
        parts = [text[place] for text in words]
        whole = all(part.isascii() and part.isdigit() and len(part) <= LONGEST_NUMBER for part in parts)
        column = _numbers([int(part) for part in parts]) if whole else of_bytes([part.encode() for part in parts], text=True)
        columns[f"word {place + 1} of {name}"] = _placed(column, rows, total)


def _group(kind: type) -> str:
    if issubclass(kind, bool | int | float | np.bool_ | np.integer | np.floating):
        return "number"
    if issubclass(kind, bytes | bytearray | memoryview | np.void):
        return "bytes"
    if issubclass(kind, list | tuple | set | frozenset | np.ndarray):
        return "list"
    if issubclass(kind, dict):
        return "dict"
    if issubclass(kind, complex | np.complexfloating) or dataclasses.is_dataclass(kind):
        return "object"
    return "nothing" if kind is type(None) else "text"


def _listed(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return list(value.tolist()) if value.ndim else [value.item()]
    return sorted(value, key=str) if isinstance(value, set | frozenset) else list(value)


def _parts(value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return {"real": value.real, "imag": value.imag}


def _elements(
    name: str, values: list[list[Any]], rows: NDArray[np.intp], total: int, columns: dict[str, Column], depth: int
) -> None:
    lengths = np.array([len(value) for value in values], np.int64)
    columns[f"length of {name}"] = _placed(lengths, rows, total)
    for place in range(min(int(lengths.max()), MOST_FIELDS)):
        have = np.flatnonzero(lengths > place)
        inner = [values[row][place] for row in have] if len(have) < len(values) else [value[place] for value in values]
        _take(f"{name}[{place}]", inner, rows[have], total, columns, depth + 1)
        if len(columns) >= MOST_FIELDS:
            return


def _entries(
    name: str, values: list[dict[Any, Any]], rows: NDArray[np.intp], total: int, columns: dict[str, Column], depth: int
) -> None:
    seen: dict[tuple[Any, ...], int] = {}
    orders = [seen.setdefault(tuple(value), len(seen)) for value in values]
    codes = np.array([zlib.crc32(repr(keys).encode()) for keys in seen], np.int64)
    columns[f"keys of {name}"] = _placed(codes[np.array(orders, np.intp)], rows, total)
    keys = list(dict.fromkeys(key for order in seen for key in order))
    if len(keys) > MOST_KEYS:
        _elements(name, [[part for item in value.items() for part in item] for value in values], rows, total, columns, depth)
        return
    for key in keys:
        have = np.array([place for place, value in enumerate(values) if key in value], np.intp)
        _take(f"{name}.{key}", [values[place][key] for place in have], rows[have], total, columns, depth + 1)


def _numbers(values: list[Any]) -> Column:
    wholes = [value for value in values if not isinstance(value, float | np.floating)]
    if len(wholes) < len(values) and all(abs(int(value)) <= EXACT_FLOAT for value in wholes):
        return np.array(values, np.float64)
    if len(wholes) < len(values):
        return of_bytes([str(value).encode() for value in values], text=True)
    low, high = int(min(values)), int(max(values))
    if low >= -(1 << 63) and high < 1 << 63:
        return np.array(values, np.int64)
    return np.array(values, np.uint64) if low >= 0 and high < 1 << 64 else of_wholes([int(value) for value in values])


def _placed(column: Column, rows: NDArray[np.intp], total: int) -> Column:
    """The column for all reports: zero or empty where the field is missing."""
    if len(rows) == total:
        return column
    if isinstance(column, Octets):
        return column.placed(rows, total)
    full = np.zeros(total, column.dtype)
    full[rows] = column
    return full


def hashes(texts: Iterable[bytes]) -> NDArray[np.int64]:
    """A number per text, the same in every run."""
    return np.array([zlib.crc32(text) for text in texts], np.int64)
