"""From a collector's database to an engine: its exports give its sums, and none of them counts twice."""

from __future__ import annotations

import secrets
from pathlib import Path

import numpy as np
import pytest

from deniable.batch import Accumulator, Local, Source, randomize_many
from deniable.batch.engines import pieces
from deniable.collector import Arrival, Store
from deniable.collector import export as export_file
from deniable.collector.export import parquet_of_reports, parquet_of_sums
from deniable.errors import InvalidParameter, Malformed, WrongRecipe
from deniable.surveys import Survey, survey_from_toml

NARROW = """
title = "Travel"
purpose = "To plan bus lines."
epsilon = 1
keep_reports = true
[attributes.commute]
question = "How did you get to work today?"
domain = "categories:bike,bus,car,walk"
"""
WIDE = NARROW.replace("categories:bike,bus,car,walk", "categories:100").replace(
    "[attributes.commute]", '[attributes.commute]\nmechanism = "oue"'
)


@pytest.fixture
def small_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exports in two row groups of 300, as large ones have many of 100,000."""
    monkeypatch.setattr(export_file, "ROW_GROUP", 300)


def collected(folder: Path, toml: str, count: int = 300) -> tuple[Store, Survey, Accumulator]:
    """A database with reports of two windows, and the sums it has of them."""
    survey = survey_from_toml(toml)
    store = Store(f"sqlite:///{folder / f'{secrets.token_hex(4)}.db'}")
    store.add_survey(survey)
    for period in ("2026-10", "2026-11"):
        values = np.resize(np.array([survey.mechanism.domain.decode(index) for index in range(4)]), count)
        reports = randomize_many(survey.mechanism, values.tolist())
        assert store.count([Arrival(survey, period, secrets.token_bytes(16), reports, count)]) == [True]
    first, second = store.sums(survey).values()
    return store, survey, first.merge(second)


def export(store: Store, survey: Survey, path: Path, what: str = "sums") -> Path:
    path.parent.mkdir(exist_ok=True)
    written = parquet_of_sums(store, survey) if what == "sums" else parquet_of_reports(store, survey)
    path.write_bytes(b"".join(written))
    return path


def folded(survey: Survey, *paths: Path) -> Accumulator:
    return Local().fold(Source(survey.mechanism, tuple(map(str, paths))))


@pytest.mark.parametrize("toml", [NARROW, WIDE], ids=["numbers", "wide text"])
@pytest.mark.parametrize("what", ["sums", "reports"])
def test_an_export_gives_the_collectors_own_sums(tmp_path: Path, toml: str, what: str) -> None:
    store, survey, sums = collected(tmp_path, toml)
    assert folded(survey, export(store, survey, tmp_path / "a.parquet", what)) == sums


def test_exports_of_several_databases_add_up(tmp_path: Path) -> None:
    one, survey, first = collected(tmp_path, NARROW)
    two, _, second = collected(tmp_path, NARROW)
    export(one, survey, tmp_path / "berlin" / "sums.parquet")
    export(two, survey, tmp_path / "paris" / "sums.parquet")
    assert folded(survey, tmp_path / "*" / "sums.parquet") == first.merge(second)


@pytest.mark.parametrize(("first", "second"), [("sums", "sums"), ("reports", "reports"), ("sums", "reports")])
def test_two_exports_of_one_database_are_refused_by_name(tmp_path: Path, first: str, second: str) -> None:
    store, survey, _ = collected(tmp_path, NARROW)
    export(store, survey, tmp_path / "day" / "monday.parquet", first)
    export(store, survey, tmp_path / "day" / "tuesday.parquet", second)
    with pytest.raises(InvalidParameter, match=r"(monday.*tuesday|tuesday.*monday).*would count twice"):
        folded(survey, tmp_path / "day")


@pytest.mark.usefixtures("small_row_groups")
def test_one_large_export_in_pieces_is_not_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, survey, sums = collected(tmp_path, NARROW)
    path = export(store, survey, tmp_path / "a.parquet", "reports")
    monkeypatch.setattr(pieces, "LARGE", 100)
    assert len(pieces.pieces_of(Source(survey.mechanism, (str(path),)))) == 2
    assert folded(survey, path) == sums


def test_exports_of_other_surveys_are_refused_by_name(tmp_path: Path) -> None:
    store, survey, _ = collected(tmp_path, NARROW)
    export(store, survey, tmp_path / "all" / "mine.parquet")
    other = NARROW.replace("epsilon = 1", "epsilon = 2")
    strange, theirs, _ = collected(tmp_path, other)
    path = export(strange, theirs, tmp_path / "all" / "theirs.parquet")
    with pytest.raises(WrongRecipe, match=r"theirs\.parquet is an export of another survey"):
        folded(survey, tmp_path / "all")
    path.unlink()
    same_recipe, question, _ = collected(tmp_path, NARROW.replace("today", "yesterday"))
    assert question.mechanism == survey.mechanism
    export(same_recipe, question, path)
    with pytest.raises(InvalidParameter, match=r"mine\.parquet and theirs\.parquet are exports of different surveys"):
        folded(survey, tmp_path / "all")


def test_sums_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    store, survey, _ = collected(tmp_path, NARROW)
    path = export(store, survey, tmp_path / "a.parquet")
    table = parquet.read_table(path)
    data = table.column("data").to_pylist()
    data[0] = data[0][:-1]
    parquet.write_table(table.set_column(3, "data", pa.array(data, pa.binary())), path)
    intake = Local().read(Source(survey.mechanism, (str(path),)))
    assert (intake.n, intake.refused) == (300, {"unreadable": 1})


def pages(path: Path, column: str) -> range:
    """Where a column of an export's first row group stands in the file."""
    from pyarrow import parquet

    file = parquet.ParquetFile(path)
    chunk = file.metadata.row_group(0).column(file.schema.names.index(column))
    begin = chunk.dictionary_page_offset or chunk.data_page_offset
    return range(begin, begin + chunk.total_compressed_size)


