"""From a collector's database to an engine: its exports give its sums, and none of them counts twice."""

from __future__ import annotations

import secrets
from pathlib import Path

import numpy as np
import pytest

from deniable.accumulators import Accumulator
from deniable.batch import randomize_many
from deniable.collector.export import parquet_of_reports, parquet_of_sums
from deniable.collector.store import Arrival, Store
from deniable.engines import Local, Source, pieces
from deniable.errors import InvalidParameter, WrongRecipe
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
    found = Local().read(Source(survey.mechanism, (str(path),)))
    assert (found.n, found.refused) == (300, {"unreadable": 1})
