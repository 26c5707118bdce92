"""Records of numbers from a CSV file, and which of their columns are sensitive."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from deniable.errors import InvalidDomain, InvalidParameter, Malformed

if TYPE_CHECKING:
    from deniable.studies import Feature


@dataclass(frozen=True, repr=False)
class Table:
    """Rows of text under names; `numbered` are the rows' places in the file, the header is row 1."""

    names: tuple[str, ...]
    cells: list[list[str]]
    numbered: list[int]
    labels: list[str] | None = None

    def head(self, count: int) -> Table:
        """The first rows."""
        return self._rows(range(min(count, len(self.cells))))

    def only(self, place: int) -> Table:
        """One row; 1 is the first below the header."""
        if not 1 <= place <= len(self.cells):
            raise InvalidParameter(f"--row must be from 1 to {len(self.cells)}")
        return self._rows([place - 1])

    def _rows(self, places: Sequence[int]) -> Table:
        return replace(
            self,
            cells=[self.cells[i] for i in places],
            numbered=[self.numbered[i] for i in places],
            labels=None if self.labels is None else [self.labels[i] for i in places],
        )

    def chosen(self, names: Sequence[str]) -> Table:
        """Some of the columns, in this order."""
        places = [self.names.index(name) for name in names]
        return replace(self, names=tuple(names), cells=[[row[place] for place in places] for row in self.cells])

    def numbers(self) -> list[list[float]]:
        """All cells as numbers."""
        rows = zip(self.cells, self.numbered, strict=True)
        return [[_number(cell, name, place) for cell, name in zip(row, self.names, strict=True)] for row, place in rows]


def read_table(path: str, *, label: str | None = None) -> Table:
    """All rows of a CSV file; the column `label` is kept apart."""
    problem = ""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            lines = list(csv.reader(file))
    except UnicodeDecodeError:
        problem = "the data must be text in UTF-8"
    except csv.Error:
        problem = "the data is not a well-formed CSV file"
    # Raised outside the handler: the original error holds a piece of the private input.
    if problem:
        raise Malformed(problem)
    if not lines or not lines[0] or len(lines) < 2:
        raise Malformed("the data must be a CSV file with a header line and at least one row")
    header = [name.strip() for name in lines[0]]
    if len(set(header)) != len(header):
        raise Malformed("the data has two columns of one name")
    if label is not None and label not in header:
        raise InvalidParameter(f"--label: the data has no column {label[:60]!r}; there are {', '.join(header)[:200]}")
    kept = [i for i, name in enumerate(header) if name != label]
    rows = [([*cells, *[""] * (len(header) - len(cells))], place) for place, cells in enumerate(lines[1:], start=2) if cells]
    return Table(
        tuple(header[i] for i in kept),
        [[cells[i] for i in kept] for cells, _ in rows],
        [place for _, place in rows],
        None if label is None else [cells[header.index(label)].strip() for cells, _ in rows],
    )


def _number(cell: str, name: str, place: int) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise Malformed(
            f"{name[:60]} in row {place} is missing or not a number (not shown: it may be private); drop or fill that row first"
        )
    return number


def parse_sensitive(text: str, names: Sequence[str]) -> dict[str, Feature]:
    """Age=0:100,BMI into features with public ranges; 0:1 where none is given. "all" means every column."""
    from deniable.studies import Feature

    features: dict[str, Feature] = {}
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) == 1 and parts[0].split("=")[0] == "all" and "all" not in names:
        parts = [parts[0].replace("all", name, 1) for name in names]
    for part in parts:
        name, _, span = part.partition("=")
        if name in features:
            raise InvalidParameter(f"--sensitive names {name[:60]!r} twice")
        ends = span.split(":") if span else ["0", "1"]
        if len(ends) != 2:
            raise InvalidDomain(f"--sensitive: the range of {name[:60]!r} must be LOW:HIGH, for example {name[:60]}=0:100")
        features[name] = Feature(ends[0].strip(), ends[1].strip())
    if not features:
        raise InvalidParameter("--sensitive must name at least one feature, for example --sensitive Age=0:100,BMI=10:60")
    return features