@pytest.mark.usefixtures("small_row_groups")
@pytest.mark.parametrize(("what", "column", "missing"), [("reports", "output", 300), ("sums", "data", 0)])
def test_one_flipped_bit_of_an_export_is_named_and_counted(tmp_path: Path, what: str, column: str, missing: int) -> None:
    store, survey, sums = collected(tmp_path, NARROW)
    path = export(store, survey, tmp_path / "a.parquet", what)
    data, found = path.read_bytes(), 0
    for place in pages(path, column):
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(bytes(damaged))
        read = Local(1).read(Source(survey.mechanism, (str(path),)))
        if not read.broken:
            assert read.accumulator == sums, "a bit in a page's head that says nothing about its rows"
            continue
        found += 1
        assert list(read.broken) == ["a.parquet"]
        assert (read.n, read.refused) == (sums.n - read.broken["a.parquet"] if missing else 0, {})
        assert 0 <= read.broken["a.parquet"] <= missing
        assert read.notes[0].startswith("a.parquet is damaged: ")
        if found % 20 == 1:
            with pytest.raises(Malformed, match=r"a\.parquet is damaged"):
                folded(survey, path)
    assert found > len(pages(path, column)) / 2


@pytest.mark.usefixtures("small_row_groups")
def test_an_export_whose_directory_contradicts_itself_is_named_and_counted(tmp_path: Path) -> None:
    store, survey, sums = collected(tmp_path, NARROW)
    path = export(store, survey, tmp_path / "a.parquet", "reports")
    data = path.read_bytes()
    # The directory has the number of rows of each of the two row groups behind their sizes: 300, of which 8 are taken away.
    assert data.count(b"\x16\xd8\x04&") == 2
    path.write_bytes(data.replace(b"\x16\xd8\x04&", b"\x16\xc8\x04&", 1))
    read = Local().read(Source(survey.mechanism, (str(path),)))
    assert (read.n, read.broken) == (sums.n - 8, {"a.parquet": 8})


def test_an_export_whose_survey_is_damaged_is_named_and_counted(tmp_path: Path) -> None:
    from pyarrow import parquet

    store, survey, sums = collected(tmp_path, NARROW)
    export(store, survey, tmp_path / "a" / "a.parquet", "reports")
    path = export(store, survey, tmp_path / "b" / "b.parquet", "reports")
    table = parquet.read_table(path)
    parquet.write_table(table.replace_schema_metadata({b"deniable.survey": survey.to_json().replace(b"bus", b"bu", 1)}), path)
    read = Local().read(Source(survey.mechanism, (str(tmp_path / "*" / "*.parquet"),)))
    assert (read.accumulator, read.broken) == (sums, {"b/b.parquet": 600})
    assert "the survey in it is damaged" in read.notes[0]
