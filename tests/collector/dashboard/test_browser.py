"""The pages in a real browser: answer, be counted, and nothing leaves the machine. Needs Debian's chromium and playwright."""

from __future__ import annotations

import csv
import json
import os
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.collector.running import Running, call, collector, counted

from deniable.batch import randomize_many
from deniable.collector import Arrival, Store
from deniable.privacy import FixedKeystream
from deniable.surveys import Survey, batch_head, survey_from_toml

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
SHOTS = os.environ.get("DENIABLE_SCREENSHOTS")
"""A folder to keep the pictures in, for somebody to look at."""

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: the pages are not tested in a browser")
pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="/usr/bin/chromium is not there: apt-get install chromium"),
]

SURVEY = """
title = "Travel to work"
release = "live"
purpose = "To plan bus lines."
epsilon = 2
strategy = "split"
[attributes.commute]
question = "How did you get to work?"
domain = "categories:bike,bus,car,walk"
[attributes.minutes]
question = "How many minutes did it take?"
domain = "interval:0,180,180"
mechanism = "window"
[attributes.hour]
question = "When did you leave?"
domain = "circle:24,48"
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with collector(tmp_path_factory.mktemp("browser"), toml=SURVEY) as running:
        survey = Survey.from_json(call(running.survey)[1], hash=running.hash)
        people = {"commute": ["bus"] * 900, "minutes": [30.0] * 900, "hour": [8.0] * 900}
        body = batch_head(survey) + survey.mechanism.randomize_many(people).to_bytes()
        assert call(f"{running.survey}/batches", body, {"Content-Type": "application/vnd.deniable.batch"})[0] == 200
        yield running


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright, tempfile.TemporaryDirectory() as profile:
        environment = {**os.environ, "HOME": profile}
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS, env=environment)
        yield browser
        browser.close()


class Visit:
    """A page in a profile of its own that notes every request and every complaint."""

    def __init__(self, chromium: Any, running: Running, **how: Any) -> None:
        self.context = chromium.new_context(**how)
        self.page = self.context.new_page()
        self.running = running
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)

    def go(self, page: str) -> Any:
        self.page.goto(f"{self.running.address}/{page}?survey={self.running.hash}")
        return self.page

    def close(self) -> None:
        self.context.close()
        assert self.requests
        # A blob is made by the page itself, of its own origin: a picture on its way to a file.
        outside = [url for url in self.requests if urlsplit(url.removeprefix("blob:")).hostname != "127.0.0.1"]
        assert not outside, f"requests left the machine: {outside}"
        assert not self.complaints, self.complaints


def test_an_answer_is_explained_sent_and_counted_once(chromium: Any, served: Running) -> None:
    before = counted(served)
    visit = Visit(chromium, served)
    page = visit.go("answer")
    page.get_by_role("heading", name="Before you answer").wait_for()
    told = page.locator("main").inner_text()
    assert "stays on this device" in told
    assert "odds between two answers" in told
    posted: list[Any] = []
    page.on("request", lambda request: posted.append(request.post_data) if request.method == "POST" else None)
    page.get_by_label("bus").check()
    page.get_by_label("A number from 0 to 180").fill("35")
    page.get_by_label("A time of day").fill("08:15")
    page.get_by_role("button", name="Randomize and send").click()
    page.get_by_text("Your report was counted").wait_for()
    assert len(posted) == 1
    body = json.loads(posted[0])
    assert set(body) == {"key", "report"}
    fingerprint = json.loads(call(served.survey)[1])["fingerprint"]
    assert body["report"].startswith("646e01" + fingerprint)
    assert counted(served) == before + 1
    page = visit.go("answer")
    page.get_by_text("This device has already answered").wait_for()
    assert page.get_by_role("button", name="Randomize and send").count() == 0
    page.goto(served.address)
    page.get_by_text("901").wait_for()
    visit.close()
    assert counted(served) == before + 1


def test_below_the_first_step_the_pages_say_how_far_it_is(chromium: Any, tmp_path: Path) -> None:
    with collector(tmp_path, toml=SURVEY.replace('release = "live"\n', "")) as running:
        survey = Survey.from_json(call(running.survey)[1], hash=running.hash)
        people = {"commute": ["bus"] * 23, "minutes": [30.0] * 23, "hour": [8.0] * 23}
        body = batch_head(survey) + survey.mechanism.randomize_many(people).to_bytes()
        assert call(f"{running.survey}/batches", body, {"Content-Type": "application/vnd.deniable.batch"})[0] == 200
        visit = Visit(chromium, running)
        page = visit.go("results")
        page.get_by_text("23 of 100 reports").first.wait_for()
        page.get_by_text("at least 100 new reports and at least 60 minutes").first.wait_for()
        assert page.locator("figure").count() == 0
        page.goto(running.address)
        page.get_by_text("23 of 100 reports").first.wait_for()
        visit.go("privacy").get_by_text("Whoever sends 99 reports of their own").first.wait_for()
        visit.close()


def test_a_survey_with_windows_shows_how_answers_changed_and_saves_it_as_a_picture(chromium: Any, tmp_path: Path) -> None:
    """By hand: from 20 % to 80 % bus in months of 4,000 people at epsilon 4; the share of bikes, always 10 %, did not change."""
    toml = SURVEY.partition("[attributes.minutes]")[0].replace(
        "epsilon = 2", 'epsilon = 4\nbudget = 24\nrepeat = "each-window"\nwindow = "month"'
    )
    with collector(tmp_path, toml=toml) as running:
        survey = Survey.from_json(call(running.survey)[1], hash=running.hash)
        store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
        for month, buses in (("2026-01", 800), ("2026-02", 2000), ("2026-03", 3200)):
            ways = ["bus"] * buses + ["bike"] * 400 + ["car"] * (3600 - buses)
            people = [{"commute": way} for way in ways]
            reports = randomize_many(survey.mechanism, people, FixedKeystream(buses))
            store.count([Arrival(survey, month, os.urandom(16), reports, 4000)])
        store.close()
        visit = Visit(chromium, running)
        page = visit.go("results")
        page.get_by_role("heading", name="From window to window").wait_for()
        sentences = page.locator("main section li").all_inner_texts()
        assert any(re.match(r"bus: rose from .* in 2026-01 to .* in 2026-03\.", sentence) for sentence in sentences)
        assert "bike: no change beyond what noise explains." in sentences
        assert page.locator("figure svg .area").count() == 4
        with page.expect_download() as saved:
            page.get_by_role("button", name="Save as a picture").last.click()
        assert Path(saved.value.path()).read_bytes().startswith(b"\x89PNG")
        visit.close()


def test_the_operator_signs_in_and_sees_the_numbers_of_now(chromium: Any, tmp_path: Path) -> None:
    """Below the first step, where everybody else sees how far it is."""
    store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
    token = store.add_token("alice", "admin")
    store.close()
    with collector(tmp_path, toml=SURVEY.replace('release = "live"\n', "")) as running:
        survey = Survey.from_json(call(running.survey)[1], hash=running.hash)
        people = {"commute": ["bus"] * 40, "minutes": [30.0] * 40, "hour": [8.0] * 40}
        body = batch_head(survey) + survey.mechanism.randomize_many(people).to_bytes()
        assert call(f"{running.survey}/batches", body, {"Content-Type": "application/vnd.deniable.batch"})[0] == 200
        visit = Visit(chromium, running)
        page = visit.go("results")
        page.get_by_text("No numbers yet").wait_for()
        page.get_by_text("For the operator").click()
        page.get_by_label("Admin token").fill("guessed")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_text("Something went wrong").wait_for()
        page.get_by_label("Admin token").fill(token)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_text("40 reports were counted").wait_for()
        page.locator("figure svg").first.wait_for()
        stored = page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])")
        assert token not in stored
        page.get_by_role("button", name="Sign out").click()
        page.get_by_text("No numbers yet").wait_for()
        visit.complaints = [said for said in visit.complaints if "403" not in said]
        visit.close()


def test_groups_are_compared_in_words_in_a_chart_and_in_the_downloads(chromium: Any, tmp_path: Path) -> None:
    """By hand: 80 % of the north take the bus and 20 % of the south, 4,000 people each at epsilon 4; 10 % of both go by bike."""
    toml = SURVEY.partition("[attributes.minutes]")[0].replace("epsilon = 2", 'epsilon = 4\ngroups = ["north", "south"]')
    with collector(tmp_path, toml=toml) as running:
        store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
        for (name, survey_hash), buses in zip(store.groups(running.hash).items(), (3200, 800), strict=True):
            survey = store.survey(survey_hash)
            assert survey is not None
            assert name in survey.title
            people = [{"commute": way} for way in ["bus"] * buses + ["bike"] * 400 + ["car"] * (3600 - buses)]
            store.count(
                [Arrival(survey, "", os.urandom(16), randomize_many(survey.mechanism, people, FixedKeystream(buses)), 4000)]
            )
        store.close()
        visit = Visit(chromium, running)
        page = visit.go("results")
        page.get_by_role("heading", name="Between groups").wait_for()
        sentences = page.locator("main section li").all_inner_texts()
        assert any(re.match(r"bus: higher in north, .* than in south, .* at least [45]", sentence) for sentence in sentences)
        assert any(re.match(r"bike: too few reports to tell a difference; it is at most \d", sentence) for sentence in sentences)
        assert page.locator("[id=groups-commute] svg .dot").count() == 8
        files = {}
        for kind in ("CSV", "JSON"):
            with page.expect_download() as saved:
                page.get_by_role("link", name=kind).click()
            files[kind] = Path(saved.value.path()).read_text()
        assert len([line for line in files["CSV"].splitlines() if "between groups" in line]) == 8
        assert [group["name"] for group in json.loads(files["JSON"])["between_groups"]["groups"]] == ["north", "south"]
        page.get_by_role("link", name="south (4,000)").click()
        page.get_by_role("heading", name="Travel to work: south").wait_for()
        visit.close()


def test_a_map_is_in_the_downloads(chromium: Any, tmp_path: Path) -> None:
    """Everyone lives in one corner, so its cell has the largest share of the file, too."""
    toml = (
        SURVEY.partition("[attributes.commute]")[0]
        + '[attributes.home]\nquestion = "Where do you live?"\ndomain = "rectangle:0,10,0,8,8"\n'
    )
    with collector(tmp_path, toml=toml.replace("epsilon = 2", "epsilon = 4")) as running:
        store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
        survey = store.survey(running.hash)
        assert survey is not None
        reports = randomize_many(survey.mechanism, [{"home": (0.1, 0.1)}] * 4000, FixedKeystream(5))
        store.count([Arrival(survey, "", os.urandom(16), reports, 4000)])
        store.close()
        visit = Visit(chromium, running)
        page = visit.go("results")
        page.get_by_role("heading", name="Map").wait_for()
        with page.expect_download() as saved:
            page.get_by_role("link", name="CSV").click()
        rows = list(csv.DictReader(Path(saved.value.path()).read_text().splitlines()))
        assert {row["what"] for row in rows} == {"map"}
        assert sum(float(row["estimate"]) for row in rows) == pytest.approx(1, abs=0.05)
        fullest = max(rows, key=lambda row: float(row["estimate"]))
        assert fullest["label"].startswith("x from 0 to 1.25, y from 0 to")
        visit.close()


def test_whoever_prefers_not_to_say_sends_nothing(chromium: Any, served: Running) -> None:
    visit = Visit(chromium, served)
    page = visit.go("answer")
    page.get_by_role("button", name="I prefer not to say").click()
    page.get_by_text("Nothing was drawn, sent or spent").wait_for()
    assert not [url for url in visit.requests if url.endswith("/submissions")]
    assert len(visit.requests) <= 12, "the client is one file"
    assert visit.go("answer").get_by_role("button", name="Randomize and send").count() <= 1
    visit.close()


SET = """
title = "Lines"
release = "live"
purpose = "To plan bus lines."
epsilon = 2
[attributes.lines]
question = "Which lines do you use?"
domain = "item-set:2,bus,tram,night train"
"""


def test_a_set_is_answered_by_ticking_boxes(chromium: Any, tmp_path: Path) -> None:
    with collector(tmp_path, toml=SET) as running:
        visit = Visit(chromium, running)
        page = visit.go("answer")
        group = page.get_by_role("group", name="Which lines do you use?")
        group.get_by_label("night train").check()
        assert group.get_by_role("checkbox").count() == 3
        for box in group.get_by_role("checkbox").all():
            box.check()
        assert page.evaluate("document.querySelector('form input').validationMessage") == "Choose at most 2."
        for name in ("bus", "tram"):
            group.get_by_label(name).uncheck()
        page.get_by_role("button", name="Randomize and send").click()
        page.get_by_text("Your report was counted").wait_for()
        page = visit.go("results")
        page.get_by_role("heading", name="Share of people for each item").wait_for()
        assert "undefined" not in page.locator("main").inner_html()
        cells = page.locator("figure td").all_text_contents()
        assert cells
        assert all(cell.endswith("%") for cell in cells)
        visit.close()
        said = json.loads(call(f"{running.survey}/estimates")[1])["attributes"]
        assert [one["n"] for one in said] == [1]
        assert [view["what"] for view in said[0]["views"]] == ["items", "sizes"]
        assert [row["label"] for row in said[0]["views"][0]["rows"]] == ["bus", "tram", "night train"]


def test_a_closed_survey_says_so_before_anything_is_drawn(chromium: Any, tmp_path: Path) -> None:
    with collector(tmp_path, toml=SURVEY) as running:
        store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
        following = survey_from_toml(SURVEY.replace("Travel to work", "Next round"))
        store.add_survey(following)
        store.close_survey(running.hash, successor=following.hash)
        store.close()
        time.sleep(1)
        visit = Visit(chromium, running)
        page = visit.go("answer")
        page.get_by_text("This survey is closed").wait_for()
        assert page.get_by_role("button").count() == 0
        page.get_by_role("link", name="Answer the next round instead").click()
        page.get_by_role("heading", name="Next round").wait_for()
        page.get_by_role("button", name="Randomize and send").wait_for()
        visit.close()


def test_a_survey_beyond_the_limit_says_so_in_words_for_people(chromium: Any, tmp_path: Path) -> None:
    toml = SET.replace("epsilon = 2", 'epsilon = 2\nbudget = 20\nrepeat = "each-window"\nwindow = "month"')
    with collector(tmp_path, toml=toml) as running:
        visit = Visit(chromium, running)
        page = visit.go("answer")
        page.get_by_text("more privacy than this page ever lets one person spend").wait_for()
        assert "Ledger" not in page.locator("main").inner_text()
        assert page.locator("h1").count() == 1
        visit.close()


def test_a_page_without_a_survey_leads_to_the_list_and_an_unknown_survey_says_so(chromium: Any, served: Running) -> None:
    visit = Visit(chromium, served)
    visit.page.goto(f"{served.address}/answer")
    visit.page.wait_for_url(f"{served.address}/")
    for name in ("results", "answer", "privacy", "explore"):
        visit.page.goto(f"{served.address}/{name}?survey={'0' * 64}")
        visit.page.get_by_text("there is no such survey").wait_for()
        assert visit.page.locator("h1").count() == 1
        assert not visit.page.get_by_text("Fetching").is_visible()
    visit.complaints = [said for said in visit.complaints if "404" not in said]
    visit.close()


def test_a_missing_answer_is_not_sent(chromium: Any, served: Running) -> None:
    before = counted(served)
    visit = Visit(chromium, served)
    page = visit.go("answer")
    page.get_by_label("A number from 0 to 180").fill("200")
    page.get_by_role("button", name="Randomize and send").click()
    page.wait_for_timeout(500)
    assert not [url for url in visit.requests if url.endswith("/submissions")]
    visit.close()
    assert counted(served) == before


def test_a_report_that_cannot_be_sent_waits_and_is_sent_later_unchanged(chromium: Any, served: Running) -> None:
    visit = Visit(chromium, served)
    page = visit.go("answer")
    bodies: list[str] = []

    def fail(route: Any) -> None:
        bodies.append(route.request.post_data)
        route.fulfill(status=503, body="{}")

    page.route("**/submissions", fail)
    page.clock.install()
    page.get_by_label("walk").check()
    page.get_by_label("A number from 0 to 180").fill("10")
    page.get_by_label("A time of day").fill("09:00")
    page.get_by_role("button", name="Randomize and send").click()
    for _ in range(40):
        page.clock.run_for(31_000)
        if page.get_by_text("waits").count():
            break
        page.wait_for_timeout(100)
    page.get_by_text("saved on this device").wait_for()
    page.unroute("**/submissions")
    before = counted(served)
    page = visit.go("answer")
    with page.expect_request("**/submissions") as sent:
        page.get_by_role("button", name="Send the waiting report").click()
    page.get_by_text("Your report was counted").wait_for()
    assert {*bodies, sent.value.post_data} == {sent.value.post_data}
    assert counted(served) == before + 1
    visit.complaints = [said for said in visit.complaints if "503" not in said]
    visit.close()


THEMES = [(theme, *size) for theme in ("light", "dark") for size in ((1000, 800), (375, 720))]


@pytest.mark.parametrize("page", ["", "results", "privacy", "explore", "answer"])
@pytest.mark.parametrize(("theme", "width", "height"), THEMES)
def test_pages_fit_the_screen_in_both_themes(
    chromium: Any, served: Running, page: str, theme: str, width: int, height: int
) -> None:
    visit = Visit(chromium, served, color_scheme=theme, viewport={"width": width, "height": height})
    found = visit.go(page)
    found.locator("h1").wait_for()
    found.wait_for_load_state("networkidle")
    assert found.evaluate("document.documentElement.scrollWidth") <= width
    background = [int(part) for part in re.findall(r"\d+", found.evaluate("getComputedStyle(document.body).backgroundColor"))]
    assert (sum(background) < 150) == (theme == "dark")
    if SHOTS:
        found.screenshot(path=f"{SHOTS}/{page or 'surveys'}-{theme}-{width}.png", full_page=True)
    visit.close()


def test_charts_have_names_and_tables_and_everything_has_a_label(chromium: Any, served: Running) -> None:
    visit = Visit(chromium, served)
    for name in ("results", "privacy", "explore"):
        page = visit.go(name)
        page.locator("figure svg").first.wait_for()
        for figure in page.locator("figure").all():
            assert figure.locator("svg").get_attribute("role") == "img"
            assert figure.locator("svg").get_attribute("aria-label")
        assert page.locator("figure table").count() >= 1
    for name in ("explore", "answer"):
        page = visit.go(name)
        page.locator("input").first.wait_for()
        assert page.evaluate("[...document.querySelectorAll('input, select')].every((input) => input.labels.length > 0)")
    visit.close()


def test_the_keyboard_reaches_everything(chromium: Any, served: Running) -> None:
    visit = Visit(chromium, served)
    page = visit.go("explore")
    page.get_by_role("slider", name="Epsilon").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    slider = page.get_by_role("slider", name="Epsilon")
    slider.focus()
    before = slider.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("before => document.querySelector('#epsilon').getAttribute('aria-valuetext') !== before", arg=before)
    visit.close()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, str]]:
    """A collector that takes reports only with a token, and the token."""
    folder = tmp_path_factory.mktemp("guarded")
    with collector(folder, toml=SURVEY, options=("--submit-needs-token",)) as running:
        store = Store(f"sqlite:///{folder / 'collector.db'}")
        token = store.add_token("kiosk", "submit")
        store.close()
        yield running, token


def fill(page: Any) -> None:
    page.get_by_label("bus").check()
    page.get_by_label("A number from 0 to 180").fill("35")
    page.get_by_label("A time of day").fill("08:15")
    page.get_by_role("button", name="Randomize and send").click()


KEPT = """
async () => {
  const ledger = await new Promise((done) => {
    const asked = indexedDB.open("deniable-ledger", 1);
    asked.onsuccess = () => {
      const all = asked.result.transaction("ledger").objectStore("ledger").getAll();
      all.onsuccess = () => done(all.result);
    };
  });
  return JSON.stringify([ledger, { ...localStorage }, { ...sessionStorage }, document.cookie, location.href]);
}
"""
"""Everything a page's origin keeps in this browser, and its address."""


