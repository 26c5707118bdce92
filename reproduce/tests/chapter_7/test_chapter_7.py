"""Chapter 7 and appendix E come out again: everything promised exists, repeats itself, and is reproduced or explained."""

from __future__ import annotations

import importlib.util
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from reproduce.tests.checking import check

from deniable.studies import Feature, study
from deniable_reproduce.artifact import MissingData, Run
from deniable_reproduce.case_studies import at, ordered, rho_rows, rising, robust_box
from deniable_reproduce.catalogue import find, names
from deniable_reproduce.figures.figure_7_05 import cdf, closed_form
from deniable_reproduce.two_features import exact_radius, proved, same, searched
from tests.outside_data import needs

needs_data = needs("stroke.csv")
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the network needs torch")
LIGHT = [
    "figure-7.1",
    "figure-7.2",
    "figure-7.3",
    "figure-7.4",
    "table-7.1",
    "example-11",
    "example-12",
    "example-13",
    "example-14",
]
LIGHT += ["beyond-classifier-exact"]
WITH_DATA = ["figure-7.5", "figure-7.6", "figure-e.1", "figure-e.2", "figure-e.3", "figure-e.4", "figure-e.5", "figure-e.6"]
WITH_TORCH = ["figure-7.7", "figure-e.7", "example-15"]
TIMED = ["table-7.2"]


def test_every_figure_table_and_example_of_the_chapter_exists() -> None:
    promised = [f"figure-7.{i}" for i in range(1, 8)] + [f"figure-e.{i}" for i in range(1, 8)] + ["table-7.1", "table-7.2"]
    promised += [f"example-{i}" for i in range(11, 16)] + ["beyond-classifier-exact"]
    assert set(promised) <= set(names())
    assert set(promised) == {*LIGHT, *WITH_DATA, *WITH_TORCH, *TIMED}
    assert [find(name).name for name in promised] == promised


@pytest.mark.slow
@pytest.mark.parametrize("name", LIGHT)
def test_light_artifacts_repeat_themselves_and_are_reproduced_or_explained(name: str) -> None:
    check(name, twice=True)


@needs_data
def test_the_decision_boundaries_are_reproduced_or_explained() -> None:
    pytest.importorskip("sklearn")
    check("figure-e.2", twice=False)


@pytest.mark.heavy
@needs_data
@pytest.mark.parametrize("name", [*WITH_DATA, *TIMED])
def test_case_studies_are_reproduced_or_explained(name: str) -> None:
    pytest.importorskip("sklearn")
    check(name, twice=name in ("figure-7.5", "figure-e.4"))


@pytest.mark.heavy
@needs_torch
@pytest.mark.parametrize("name", WITH_TORCH)
def test_networks_are_reproduced_or_explained(name: str) -> None:
    pytest.importorskip("sklearn")
    check(name, twice=name != "figure-e.7")


def test_absent_data_is_asked_for_by_name() -> None:
    with pytest.raises(MissingData, match=r"stroke\.csv .*--data"):
        find("figure-7.5").compute(Run())


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4, 8])
def test_the_closed_form_of_the_appendix_is_the_law_that_runs(epsilon: float) -> None:
    assert closed_form(epsilon) == pytest.approx(cdf(epsilon), abs=2e-5)


def test_boxes_hold_the_record_and_the_answer_everywhere() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    ensemble = pytest.importorskip("sklearn.ensemble")
    places = np.random.default_rng(5).random((400, 3))
    labels = (places[:, 0] + 0.2 * places[:, 1] > 0.7).astype(int)
    record = np.array([0.9, 0.4, 0.5])
    for model in (
        linear.LogisticRegression().fit(places, labels),
        ensemble.RandomForestClassifier(20, random_state=0).fit(places, labels),
    ):
        box = robust_box(model, record, [0, 1])
        assert all(low <= value <= high for low, value, high in zip(box.low, record[:2], box.high, strict=True))
        inside = np.repeat(record[None], 2000, axis=0)
        inside[:, :2] = np.array(box.low) + np.random.default_rng(6).random((2000, 2)) * (np.array(box.high) - np.array(box.low))
        assert (model.predict(inside) == model.predict(record[None])).all()
        # A box that could have been any point's would be useless: it reaches the far end of the weak feature.
        assert math.prod(high - low for low, high in zip(box.low, box.high, strict=True)) > 0.01


