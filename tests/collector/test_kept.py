"""Kept reports are stored and exported in random order: how they came cannot be read from how they lie."""

from __future__ import annotations

import io
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.batch import Reports
from deniable.collector import Arrival, Store, export, kept
from deniable.collector.tables import INCOMING, REPORTS
from deniable.core import Report
from deniable.privacy import FixedKeystream
from deniable.surveys import Survey, survey_from_toml

parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

TOML = """
title = "Towns"
purpose = "To plan bus lines."
epsilon = 1
keep_reports = true
[attributes.town]
question = "Where do you live?"
domain = "categories:30000"
mechanism = "k-rr"
"""
RECORD = (
    TOML.replace("k-rr", "auto").replace("30000", "a,b,c")
    + """
[attributes.age]
question = "How old are you?"
domain = "interval:0,100,100"
"""
)
WIDE = TOML.replace("30000", "100").replace("k-rr", "oue")


@pytest.fixture(autouse=True)
def fixed_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Permutations from a fixed keystream: what these tests see is the same every time."""
    streams = iter(range(1 << 20))
    monkeypatch.setattr(kept, "SystemKeystream", lambda: FixedKeystream(next(streams)))


@pytest.fixture
def survey() -> Survey:
    return survey_from_toml(TOML)


@pytest.fixture
def store(tmp_path: Path, survey: Survey) -> Iterator[Store]:
    found = Store(f"sqlite:///{tmp_path / 'collector.db'}")
    found.add_survey(survey)
    yield found
    found.close()


def arrived(store: Store, survey: Survey, outputs: range, period: str = "", each: int = 1) -> None:
    """Reports that carry the numbers of their arrival, `each` in one request."""
    for begin in range(outputs.start, outputs.stop, each):
        some = range(begin, min(begin + each, outputs.stop))
        if each > 1000:
            reports: object = Reports(survey.mechanism, list(some))
        else:
            reports = [Report(survey.mechanism.fingerprint, output) for output in some]
        assert store.count([Arrival(survey, period, secrets.token_bytes(16), reports, len(some))]) == [True]


def stored(store: Store, survey: Survey) -> list[list[int]]:
    """What stands in the tables, row by row."""
    with store.reading() as connection:
        rows = [row for table in (REPORTS, INCOMING) for row in connection.execute(select(table.c.data).order_by(table.c.number))]
    return [Reports.from_bytes(survey.mechanism, bytes(row.data)).ints() for row in rows]


def exported(store: Store, survey: Survey) -> Any:
    return parquet.ParquetFile(io.BytesIO(b"".join(export.parquet_of_reports(store, survey))))


def in_no_order(numbers: list[int]) -> bool:
    """Neither Spearman's correlation with the order of arrival nor the number of neighbours that stayed together stands out."""
    places = np.array(numbers)
    correlation = np.corrcoef(np.argsort(np.argsort(places)), np.arange(len(places)))[0, 1]
    together = int((np.abs(np.diff(places)) == 1).sum())
    # Of random orders, fewer than one in a million lie outside: five standard deviations, and a Poisson number of mean 2.
    return bool(abs(correlation) < 5.2 / np.sqrt(len(places)) and together <= 14)


def test_the_check_of_orders_can_fail() -> None:
    assert not in_no_order(list(range(500)))
    assert not in_no_order(list(range(500, 0, -1)))
    assert not in_no_order([*range(250, 500), *range(250)])


def test_after_tidying_up_no_order_of_arrival_is_stored(store: Store, survey: Survey) -> None:
    arrived(store, survey, range(40))
    arrived(store, survey, range(40, 600), each=40)
    assert len(stored(store, survey)) == 54
    assert store.tidy()
    (together,) = stored(store, survey)
    assert sorted(together) == list(range(600))
    assert in_no_order(together)
    # What comes later is mixed in, not put behind.
    arrived(store, survey, range(600, 700), each=50)
    assert store.tidy()
    (together,) = stored(store, survey)
    assert sorted(together) == list(range(700))
    assert in_no_order(together)


