"""Columns and frames of pandas, polars and Arrow are values like those of arrays and lists."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from deniable.batch import encode_many, randomize_many, unframed
from deniable.core import Binary, Categories, Circle, Interval, Mechanism, Record, Rectangle, Whole, make_mechanism
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.privacy import FixedKeystream


def chunked(values: Any) -> Any:
    """An Arrow column in two pieces."""
    half = len(values) // 2
    return pa.chunked_array([pa.array(values[:half]), pa.array(values[half:])])


COLUMNS: dict[str, Callable[[Any], Any]] = {
    "pandas": pd.Series,
    "pandas with another index": lambda values: pd.Series(values, index=range(len(values), 0, -1)),
    "pandas on Arrow": lambda values: pd.Series(values).convert_dtypes(dtype_backend="pyarrow"),
    "pandas nullable": lambda values: pd.Series(values).convert_dtypes(),
    "polars": pl.Series,
    "Arrow array": pa.array,
    "Arrow column": chunked,
}
FRAMES: dict[str, Callable[[Any], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "Arrow table": pa.table,
    "Arrow batch": pa.RecordBatch.from_pydict,
}
CASES: list[tuple[Mechanism, list[Any]]] = [
    (make_mechanism("randomized-response", domain=Binary(), epsilon=1), [True, False, True]),
    (make_mechanism("k-rr", domain=Categories(5), epsilon=1), [4, 0, 3, 3]),
    (make_mechanism("oue", domain=Categories(["cat", "dog", "bird"]), epsilon=1), ["dog", "dog", "bird", "cat"]),
    (make_mechanism("window", domain=Interval(0, 10, cells=7), epsilon=1), [0.0, 9.75, 1e-300, 10.0, 10 / 7]),
    (make_mechanism("circular-window", domain=Circle(360, cells=360), epsilon=1), [0, 359, 360, 17]),
]


@pytest.mark.parametrize("make", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize(("mechanism", "values"), CASES, ids=lambda case: getattr(case, "name", ""))
def test_a_column_gives_the_reports_of_its_values(make: Callable[[Any], Any], mechanism: Mechanism, values: list[Any]) -> None:
    many = values * 50
    assert encode_many(mechanism, make(many)).tolist() == [mechanism.encode(value) for value in many]
    reports = randomize_many(mechanism, make(many), FixedKeystream("column"))
    assert reports.ints() == randomize_many(mechanism, many, FixedKeystream("column")).ints()


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["dog", "cat"], dtype="category"),
        pl.Series(["dog", "cat"], dtype=pl.Categorical),
        pl.Series(["dog", "cat"], dtype=pl.Enum(["cat", "dog"])),
        pa.array(["dog", "cat"]).dictionary_encode(),
        pd.Series(["dog", "cat"], dtype=object),
    ],
    ids=["pandas", "polars", "enum", "Arrow", "objects"],
)
def test_columns_of_categories_give_their_names(column: Any) -> None:
    animals = make_mechanism("k-rr", domain=Categories(["cat", "dog"]), epsilon=1)
    assert encode_many(animals, column).tolist() == [1, 0]


def test_no_number_is_rounded_on_its_way() -> None:
    large = [0, 2**63 - 1, 2**53 + 1]
    numbers = make_mechanism("pem", domain=Whole(bits=64), epsilon=1)
    expected = [numbers.encode(value) for value in large]
    for make in (COLUMNS["pandas"], COLUMNS["polars"], COLUMNS["Arrow column"]):
        assert list(encode_many(numbers, make(large))) == expected
    # A whole column beside one of fractions: neither becomes the other.
    square = make_mechanism("nearest-cells", domain=Rectangle(Interval(0, 2**54, cells=8), Interval(0, 1, cells=8)), epsilon=1)
    edge = 2**54 // 8 * 5 - 1  # no double; the nearest one is in the next cell
    for frame in FRAMES.values():
        assert encode_many(square, frame({"x": [edge, 5], "y": [0.5, 0.25]})).tolist() == [
            square.encode((edge, Fraction(1, 2))),
            square.encode((5, Fraction(1, 4))),
        ]


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_frames_hold_records(make: Callable[[Any], Any]) -> None:
    domain = Record({"animal": Categories(["cat", "dog"]), "age": Interval(0, 30, cells=30)})
    mechanism = make_mechanism("product", domain=domain, epsilon=2)
    columns = {"age": [1.5, 12.0, 29.0], "animal": ["dog", "cat", "cat"]}
    reports = randomize_many(mechanism, make(columns), FixedKeystream("record"))
    assert reports.ints() == randomize_many(mechanism, columns, FixedKeystream("record")).ints()
    with pytest.raises(OutOfDomain, match="exactly animal, age"):
        randomize_many(mechanism, make({**columns, "name": ["a", "b", "c"]}))


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_frames_hold_places(make: Callable[[Any], Any]) -> None:
    square = make_mechanism("nearest-cells", domain=Rectangle(Interval(0, 1, cells=8), Interval(0, 1, cells=8)), epsilon=1)
    pairs = np.random.default_rng(1).random((40, 2))
    assert encode_many(square, make({"x": pairs[:, 0], "y": pairs[:, 1]})).tolist() == encode_many(square, pairs).tolist()
    with pytest.raises(OutOfDomain, match="one column"):
        randomize_many(square, make({"x": pairs[:, 0]}))


SECRET = 271828


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, None]),
        pd.Series([1, None], dtype="Int64"),
        pl.Series([1, None]),
        pa.array([1, None]),
        chunked([1, SECRET]),
        pd.Series([1, SECRET]),
        pl.Series([1, SECRET]),
        pl.Series([1.0, 2.0]),
        pd.Series([1, True], dtype=object),
        pl.Series(["a", "b"]),
        pl.Series([[1], [2]]),
        pd.Series(pd.to_datetime(["2020-01-01"])),
        pl.DataFrame({"answer": [1, 2]}),
        pd.DataFrame({"answer": [1, 2], "other": [1, 2]}),
    ],
    ids=lambda column: f"{type(column).__module__.split('.')[0]} {getattr(column, 'dtype', '')}",
)
def test_columns_with_bad_or_missing_values_are_refused_without_showing_them(column: Any) -> None:
    with pytest.raises(OutOfDomain) as caught:
        randomize_many(make_mechanism("k-rr", domain=Categories(5), epsilon=1), column)
    assert str(SECRET) not in str(caught.value)


@pytest.mark.parametrize("column", [pd.Series([0.5, None]), pl.Series([0.5, None]), pa.array([0.5, None])])
def test_missing_numbers_are_called_missing(column: Any) -> None:
    with pytest.raises(OutOfDomain, match="missing"):
        randomize_many(make_mechanism("window", epsilon=1), column)


def test_what_is_not_a_number_is_refused() -> None:
    with pytest.raises(OutOfDomain):
        randomize_many(make_mechanism("window", epsilon=1), pl.Series([0.5, float("nan")]))


def test_lazy_frames_are_to_be_collected_first() -> None:
    with pytest.raises(InvalidParameter, match="collect"):
        randomize_many(make_mechanism("k-rr", domain=Categories(5), epsilon=1), pl.LazyFrame({"a": [1]}))


def test_numbers_are_not_copied_one_by_one() -> None:
    for column in (pd.Series([1, 2], dtype="int32"), pl.Series([1, 2], dtype=pl.Int32), pa.array([1, 2], pa.int32())):
        assert unframed(column).dtype == np.int32
    assert unframed([1, 2]) == [1, 2]


def test_no_rows_give_no_reports() -> None:
    for column in (pd.Series([], dtype="int64"), pl.Series([], dtype=pl.Int64), pa.array([], pa.int64())):
        assert len(randomize_many(make_mechanism("k-rr", domain=Categories(5), epsilon=1), column)) == 0