def test_reports_beyond_the_range_still_get_an_answer() -> None:
    """x > 0.5 at 0.7: half of Laplace's noise beyond 1 is answered right, and the box [0.5, 1] counts it as lost."""
    linear = pytest.importorskip("sklearn.linear_model")
    places = np.linspace(0, 1, 200)[:, None]
    model = linear.LogisticRegression(C=1e6, max_iter=2000).fit(places, (places[:, 0] > 0.5).astype(int))
    question = study(model, [[0.7]], {0: Feature(0, 1)})
    box = robust_box(model, [0.7], [0])
    rows = rho_rows(question, ["laplace", "exponential"], (2, 4), Run(), "beyond the range", box=box, empirical=0)
    for epsilon in (2, 4):
        laplace, other = at(rows, "Laplace", epsilon), at(rows, "Exponential", epsilon)
        assert laplace["rho"] > other["rho"]
        assert laplace["rho"] - laplace["box"] > 0.1
        assert other["rho"] == pytest.approx(other["box"], abs=1e-6)


def test_utility_may_fall_while_epsilon_rises() -> None:
    """A tree answers otherwise from 0.25 to 0.75, a record lies at 0.1: strong noise jumps over that band, weaker falls in."""
    trees = pytest.importorskip("sklearn.tree")
    places = np.linspace(0, 1, 201)[:, None]
    model = trees.DecisionTreeClassifier(random_state=0).fit(places, (abs(places[:, 0] - 0.5) < 0.25).astype(int))
    rows = rho_rows(study(model, [[0.1]], {0: Feature(0, 1)}), ["laplace"], (0.5, 3, 16), Run(), "over the band", empirical=0)
    found = {row["epsilon"]: row["rho"] for row in rows}
    for epsilon in (0.5, 3, 16):
        falls_in = (math.exp(-0.15 * epsilon) - math.exp(-0.65 * epsilon)) / 2
        assert found[epsilon] == pytest.approx(1 - falls_in, abs=0.01)
    assert found[0.5] > found[3] + 0.1
    assert found[16] > found[0.5]
    assert not rising(rows)


def test_orders_and_rises_are_told_from_their_opposites() -> None:
    rows: list[dict[str, Any]] = [
        {"mechanism": name, "epsilon": level, "rho": value}
        for name, values in {"PM": (0.5, 0.9), "SW": (0.6, 0.7)}.items()
        for level, value in zip((1, 2), values, strict=True)
    ]
    assert not ordered(rows, "PM", "SW")
    assert ordered(rows, "PM", "SW", least=2)
    assert rising(rows)
    assert not rising([{**row, "rho": -row["rho"]} for row in rows])
    slowly = [{"mechanism": "PM", "epsilon": level, "rho": 0.9 - 0.004 * level} for level in range(1, 9)]
    assert not rising(slowly, slack=0.01)  # every step is small, and all together are not


def test_testing_accepts_a_radius_a_little_beyond_the_exact_one() -> None:
    found = searched(Run())
    box = proved().box
    assert exact_radius() == pytest.approx(1 / math.sqrt(2) - 0.5)
    assert exact_radius() < found.radius < 0.26
    assert box is not None
    corner = np.array([box.high])
    assert bool(same(corner)[0])
    assert not bool(same(corner + 0.001)[0]), "the proved box touches the boundary"


def test_the_printed_times_do_not_bear_out_the_printed_share() -> None:
    artifact = find("table-7.2")
    printed = artifact.published[0]
    assert Fraction("0.94") / Fraction("859.83") > Fraction(1, 1000)
    assert printed.value == 0.1
    assert "0.109" in str(printed.why)
