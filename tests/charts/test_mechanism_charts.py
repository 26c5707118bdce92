"""Every mechanism has a picture, of the kind that suits what it reports."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest

import deniable
from deniable.charts import mechanism_chart
from deniable.charts.density import edges
from deniable.core import Categories, Circle, Interval, Text, make_mechanism, mechanism_class


def drawn(mechanism: Any) -> dict[str, Any]:
    return dict(mechanism_chart(mechanism).to_dict())


def marks(chart: dict[str, Any]) -> set[str]:
    parts = [chart, *chart.get("layer", []), *chart.get("hconcat", [])]
    found = {part["mark"]["type"] if isinstance(part["mark"], dict) else part["mark"] for part in parts if "mark" in part}
    return found.union(*(marks(part) for part in chart.get("hconcat", [])))


def rows(chart: dict[str, Any], field: str) -> list[dict[str, Any]]:
    inline = [part.get("data", {}).get("values", []) for part in [chart, *chart.get("layer", [])]]
    return [row for values in [*chart.get("datasets", {}).values(), *inline] for row in values if field in row]


@pytest.mark.slow
@pytest.mark.parametrize("name", deniable.names())
def test_every_mechanism_has_a_picture(name: str) -> None:
    first = next(iter(mechanism_class(name).examples()))
    chart = drawn(first)
    assert str(first.privacy) in chart["title"]["text"]


@pytest.mark.parametrize("name", ["k-rr", "olh", "subset", "oue"])
def test_categories_are_a_heat_map_whose_rows_are_probabilities(name: str) -> None:
    mechanism = make_mechanism(name, domain=Categories(["bike", "bus", "car"]), epsilon=1)
    chart = drawn(mechanism)
    assert "rect" in marks(chart)
    cells = rows(chart, "report")
    assert {cell["value"] for cell in cells} == {"bike", "bus", "car"}
    own = [cell["probability"] for cell in cells if cell["value"] == cell["report"]]
    others = [cell["probability"] for cell in cells if cell["value"] != cell["report"]]
    assert min(own) > max(others)
    if name == "k-rr":
        assert sum(cell["probability"] for cell in cells if cell["value"] == "bus") == pytest.approx(1)


@pytest.mark.slow
def test_a_direction_is_drawn_around_a_circle_and_named_in_degrees() -> None:
    chart = drawn(make_mechanism("circular-window", domain=Circle(), epsilon=1))
    assert {row["value"] for row in rows(chart, "step") if "value" in row} == {"0°", "108°", "270°"}
    hours = drawn(make_mechanism("circular-window", domain=Circle(24), epsilon=1))
    assert {row["value"] for row in rows(hours, "step") if "value" in row} == {"0", "7.2", "18"}


@pytest.mark.slow
def test_heavy_tails_do_not_squeeze_the_rest() -> None:
    mechanism = make_mechanism("laplace", domain=Interval(0, 100), epsilon=1, points=64)
    chart = drawn(mechanism)
    low, high = chart["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert -700 < low < 0
    assert 100 < high < 800
    assert "99 %" in " ".join(chart["title"]["subtitle"])


@pytest.mark.slow
def test_single_reports_are_spikes_with_their_probability_and_leave_the_density_readable() -> None:
    chart = drawn(make_mechanism("hm", domain=Interval(0, 1), epsilon=2))
    assert max(row["density"] for row in rows(chart, "density")) < 5
    spikes = rows(chart, "text")
    assert {row["value"] for row in spikes} == {"0", "0.3", "0.75"}
    assert all(row["text"].endswith("%") for row in spikes)
    # Duchi's two reports, with the probability that is left after PM's share.
    low, high = sorted({row["report"] for row in spikes}, key=lambda text: float(text.replace("\N{MINUS SIGN}", "-")))
    middle = [float(end.replace("\N{MINUS SIGN}", "-")) for end in (low, high)]
    assert sum(middle) == pytest.approx(1, abs=1e-3)
    for value in ("0", "0.3", "0.75"):
        assert sum(row["probability"] for row in spikes if row["value"] == value) == pytest.approx(math.exp(-1), abs=2e-3)


def test_an_edge_inside_a_bin_is_drawn_where_the_bin_says() -> None:
    drawn_edges = list(edges([0.5, 1.5, 2.5, 3.5, 4.5, 5.5], [2.0, 2.0, 1.25, 1.0, 1.0, 1.0]))
    assert drawn_edges == [(0.0, 2.0), (2.25, 1.0), (6.0, 1.0)]
    area = sum(height * (end - start) for (start, height), (end, _) in pairwise(drawn_edges))
    assert area == 2 + 2 + 1.25 + 3


@pytest.mark.slow
def test_a_picture_says_when_privacy_holds_only_up_to_delta() -> None:
    exact = drawn(make_mechanism("window", domain=Interval(0, 1), epsilon=2))
    assert "δ" not in " ".join(exact["title"]["subtitle"])
    approximate = drawn(make_mechanism("gaussian", domain=Interval(0, 1), epsilon=1, delta="0.001", points=64))
    assert "δ = 0.001" in " ".join(approximate["title"]["subtitle"])


def test_a_few_possible_reports_are_bars_that_add_up_to_one() -> None:
    chart = drawn(make_mechanism("duchi", domain=Interval(0, 1), epsilon=1))
    assert marks(chart) == {"bar"}
    for value in ("0", "0.3", "0.75"):
        assert sum(row["probability"] for row in rows(chart, "probability") if row["value"] == value) == pytest.approx(1)


def test_words_show_what_each_group_is_asked_for() -> None:
    chart = drawn(make_mechanism("pem", domain=Text(2), epsilon=2))
    assert sum(row["probability"] for row in rows(chart, "probability")) == pytest.approx(1)
    assert "whole word, to count it" in {row["group"] for row in rows(chart, "group")}


def test_a_tree_is_drawn_level_by_level() -> None:
    chart = mechanism_chart(make_mechanism("hierarchy", domain=Categories(6), epsilon=2, fan_outs=[2, 3])).to_dict()
    titles = [part["title"]["text"] if isinstance(part["title"], dict) else part["title"] for part in chart["hconcat"]]
    assert titles == ["level 1: 2 blocks by hadamard", "level 2: 6 blocks by hadamard"]


def test_only_the_coarsest_levels_of_a_deep_tree_are_drawn() -> None:
    chart = mechanism_chart(make_mechanism("hierarchy", domain=Categories(256), epsilon=2, fan_outs=[2] * 8)).to_dict()
    assert len(chart["hconcat"]) == 6
    assert "2 finer levels not drawn" in str(chart["title"])
