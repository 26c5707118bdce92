"""The pages and the answers behind them, from a collector in a process of its own."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.batch import accumulator_for, randomize_many
from deniable.core import Categories, Circle, Interval, Rectangle, Text, make_mechanism, mechanism_class
from deniable.errors import InvalidParameter
from deniable.surveys import batch_head, survey_from_toml

pytest.importorskip("starlette", reason="the collector's packages are not installed")

from tests.collector.running import Running, call, collector

from deniable.collector.dashboard.explorer import EPSILONS, POSITIONS, at_epsilon, explored
from deniable.collector.dashboard.pages import HEADERS, PAGES, STATIC, sdk_folder
from deniable.collector.dashboard.places import BEING_MADE, PlaceMaps
from deniable.collector.dashboard.privacy import privacy_of, surest
from deniable.collector.estimates import views_of
from deniable.core import Epsilon
from deniable.privacy import FixedKeystream

SURVEY = """
title = "Travel <b>to</b> work"
release = "live"
purpose = "To plan bus lines."
epsilon = 3
strategy = "split"
[attributes.commute]
question = "How?"
domain = "categories:bike,bus,car,walk"
[attributes.minutes]
question = "How long?"
domain = "interval:0,180,180"
mechanism = "window"
[attributes.home]
question = "Where?"
domain = "rectangle:0,10,0,8,8"
mechanism = "nearest-cells"
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with collector(tmp_path_factory.mktemp("dashboard"), toml=SURVEY) as running:
        survey = survey_from_toml(SURVEY)
        people = {"commute": ["bus"] * 600, "minutes": [30.0] * 600, "home": [(2.0, 2.0)] * 600}
        body = batch_head(survey) + survey.mechanism.randomize_many(people).to_bytes()
        status, _ = call(f"{running.survey}/batches", body, {"Content-Type": "application/vnd.deniable.batch"})
        assert status == 200
        yield running


def asked(running: Running, path: str) -> Any:
    status, body = call(f"{running.address}/dashboard/surveys/{running.hash}/{path}")
    assert status == 200, body
    return json.loads(body)


@pytest.mark.parametrize("address", list(PAGES))
def test_every_page_is_served_and_names_only_files_that_are(served: Running, address: str) -> None:
    status, body = call(served.address + address)
    assert status == 200
    named = re.findall(r'(?:href|src)="([^"#]+)"', body.decode())
    assert named
    for name in named:
        assert call(f"{served.address}/{name}")[0] == 200, name


def test_every_module_a_page_imports_is_served(served: Running) -> None:
    seen: set[str] = set()
    waiting = [f"/static/{path.name}" for path in STATIC.glob("*.js")]
    while waiting:
        address = waiting.pop()
        if address not in seen:
            seen.add(address)
            status, body = call(served.address + address)
            assert status == 200, address
            for name in re.findall(r'from "([^"]+)"', body.decode()):
                folder = Path(address).parent / name
                waiting.append("/" + "/".join(_resolved(folder.parts[1:])))
    assert "/sdk/deniable.js" in seen
    answer = [address for address in seen if address.startswith("/sdk/")]
    assert answer == ["/sdk/deniable.js"], "a page loads the client as one file"


