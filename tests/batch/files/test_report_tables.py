"""Reports in frames of pandas, polars and Arrow: the sums of the reports, and every bad row counted by its reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from deniable.batch import accumulator_for, randomize_many, read_reports
from deniable.core import Categories, make_mechanism
from deniable.errors import InvalidParameter, Malformed, WrongRecipe
from deniable.estimators import shares
from deniable.privacy import FixedKeystream

K_RR = make_mechanism("k-rr", domain=Categories(5), epsilon=1)
UNARY = make_mechanism("oue", domain=Categories(100), epsilon=1)
FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "Arrow": pa.table}
every_frame = pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)


@every_frame
def test_numbers_in_a_column_are_outputs(make: Callable[[dict[str, Any]], Any]) -> None:
    reports = randomize_many(K_RR, np.arange(200_000) % 5, FixedKeystream(1))
    for outputs in (reports.outputs, reports.outputs.astype(np.int64)):
        intake = read_reports(K_RR, [make({"output": outputs})], strict=True)
        assert intake.accumulator == accumulator_for(K_RR).add(reports)
    assert shares(intake.accumulator).value.tolist() == shares(reports).value.tolist()


@every_frame
def test_text_in_a_column_is_outputs(make: Callable[[dict[str, Any]], Any]) -> None:
    reports = randomize_many(UNARY, np.arange(500) % 100, FixedKeystream(1))
    for base, form in ((16, "x"), (10, "d")):
        frame = make({"n": [1] * 500, "answer": [format(output, form) for output in reports.ints()]})
        intake = read_reports(UNARY, [frame], column="answer", base=base, strict=True)
        assert intake.accumulator == accumulator_for(UNARY).add(reports)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["1", "4", "1"], dtype="category"),
        pd.Series(["1", "4", "1"], dtype=object),
        pd.Series([1, 4, 1], dtype="category"),
        pd.Series([1, 4, 1], dtype=object),
        pd.Series([1, 4, 1], dtype="Int64"),
        pd.Series([1, 4, 1], dtype="uint8[pyarrow]"),
    ],
    ids=lambda column: str(column.dtype),
)
def test_columns_of_any_kind_of_whole_number_or_text_will_do(column: Any) -> None:
    assert read_reports(K_RR, [pd.DataFrame({"output": column})], strict=True).accumulator.sums.tolist() == [0, 2, 0, 0, 1]


@every_frame
def test_bad_rows_of_frames_are_counted_by_reason(make: Callable[[dict[str, Any]], Any]) -> None:
    mine, other = K_RR.fingerprint, make_mechanism("k-rr", domain=Categories(6), epsilon=1).fingerprint
    frame = make({"output": ["1", "7", None, "x", "4", "2"], "recipe": [mine] * 5 + [other]})
    intake = read_reports(K_RR, [frame])
    assert (intake.n, intake.refused) == (2, {"out of range": 1, "unreadable": 2, "of another recipe": 1})
    with pytest.raises(WrongRecipe, match="frame 1, row 1"):
        read_reports(K_RR, [make({"output": [1], "recipe": [other]})], strict=True)
    with pytest.raises(Malformed, match=r"frame 2, row 2: .* out of range"):
        read_reports(K_RR, [make({"output": [1]}), make({"output": [0, 9, 1]})], strict=True)


def test_missing_whole_numbers_are_unreadable() -> None:
    for frame in (pd.DataFrame({"output": pd.array([1, None], "Int64")}), pl.DataFrame({"output": [1, None]})):
        assert read_reports(K_RR, [frame]).refused == {"unreadable": 1}


def test_rows_far_down_are_named_by_their_number() -> None:
    outputs = np.ones(150_000, np.int64)
    outputs[140_000] = 99
    with pytest.raises(Malformed, match="row 140001:"):
        read_reports(K_RR, [pl.DataFrame({"output": outputs})], strict=True)


def test_frames_and_files_add_up(tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text("output\n1\n2\n", encoding="utf-8")
    intake = read_reports(K_RR, [pl.DataFrame({"output": [0, 0]}), tmp_path / "more.csv", pa.table({"output": [4]})])
    assert intake.accumulator.sums.tolist() == [2, 1, 1, 0, 1]


def test_what_holds_no_reports_is_refused() -> None:
    for frame, message in [
        (pd.DataFrame({"output": [1.0, None]}), "Float64"),
        (pl.DataFrame({"output": [True]}), "Boolean"),
        (pd.DataFrame({"output": pd.Series([1, "2"], dtype=object)}), "whole numbers or text"),
    ]:
        with pytest.raises(Malformed, match=message):
            read_reports(K_RR, [frame])
    wrong: list[tuple[Any, str]] = [
        ([pl.DataFrame({"ouput": [1]})], "did you mean ouput"),
        ([pl.LazyFrame({"output": [1]})], "collect"),
        ([np.array([1])], "ndarray"),
        (pl.DataFrame({"output": [1]}), "list"),
        ("reports.csv", "list"),
    ]
    for sources, message in wrong:
        with pytest.raises(InvalidParameter, match=message):
            read_reports(K_RR, sources)