def test_a_token_in_the_fragment_is_sent_and_kept_nowhere(chromium: Any, guarded: tuple[Running, str]) -> None:
    running, token = guarded
    before = counted(running)
    visit = Visit(chromium, running)
    sent: list[tuple[str, str | None]] = []
    visit.page.on("request", lambda request: sent.append((request.method, request.headers.get("authorization"))))
    visit.page.goto(f"{running.address}/answer?survey={running.hash}#token={token}")
    fill(visit.page)
    visit.page.get_by_text("Your report was counted").wait_for()
    assert {given for method, given in sent if method == "POST"} == {f"Bearer {token}"}
    assert {given for method, given in sent if method == "GET"} == {None}
    assert not any(token in url.partition("#")[0] for url in visit.requests)
    kept = visit.page.evaluate(KEPT)
    assert running.hash in kept
    assert token not in kept
    visit.close()
    assert counted(running) == before + 1


def test_the_page_asks_for_a_token_and_sends_the_report_that_waited(chromium: Any, guarded: tuple[Running, str]) -> None:
    running, token = guarded
    before = counted(running)
    visit = Visit(chromium, running)
    page = visit.go("answer")
    bodies: list[Any] = []
    page.on("request", lambda request: bodies.append(request.post_data) if request.method == "POST" else None)
    fill(page)
    page.get_by_label("Token").wait_for()
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Send with this token").click()
    sync_api.expect(page.get_by_label("Token")).to_have_value("")  # it asks again
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Send with this token").click()
    page.get_by_text("Your report was counted").wait_for()
    assert len(set(bodies)) == 1
    assert len(bodies) == 3
    assert token not in page.evaluate(KEPT)
    assert all("40" in said for said in visit.complaints)  # the browser itself notes the two refusals
    visit.complaints.clear()
    visit.close()
    assert counted(running) == before + 1