def test_reports_of_one_request_lie_in_random_order_at_once(store: Store, survey: Survey) -> None:
    arrived(store, survey, range(500), each=500)
    (together,) = stored(store, survey)
    assert in_no_order(together)


def test_ten_thousand_are_mixed_before_they_are_stored_for_good(store: Store, survey: Survey) -> None:
    for begin in range(0, 24_000, 3000):
        arrived(store, survey, range(begin, begin + 3000), each=3000)
        assert store.tidy()
    with store.reading() as connection:
        final = connection.execute(select(REPORTS.c.data)).fetchall()
    sizes = [len(Reports.from_bytes(survey.mechanism, bytes(row.data))) for row in final]
    assert sizes == [12_000, 12_000]
    assert all(in_no_order(row) for row in stored(store, survey))


def test_an_export_is_one_random_order_whatever_the_requests_were(store: Store, survey: Survey) -> None:
    arrived(store, survey, range(20))
    arrived(store, survey, range(20, 400), each=38)
    arrived(store, survey, range(400, 420), each=20)  # what a device had not been able to send
    arrived(store, survey, range(420, 800), "2026-11", each=38)
    file = exported(store, survey)
    assert file.num_row_groups == 1
    table = file.read()
    outputs = table.column("output").to_pylist()
    assert sorted(outputs) == list(range(800))
    assert in_no_order(outputs)
    late = [place for place, output in enumerate(outputs) if 400 <= output < 420]
    assert max(late) - min(late) > 400
    periods = dict(zip(outputs, table.column("period").to_pylist(), strict=True))
    assert all(periods[output] == ("2026-11" if output >= 420 else "") for output in outputs)


def test_a_row_group_has_a_hundred_thousand_or_there_is_one(store: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    assert export.ROW_GROUP >= 100_000
    monkeypatch.setattr(export, "ROW_GROUP", 1000)
    monkeypatch.setattr(kept, "TOGETHER", 300)
    for begin in range(0, 3500, 500):
        arrived(store, survey, range(begin, begin + 500), each=500)
        store.tidy()
    file = exported(store, survey)
    sizes = [file.metadata.row_group(place).num_rows for place in range(file.num_row_groups)]
    assert sizes == [1000, 1000, 1500]
    outputs = file.read().column("output").to_pylist()
    assert sorted(outputs) == list(range(3500))
    assert in_no_order(outputs[:1000])


@pytest.mark.parametrize("toml", [RECORD, WIDE], ids=["records", "unary"])
def test_every_kind_of_report_survives_being_mixed(tmp_path: Path, toml: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "PIECE_BYTES", 50)
    survey = survey_from_toml(toml)
    store = Store(f"sqlite:///{tmp_path / 'other.db'}")
    store.add_survey(survey)
    values = {"town": ["a", "b"] * 50, "age": [30.0] * 100} if toml == RECORD else [3, 7] * 50
    reports = survey.mechanism.randomize_many(values)
    singles = [reports[place] for place in range(10)]
    assert store.count([Arrival(survey, "", secrets.token_bytes(16), reports, 100)]) == [True]
    assert store.count([Arrival(survey, "", secrets.token_bytes(16), singles, 10)]) == [True]
    assert store.tidy()
    rows = stored(store, survey)
    store.close()
    assert len(rows) > 1, "they were to be cut into pieces"
    assert sorted(output for row in rows for output in row) == sorted([*reports.ints(), *reports.ints()[:10]])


def test_keys_stand_in_no_order_that_the_reports_have(store: Store, survey: Survey, tmp_path: Path) -> None:
    """Somebody who reads keys and reports off the disk cannot pair them."""
    keys = [secrets.token_bytes(16) for _ in range(60)]
    for output, key in enumerate(keys):
        store.count([Arrival(survey, "", key, [Report(survey.mechanism.fingerprint, output)], 1)])
    assert store.tidy()
    data = (tmp_path / "collector.db").read_bytes()
    assert (tmp_path / "collector.db-wal").stat().st_size == 0
    found = sorted((data.index(key), output) for output, key in enumerate(keys))
    (together,) = stored(store, survey)
    place = {output: number for number, output in enumerate(together)}
    assert in_no_order([place[output] for _, output in found])
