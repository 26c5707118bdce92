"""`deniable demo` on a small part of its data."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from deniable import charts
from deniable.cli import flights as datasets
from deniable.cli.app import main
from deniable.cli.demo import _print_rows
from deniable.cli.demo_charts import drawing
from deniable.cli.demo_questions import Finding, _below, _shares
from deniable.cli.flights import Flights
from deniable.cli.terminal import console
from deniable.core import make_mechanism


def few_flights() -> Flights:
    count = 4000
    place = np.arange(count)
    delay = np.where(place % 50 == 0, np.nan, place % 90 - 30.0)
    carrier = np.where(place % 3 == 0, "UA", "B6")
    return Flights(carrier, np.full(count, "JFK"), 6 + place % 12, place % 60, delay, delay)


@pytest.mark.slow
def test_the_demo_answers_every_question_and_draws_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "flights", few_flights)
    monkeypatch.setattr(datasets, "wind_directions", lambda: np.arange(2000) % 180.0)
    monkeypatch.setattr(datasets, "airline_names", lambda: {"UA": "United", "B6": "JetBlue", "DL": "Delta"})
    result = CliRunner().invoke(main, ["demo", "--json", "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert [line[:5] for line in result.stderr.splitlines() if line.startswith("[")] == [f"[{step}/7]" for step in range(1, 8)]
    document = json.loads(result.stdout)
    found = {finding["certificate"]["mechanism"]: finding for finding in document["findings"]}
    assert len(document["findings"]) == 4
    assert all(finding["certificate"]["holds"] for finding in document["findings"])
    assert [row["name"] for row in found["sw"]["rows"]][:2] == ["mean", "10 % are below"]
    assert found["sw"]["reports"] == 3920
    assert len(found["sw"]["bins"]) == 24
    assert sum(row["truth"] for row in found["sw"]["bins"]) == pytest.approx(1)
    names = {Path(chart).name for chart in document["charts"]}
    assert {"airlines.png", "delays.png", "delay-quantiles.svg", "departures.html", "wind.png"} <= names
    assert all(Path(chart).stat().st_size > 1000 for chart in document["charts"])


@pytest.mark.slow
def test_a_demo_that_ends_names_no_address_that_no_longer_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "flights", few_flights)
    monkeypatch.setattr(datasets, "wind_directions", lambda: np.arange(2000) % 180.0)
    monkeypatch.setattr(datasets, "airline_names", lambda: {"UA": "United", "B6": "JetBlue", "DL": "Delta"})
    result = CliRunner().invoke(main, ["demo", "--devices", "300", "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "http://" not in result.stdout
    assert "deniable demo --serve" in result.stdout


def test_whether_an_interval_holds_the_truth_is_told() -> None:
    finding = Finding("x", make_mechanism("circular-window", epsilon=1), 10, "h")
    finding.add("inside", 1.0, (0.0, 2.0), 1.5)
    finding.add("outside", 1.0, (0.0, 2.0), 2.5)
    finding.add("around", 0.5, (-1.0, 2.0), 23.5, period=24)
    assert [row["inside"] for row in finding.rows] == [True, False, True]


def test_columns_are_those_of_a_csv_reader() -> None:
    data = b"when,carrier,delay,note\n1,UA,-3,\n20,B6,NA,long note\n3,,12.5,x\n"
    rows = list(csv.DictReader(io.StringIO(data.decode())))
    for whole in (data, data[:-1]):
        columns = datasets._columns(whole, ["note", "carrier", "delay"])
        for name, column in columns.items():
            assert [cell.decode() for cell in column.tolist()] == [row[name] for row in rows]
        assert np.array_equal(datasets._reals(columns["delay"]), [-3, np.nan, 12.5], equal_nan=True)


def test_charts_are_drawn_in_order_and_a_failure_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def save(chart: Any, path: Path) -> Path:
        if chart == "bad":
            raise OSError("disk full")
        return path

    monkeypatch.setattr(charts, "save", save)
    monkeypatch.setattr(charts, "error_chart", lambda *_, **__: "good")
    mechanism = make_mechanism("circular-window", epsilon=1)
    with drawing(tmp_path) as draw:
        draw(Finding("x", mechanism, 10, "h", charts={"first": "good", "second": "good"}))
        names = [Path(file).name for file in draw.finished()]
    assert names == [f"{name}{ending}" for name in ("first", "second", "window-error") for ending in (".svg", ".png", ".html")]
    with drawing(tmp_path) as draw:
        draw(Finding("x", mechanism, 10, "h", charts={"third": "bad"}))
        with pytest.raises(OSError, match="disk full"):
            draw.finished()


def test_true_shares() -> None:
    assert _shares([0, 1, 2, 4], 0, 4, 2) == [0.5, 0.5]
    assert _shares([0, 1, 2, 4], 0, 4, 2, wraps=True) == [0.75, 0.25]
    assert _below([0, 1, 2, 4], [1, 3, 4]) == [0.5, 0.75, 1.0]


def test_the_tables_show_both_ends_of_an_interval_that_is_not_symmetric(capsys: pytest.CaptureFixture[str]) -> None:
    _print_rows(
        console(), "Shares (%)", [{"name": "rare", "estimate": -0.44, "low": 0.0, "high": 0.21, "truth": 0.18, "inside": True}]
    )
    said = capsys.readouterr().out
    assert said.splitlines()[0] == "Shares (%)"
    assert ["rare", "-0.44", "0.00", "0.21", "0.18", "-0.62", "yes"] in [line.split() for line in said.splitlines()]
