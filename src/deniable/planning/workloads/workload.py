"""Linear questions about a distribution: each is a row of numbers, one for every value."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import comb, lcm, prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Integers
from deniable.core import Number, as_fraction
from deniable.errors import InvalidParameter

MOST_VALUES = 1024
MOST_QUESTIONS = 1 << 20
LARGEST_ENTRY = 10**6
MOST_ATTRIBUTES = 20
EXACT_FLOATS = 1 << 53
NAMES = "prefix, ranges, histogram, marginals:K, marginals:all, or a .csv file with one question a line"


@dataclass(frozen=True, eq=False)
class Workload:
    """Questions W: what is asked about shares p is W p. Entries are `matrix * unit`, exactly.

    `products` is WᵀW in squared units: all that errors depend on. The matrix itself is made when it is asked for.

    >>> workload("prefix", 3).matrix.tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """

    name: str
    questions: int
    products: Integers
    make: Callable[[], Integers]
    unit: Fraction = Fraction(1)
    attributes: tuple[int, ...] | None = None
    """How many values each attribute has, where a value stands for a record (the last attribute changes fastest)."""

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.products)

    @cached_property
    def matrix(self) -> Integers:
        """One question a row, in units."""
        return self.make()

    @property
    def answers(self) -> NDArray[np.float64]:
        """The questions as floats."""
        return np.asarray(self.matrix * float(self.unit), np.float64)


def workload(name: str, size: int | None = None, *, attributes: Sequence[int] | None = None) -> Workload:
    """A workload by its name, or from a file.

    `marginals:K` are the K-way marginals of bits, as many as 2**bits = size, or of `attributes` with so many values each.

    >>> workload("marginals:2", 8).questions, workload("ranges", 4).questions
    (12, 10)
    """
    if not isinstance(name, str):
        raise InvalidParameter(f"workload must be a name: {NAMES}")
    if name.endswith(".csv"):
        return _from_file(name, size)
    if name.startswith("marginals:"):
        return _marginals(name, _sizes(size, attributes))
    if attributes is not None:
        raise InvalidParameter("attributes belong to the workload marginals:K only")
    if name not in ("prefix", "ranges", "histogram"):
        near = difflib.get_close_matches(name, ("prefix", "ranges", "histogram", "marginals:all"), n=1)
        raise InvalidParameter(
            f"workload must be one of {NAMES}; got {name[:40]!r}" + (f"; did you mean {near[0]}?" if near else "")
        )
    if size is None:
        raise InvalidParameter(f"size is missing: how many values there are, a whole number from 2 to {MOST_VALUES}")
    if isinstance(size, bool) or not isinstance(size, int) or not 2 <= size <= MOST_VALUES:
        raise InvalidParameter(f"size must be a whole number from 2 to {MOST_VALUES}: how many values there are")
    if name == "histogram":
        return Workload(name, size, np.eye(size, dtype=np.int64), lambda: np.eye(size, dtype=np.int64))
    place = np.arange(size)
    later = np.maximum.outer(place, place)
    if name == "prefix":
        # A prefix holds both values when it ends at the later one or after it.
        return Workload(name, size, size - later, lambda: np.tril(np.ones((size, size), np.int64)))
    both = (np.minimum.outer(place, place) + 1) * (size - later)
    return Workload(name, size * (size + 1) // 2, both, lambda: _every_range(size))


def custom_workload(rows: Iterable[Sequence[Number]], name: str = "custom") -> Workload:
    """A workload from its table: one question a row, one number for every value.

    >>> custom_workload([["0.5", 1], [0, "1/4"]]).unit
    Fraction(1, 4)
    """
    exact: list[list[Fraction]] = []
    for row in rows:
        numbers = [as_fraction(entry) for entry in row]
        if any(number is None for number in numbers) or (exact and len(numbers) != len(exact[0])):
            raise InvalidParameter("a workload needs rows of one length, made of finite numbers")
        exact.append([number for number in numbers if number is not None])
    if not exact or not 2 <= len(exact[0]) <= MOST_VALUES or len(exact) * len(exact[0]) > MOST_QUESTIONS * 8:
        raise InvalidParameter(f"a workload needs at least one question about 2 to {MOST_VALUES} values")
    unit = Fraction(1, lcm(*{number.denominator for row in exact for number in row}))
    whole = [[int(number / unit) for number in row] for row in exact]
    if max(abs(entry) for row in whole for entry in row) > LARGEST_ENTRY:
        raise InvalidParameter(
            f"the entries of a workload may be at most {LARGEST_ENTRY} times their common unit; use fewer digits"
        )
    matrix = np.array(whole, np.int64)
    if (matrix == matrix[:, :1]).all():
        raise InvalidParameter("every question of this workload has the same answer for all data; there is nothing to learn")
    return _given(name, matrix, unit)


def _given(name: str, matrix: Integers, unit: Fraction = Fraction(1)) -> Workload:
    largest = int(np.abs(matrix).max())
    if largest * largest * len(matrix) < EXACT_FLOATS:  # floats are then whole numbers, and many times as fast
        floats = matrix.astype(np.float64)
        return Workload(name, len(matrix), (floats.T @ floats).astype(np.int64), lambda: matrix, unit)
    return Workload(name, len(matrix), matrix.T @ matrix, lambda: matrix, unit)


def _every_range(size: int) -> Integers:
    first, last = np.triu_indices(size)
    place = np.arange(size)
    inside = (first[:, None] <= place) & (place <= last[:, None])
    return inside.astype(np.int64)


def _from_file(name: str, size: int | None) -> Workload:
    path = Path(name)
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            rows = [[cell.strip() for cell in row] for row in csv.reader(lines) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error):
        raise InvalidParameter(f"the workload file {path.name} cannot be read as UTF-8 text with comma-separated numbers") from None
    read = custom_workload(rows, path.name)
    if size is not None and read.size != size:
        raise InvalidParameter(f"size is {size}, but the rows of {path.name} have {read.size} numbers; leave size out")
    return read


def _sizes(size: int | None, attributes: Any) -> tuple[int, ...]:
    if attributes is not None:
        sizes = tuple(attributes)
        if not sizes or any(isinstance(one, bool) or not isinstance(one, int) or one < 2 for one in sizes):
            raise InvalidParameter("attributes must be whole numbers, at least 2 each: how many values every attribute has")
        if prod(sizes) > MOST_VALUES or size not in (None, prod(sizes)):
            raise InvalidParameter(f"the product of attributes must be size, at most {MOST_VALUES}")
        return sizes
    if size is None or isinstance(size, bool) or not isinstance(size, int) or not 2 <= size <= MOST_VALUES or size & (size - 1):
        raise InvalidParameter("marginals need a size that is a power of two (records of bits), or attributes=[…]")
    return (2,) * (size.bit_length() - 1)


def _marginals(name: str, sizes: tuple[int, ...]) -> Workload:
    text = name.removeprefix("marginals:")
    count = len(sizes)
    if text != "all" and (not text.isdecimal() or not 1 <= int(text) <= count):
        raise InvalidParameter(f"marginals:K needs K from 1 to {count}, the number of attributes, or 'all'")
    ways = range(count + 1) if text == "all" else [int(text)]
    tables = [chosen for way in ways for chosen in combinations(range(count), way)]
    cells = [prod(sizes[one] for one in chosen) for chosen in tables]
    records = np.array(list(product(*map(range, sizes))), np.int64)
    # A table has two records in one cell when they agree in its fields: that many tables lie within what they agree in.
    agreed = np.zeros((len(records), len(records)), np.int64)
    for field in records.T:
        agreed += field[:, None] == field
    together = np.array([sum(comb(same, way) for way in ways) for same in range(count + 1)], np.int64)

    def rows() -> Integers:
        every = [
            (records[:, list(chosen)] == np.array(cell, np.int64)).all(axis=1)
            for chosen in tables
            for cell in product(*(range(sizes[one]) for one in chosen))
        ]
        return np.array(every).astype(np.int64)

    return Workload(name, sum(cells), together[agreed], rows, attributes=sizes)


@dataclass(frozen=True, eq=False)
class Spread:
    """How people are spread over the values: positive whole weights; p is weights over their sum."""

    weights: tuple[int, ...]

    @property
    def total(self) -> int:
        """The sum of the weights."""
        return sum(self.weights)

    @property
    def shares(self) -> NDArray[np.float64]:
        """p as floats."""
        return np.array(self.weights, np.float64) / self.total


def spread(prior: Any, size: int) -> Spread:
    """'uniform', or positive weights, one for every value.

    >>> spread(["0.25", "0.75"], 2).weights
    (1, 3)
    """
    if isinstance(prior, str):
        if prior != "uniform":
            raise InvalidParameter("prior must be 'uniform' or a list of positive weights, one for every value")
        return Spread((1,) * size)
    exact = [as_fraction(weight) for weight in prior]
    positive = [weight for weight in exact if weight is not None and weight > 0]
    if len(positive) != size or len(exact) != size:
        raise InvalidParameter(f"prior must have {size} positive weights, one for every value")
    common = lcm(*(weight.denominator for weight in positive))
    whole = [int(weight * common) for weight in positive]
    if sum(whole) >= 1 << 40:
        raise InvalidParameter("the weights of prior must add up to less than 2**40 of their common unit; use fewer digits")
    return Spread(tuple(whole))


@dataclass(frozen=True, eq=False)
class Gram:
    """The workload for people spread like p: `centred * scale` = W'ᵀW' with W' = W − (W p)1ᵀ, in exact integers."""

    centred: NDArray[Any]
    scale: Fraction
    sampling: Fraction
    """What drawing the people adds: tr W (diag p − p pᵀ) Wᵀ."""
    squares: tuple[Fraction, ...]
    """‖W_x‖² after centring: a person's own part of what drawing adds."""

    @property
    def floats(self) -> NDArray[np.float64]:
        """The centred matrix."""
        return self.centred.astype(np.float64) * float(self.scale)


def gram(questions: Workload, people: Spread) -> Gram:
    """All that a design needs to know of a workload."""
    whole = questions.products.astype(object)
    weights = np.array(people.weights, dtype=object)
    total = people.total
    towards = whole @ weights
    centred = total * total * whole - total * (towards[:, None] + towards[None, :]) + int(weights @ towards)
    scale = questions.unit**2 / (total * total)
    squares = tuple(int(entry) * scale for entry in np.diagonal(centred))
    sampling = sum((square * weight for square, weight in zip(squares, people.weights, strict=True)), Fraction(0)) / total
    return Gram(centred, scale, sampling, squares)