RACE = """
async ([name, starts, rounds]) => {
  delete Navigator.prototype.locks;
  const sdk = new URL("sdk/index.js", location.href);
  const { Ledger, IndexedDbStore, browserStore } = await import(sdk);
  const { fractionFromText } = await import(new URL("fraction.js", sdk));
  const [epsilon, budget] = [fractionFromText("1"), fractionFromText("1000")];
  const store = await browserStore(name);
  if (!(store instanceof IndexedDbStore) || navigator.locks) return null;
  window.drawn = (async () => {
    const found = [];
    for (let round = 0; round < rounds; round++) {
      while (Date.now() < starts + 40 * round) await new Promise((done) => setTimeout(done, 1));
      const make = () => Array.from(crypto.getRandomValues(new Uint8Array(8))).join();
      const ledger = new Ledger(store, { limit: "1000" });
      const { key, report } = await ledger.draw({ survey: "s", period: `${round}`, epsilon, budget, make });
      found.push(`${key} ${report}`);
    }
    return found;
  })();
  return true;
}
"""


def test_tabs_without_locks_draw_once(chromium: Any, served: Running) -> None:
    """Four tabs, 50 windows: IndexedDB's transaction is what keeps them apart."""
    context = chromium.new_context()
    try:
        tabs = [context.new_page() for _ in range(4)]
        for tab in tabs:
            tab.goto(f"{served.address}/answer?survey={served.hash}")
        starts = tabs[0].evaluate("Date.now()") + 1500
        assert [tab.evaluate(RACE, ["race", starts, 50]) for tab in tabs] == [True] * 4
        drawn = [tab.evaluate("window.drawn") for tab in tabs]
        assert drawn[0] == drawn[1] == drawn[2] == drawn[3]
        assert len(set(drawn[0])) == 50
    finally:
        context.close()
