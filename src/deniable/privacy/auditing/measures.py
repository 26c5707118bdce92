"""What can be measured of a field: its value, its length, its digits and letters. One number per report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.privacy.auditing.fields import ROOT, Table
from deniable.privacy.auditing.octets import Octets, identities

MANY_VALUES = 256


@dataclass(frozen=True)
class Measure:
    """A number per report. Codes that only tell equal from different are not `ordered`."""

    name: str
    read: Callable[[Table], NDArray[Any]]
    ordered: bool = True

    def of(self, table: Table) -> NDArray[Any]:
        """The numbers; worked out once per table."""
        key = f"measure {self.name}"
        if key not in table.cache:
            table.cache[key] = self.read(table)
        numbers: NDArray[Any] = table.cache[key]
        return numbers


def measures(fit: Table) -> list[Measure]:
    """The measures that vary."""
    if "measures" not in fit.cache:
        fit.cache["measures"] = list(_measures(fit))
    varying: list[Measure] = fit.cache["measures"]
    return varying


def _measures(fit: Table) -> Iterator[Measure]:
    for name, column in fit.columns.items():
        label = "the report" if name == ROOT else name
        if isinstance(column, np.ndarray):
            codes = name.startswith(("type of ", "keys of ", "layout of "))
            if (codes or name.startswith("length of ")) and column.min() == column.max():
                continue
            yield Measure(label, partial(_number, name), ordered=not codes)
            if codes or column.dtype.kind == "b" or len(np.unique(column[: 4 * MANY_VALUES])) < MANY_VALUES:
                continue
            shapes = (("digits", digits), ("the first digit", first_digit)) if column.dtype.kind in "iu" else (("digits", written),)
            yield from _varying(fit, [Measure(f"{what} of {label}", partial(_shape, name, shape)) for what, shape in shapes])
            continue
        yield Measure(label, partial(_identity, name), ordered=False)
        described = [Measure(f"length of {label}", partial(_length, name))]
        if column.kind == "text":
            described += [Measure(f"{what} in {label}", partial(_letters, name, low, high)) for what, low, high in LETTERS]
        yield from _varying(fit, described)


LETTERS = (
    ("capitals", 65, 91),
    ("small letters", 97, 123),
    ("digits", 48, 58),
    ("white space", 1, 33),
    ("characters beyond ASCII", 128, 256),
)


def _varying(fit: Table, candidates: list[Measure]) -> Iterator[Measure]:
    for measure in candidates:
        seen = measure.of(fit)
        if seen.min() < seen.max():
            yield measure


def _number(name: str, table: Table) -> NDArray[Any]:
    column = table.columns.get(name)
    return column if isinstance(column, np.ndarray) else np.zeros(len(table), np.int64)


def _identity(name: str, table: Table) -> NDArray[Any]:
    column = table.columns.get(name)
    return identities(column).view(np.int64) if column is not None else np.zeros(len(table), np.int64)


def _length(name: str, table: Table) -> NDArray[Any]:
    column = table.columns.get(name)
    return column.lengths if isinstance(column, Octets) else np.zeros(len(table), np.int64)


def _letters(name: str, low: int, high: int, table: Table) -> NDArray[Any]:
    column = table.columns.get(name)
    if not isinstance(column, Octets):
        return np.zeros(len(table), np.int64)
    return np.asarray(((column.matrix >= low) & (column.matrix < high)).sum(axis=1), np.int64)


def _shape(name: str, shape: Callable[[NDArray[Any]], NDArray[Any]], table: Table) -> NDArray[Any]:
    return shape(_number(name, table))


def digits(values: NDArray[Any]) -> NDArray[Any]:
    """Decimal digits of whole numbers.

    >>> digits(np.array([0, 9, 10, 12345])).tolist()
    [1, 1, 2, 5]
    """
    sizes = np.abs(values.astype(np.float64))
    return np.searchsorted(10.0 ** np.arange(1, 21), sizes, side="right") + 1


def first_digit(values: NDArray[Any]) -> NDArray[Any]:
    """The leading decimal digit."""
    sizes = np.abs(values.astype(np.float64))
    return (sizes / 10.0 ** (digits(values) - 1)).astype(np.int64)


def written(values: NDArray[Any]) -> NDArray[Any]:
    """How many characters the shortest form of a float has."""
    return np.array([len(repr(value)) for value in values.astype(np.float64).tolist()], np.int64)