def _resolved(parts: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for part in parts:
        if part == "..":
            found.pop()
        elif part != ".":
            found.append(part)
    return found


def test_nothing_comes_from_elsewhere() -> None:
    assert "default-src 'none'" in HEADERS["Content-Security-Policy"]
    for path in [*STATIC.iterdir(), *sdk_folder().rglob("*.js")]:
        text = path.read_text()
        outside = [url for url in re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", text) if "www.w3.org" not in url]
        assert not outside, f"{path.name} names {outside}"
        assert "innerHTML" not in text, f"{path.name} writes markup"


def test_files_outside_the_pages_are_not_given(served: Running) -> None:
    for path in ("/static/../pages.py", "/static/surveys.html", "/sdk/../../pyproject.toml", "/static/%2e%2e/pages.py"):
        assert call(served.address + path)[0] == 404


def test_the_privacy_page_says_what_the_certificate_says(served: Running) -> None:
    found = asked(served, "privacy")
    assert found["certificate"]["holds"] is True
    assert found["certificate"]["fingerprint"] == survey_from_toml(SURVEY).mechanism.fingerprint
    assert [part["epsilon"] for part in found["parts"]] == ["1", "1", "1"]
    assert math.isclose(found["odds"], math.exp(3))


def test_the_privacy_page_says_why_a_mechanism_was_chosen(served: Running) -> None:
    why = {part["name"]: part["why"] for part in asked(served, "privacy")["parts"]}
    assert why["commute"].startswith("k-rr: the best of")
    assert why["minutes"] is None
    assert why["home"] is None


def test_beliefs_are_bayes_rule_at_the_worst_report() -> None:
    for prior in (0.01, 0.3, 0.9):
        least, most = surest(prior, math.log(3))
        assert math.isclose(most, 3 * prior / (3 * prior + 1 - prior))
        assert math.isclose(least, prior / (prior + 3 * (1 - prior)))


def test_budgets_beyond_all_doubles_are_shown_without_failing() -> None:
    survey = survey_from_toml(SURVEY.replace("epsilon = 3", "epsilon = 3\nbudget = 100000"))
    assert privacy_of(survey)["beliefs"][0]["lifetime_most"] == pytest.approx(1.0)


HEAVY = 'epsilon = 3\nbudget = 1000\nrepeat = "each-window"\nwindow = "day"'


def test_words_about_deniability_follow_the_number() -> None:
    mild, heavy = survey_from_toml(SURVEY), survey_from_toml(SURVEY.replace("epsilon = 3", HEAVY))
    assert privacy_of(mild)["hiding"] == "fairly hidden"
    assert "any answer could have produced" in privacy_of(mild)["learns"][0]
    assert privacy_of(heavy)["hiding"] == "practically disclosed"
    assert privacy_of(heavy)["learns"][0].startswith("All reports together leave your answer practically disclosed.")


def test_the_explorer_gives_chances_and_errors(served: Running) -> None:
    bars = asked(served, f"explorer?attribute=commute&step={EPSILONS.index('1')}&position=0")
    assert bars["kind"] == "bars"
    assert math.isclose(bars["truth"], math.e / (math.e + 3), rel_tol=1e-9)
    line = asked(served, f"explorer?attribute=minutes&step={EPSILONS.index('2')}&position=5")
    width = line["rows"][1][0] - line["rows"][0][0]
    assert math.isclose(sum(height for _, height in line["rows"]) * width, 1, rel_tol=0.02)
    assert 0 < line["error"] < 90
    places = asked(served, f"explorer?attribute=home&step={EPSILONS.index('2')}&position=5")
    assert math.isclose(sum(map(sum, places["rows"])), 1, rel_tol=1e-9)


@pytest.mark.parametrize("query", ["step=13", "step=-1", "step=1e1", "position=11", "step=9999999", "step=%D9%A1"])
def test_the_explorer_refuses_other_numbers(served: Running, query: str) -> None:
    status, body = call(f"{served.address}/dashboard/surveys/{served.hash}/explorer?{query}")
    assert status == 400
    assert "must be a whole number" in json.loads(body)["error"]


def test_unknown_surveys_and_attributes_are_404(served: Running) -> None:
    for path in ("privacy", "explorer", "map"):
        assert call(f"{served.address}/dashboard/surveys/{'0' * 64}/{path}")[0] == 404
    for path in ("explorer", "map"):
        assert call(f"{served.address}/dashboard/surveys/{served.hash}/{path}?attribute=none")[0] == 404


def test_the_map_finds_where_people_are(served: Running) -> None:
    found = asked(served, "map?attribute=home")
    fullest = max(found["cells"], key=lambda cell: cell["value"])
    left, lower, right, upper = fullest["bounds"]
    assert found["n"] == 600
    assert abs((left + right) / 2 - 2) <= 2
    assert abs((lower + upper) / 2 - 2) <= 2
    assert fullest["low"] <= fullest["value"] <= fullest["high"]
    assert asked(served, "map?attribute=commute")["cells"] == []


def test_nobody_waits_for_a_map_that_is_being_made() -> None:
    class Counting:
        def sums(self, _: object) -> dict[str, int]:
            return {}

    survey = survey_from_toml(SURVEY)
    maps = PlaceMaps(Counting())  # type: ignore[arg-type]
    with maps._lock:
        assert maps.get(survey, "home")["note"] == BEING_MADE


def test_shares_of_a_record_with_other_kinds_of_fields_are_estimated(served: Running) -> None:
    status, body = call(f"{served.survey}/estimates")
    commute = json.loads(body)["attributes"][0]
    assert status == 200
    assert [row["label"] for row in commute["views"][0]["rows"]] == ["bike", "bus", "car", "walk"]


def test_the_slider_offers_the_epsilons_the_collector_has() -> None:
    listed = re.search(r"const EPSILONS = (\[.*?\]);", (STATIC / "explore.js").read_text())
    assert listed is not None
    assert json.loads(listed[1]) == list(EPSILONS)
    assert f'range("position", {POSITIONS - 1}, ' in (STATIC / "explore.js").read_text()


EXPLORED = [
    ("oue", Categories(5)),
    ("window", Interval(0, 1)),
    ("circular-window", Circle(cells=32)),
    ("nearest-cells", Rectangle()),
]


@pytest.mark.parametrize(("name", "domain"), EXPLORED)
def test_every_step_of_the_explorer_works(name: str, domain: Any) -> None:
    mechanism = make_mechanism(name, domain=domain, epsilon=1)
    for step in range(len(EPSILONS)):
        found = explored(mechanism, step, 5)
        assert found["rows"]
        assert found["mechanism"] == name
        assert math.isclose(found["odds"], math.exp(float(Epsilon(EPSILONS[step]))))


def test_the_explorer_shows_texts_and_not_words_that_are_none() -> None:
    """Half way through all words of 48 bits there is no text: the page showed an error for every survey that asks for words."""
    mechanism = make_mechanism("tree-hist", domain=Text(6), epsilon=6)
    shown = [explored(mechanism, EPSILONS.index("6"), position)["value"] for position in range(POSITIONS)]
    assert len(set(shown)) == POSITIONS
    assert all(Text(6).decode(Text(6).encode(text)) == text for text in shown)


@pytest.mark.parametrize("cells", [180, 777, 3000, 1 << 20])
def test_a_window_is_drawn_with_two_levels_and_no_teeth(cells: int) -> None:
    mechanism = make_mechanism("window", domain=Interval(0, 180, cells=cells), epsilon=2)
    heights = [height for _, height in explored(mechanism, EPSILONS.index("2"), 5)["rows"]]
    low, high = min(heights), max(heights)
    between = [height for height in heights if 1.05 * low < height < 0.95 * high]
    assert len(heights) <= 512
    assert len(between) <= 2


def test_a_mechanism_made_for_one_epsilon_is_replaced_and_the_page_says_so() -> None:
    designed = next(iter(mechanism_class("designed").examples()))
    with pytest.raises(InvalidParameter):
        type(designed)(domain=designed.domain, epsilon="1/10", **designed.parameters())
    made, note = at_epsilon(designed, Epsilon("1/10"))
    assert made.name == "window"
    assert "made for one epsilon" in note


def test_the_interval_of_a_mean_holds_for_answers_that_were_rounded() -> None:
    """Whole numbers all lie at one end of their cells; with many reports the noise no longer covers that."""
    mechanism = make_mechanism("pm-c", domain=Interval(0, 100, cells=100), epsilon=4)
    for answer in (100.0, 50.0, 0.0):
        sums = accumulator_for(mechanism)
        sums.add(randomize_many(mechanism, np.full(200_000, answer), FixedKeystream("rounded")))
        (view,) = [view for view in views_of(mechanism, sums, sums, "number") if view.what == "mean"]
        (row,) = view.rows
        assert 0 <= row.low <= answer <= row.high <= 100
