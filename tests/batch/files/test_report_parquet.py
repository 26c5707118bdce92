"""Parquet files of reports: a column of recipes costs next to nothing, and what is damaged is named and counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from deniable.batch import Reports, accumulator_for, randomize_many, read_reports
from deniable.core import Categories, make_mechanism
from deniable.errors import Malformed, WrongRecipe
from deniable.privacy import FixedKeystream

K_RR = make_mechanism("k-rr", domain=Categories(5), epsilon=1)
MINE, OTHER = K_RR.fingerprint, make_mechanism("k-rr", domain=Categories(6), epsilon=1).fingerprint
COUNT = 300_000


def to_parquet(table: pa.Table, path: Path) -> None:
    parquet.write_table(table, path, row_group_size=120_000)


def to_parquet_without_statistics(table: pa.Table, path: Path) -> None:
    parquet.write_table(table, path, row_group_size=120_000, write_statistics=False, use_dictionary=False)


def to_arrow(table: pa.Table, path: Path) -> None:
    with ipc.new_file(path, table.schema) as file:
        file.write_table(table)


def to_arrow_with_a_dictionary(table: pa.Table, path: Path) -> None:
    recipes = table.column("recipe").combine_chunks().dictionary_encode()
    to_arrow(table.set_column(1, "recipe", recipes.cast(pa.dictionary(pa.int8(), pa.string()))), path)


WRITERS = [to_parquet, to_parquet_without_statistics, to_arrow, to_arrow_with_a_dictionary]


def drawn(count: int = COUNT) -> Reports:
    return randomize_many(K_RR, np.arange(count) % 5, FixedKeystream(3))


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
@pytest.mark.parametrize("gaps", [False, True], ids=["outputs in every row", "with empty outputs"])
def test_rows_of_other_recipes_are_left_out_and_counted(
    tmp_path: Path, write: Callable[[pa.Table, Path], None], gaps: bool
) -> None:
    reports = drawn()
    recipes: list[str | None] = [MINE] * COUNT
    for place in range(100_000, COUNT, 1000):
        recipes[place] = OTHER
    recipes[250_007] = None
    outputs: list[int | None] = [*reports.ints()]
    kept = np.array([recipe == MINE for recipe in recipes])
    if gaps:
        # One of the empty outputs is in a row of another recipe, which is refused for that alone.
        for place in (5, 100_000, 200_001):
            outputs[place] = None
            kept[place] = False
    path = tmp_path / ("a.parquet" if "parquet" in write.__name__ else "a.arrow")
    write(pa.table({"output": pa.array(outputs, pa.int64()), "recipe": recipes}), path)
    intake = read_reports(K_RR, [path])
    assert intake.refused == {"of another recipe": 201, **({"unreadable": 2} if gaps else {})}
    assert intake.accumulator == accumulator_for(K_RR).add(Reports(K_RR, reports.outputs[kept]))
    first = (Malformed, "row 6: ") if gaps else (WrongRecipe, "row 100001: ")
    with pytest.raises(first[0], match=first[1]):
        read_reports(K_RR, [path], strict=True)


def test_rows_after_those_left_out_are_named_by_their_own_number(tmp_path: Path) -> None:
    outputs = np.ones(50_000, np.int64)
    outputs[40_000] = 5
    for strange, empty in ((OTHER, 1), (MINE, None)):
        table = pa.table({"output": pa.array([empty, *outputs[1:].tolist()], pa.int64()), "recipe": [strange] + [MINE] * 49_999})
        to_parquet(table, tmp_path / "a.parquet")
        assert read_reports(K_RR, [tmp_path / "a.parquet"]).refused["out of range"] == 1
        to_parquet(table.slice(1), tmp_path / "a.parquet")
        with pytest.raises(Malformed, match=r"row 40000: .* out of range"):
            read_reports(K_RR, [tmp_path / "a.parquet"], strict=True)


def test_a_damaged_page_costs_its_row_group_and_is_told(tmp_path: Path) -> None:
    reports = drawn(30_000)
    path = tmp_path / "a.parquet"
    table = pa.table({"output": pa.array(reports.outputs.astype(np.uint64)), "recipe": [MINE] * len(reports)})
    parquet.write_table(table, path, row_group_size=10_000, write_page_checksum=True)
    column = parquet.ParquetFile(path).metadata.row_group(1).column(0)
    data = bytearray(path.read_bytes())
    data[column.data_page_offset + column.total_compressed_size // 2] ^= 1
    path.write_bytes(bytes(data))
    intake = read_reports(K_RR, [path])
    assert intake.notes == ["a.parquet is damaged: 10,000 rows of its row group 2 cannot be read"]
    kept = np.concatenate([reports.outputs[:10_000], reports.outputs[20_000:]])
    assert intake.accumulator == accumulator_for(K_RR).add(Reports(K_RR, kept))
    with pytest.raises(Malformed, match="10,000 rows of its row group 2"):
        read_reports(K_RR, [path], strict=True)


def test_progress_adds_up_to_the_size_of_the_file(tmp_path: Path) -> None:
    to_parquet(pa.table({"output": drawn().outputs, "recipe": [MINE] * COUNT}), tmp_path / "a.parquet")
    told: list[int] = []
    read_reports(K_RR, [tmp_path / "a.parquet"], progress=told.append)
    assert sum(told) == (tmp_path / "a.parquet").stat().st_size
