"""Questions that come again and questions with several answers, in a real browser. Needs Debian's chromium and playwright."""

from __future__ import annotations

import json
import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.collector.dashboard.test_browser import CHROMIUM, Visit, chromium  # noqa: F401
from tests.collector.running import call, collector, counted

from deniable.collector import Arrival, Store
from deniable.core import Report

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="/usr/bin/chromium is not there: apt-get install chromium"),
]
TURNS = """
title = "Travel today"
release = "live"
purpose = "To plan bus lines."
epsilon = 1
budget = 4
window = "day"
repeat = "turns:3"
[attributes.bus]
question = "Did you take a bus today?"
domain = "categories:no,yes"
"""
CHANGES = """
title = "Trains"
release = "live"
purpose = "Timetables."
epsilon = 4
window = "day"
repeat = "changes:1"
opens = {opens}
closes = {closes}
[attributes.train]
question = "By train?"
domain = "binary"
"""
PAIRS = """
title = "Minutes"
release = "live"
purpose = "To plan phones."
epsilon = 2
[attributes.minutes]
question = "How many minutes did you use each?"
domain = "key-value:2,mail,maps,chat;0,60"
"""


def test_a_device_whose_turn_it_is_not_says_so_and_sends_nothing(chromium: Any, tmp_path: Path) -> None:  # noqa: F811
    """One profile on six days in a row, by the browser's clock: it reports on two of them, three days apart."""
    with collector(tmp_path, toml=TURNS) as running:
        visit = Visit(chromium, running)
        heard = []
        for day in range(2, 8):
            visit.page.clock.set_fixed_time(f"2026-11-{day:02}T10:00:00Z")
            before = counted(running)
            told = asked(visit.go("answer"))
            assert counted(running) == before + told
            heard += [day] if told else []
        assert len(heard) == 2
        assert heard[1] - heard[0] == 3
        visit.close()


def asked(page: Any) -> bool:
    """Does the page ask for an answer, and then send it? Else it says so, and has no button to press."""
    button, outcome = page.get_by_role("button", name="Randomize and send"), page.locator("#outcome")
    button.or_(outcome).first.wait_for()
    if not button.count():
        assert "It is not your device's turn in this period: nothing is sent" in outcome.inner_text()
        return False
    page.get_by_label("yes").check()
    button.click()
    outcome.wait_for()
    assert "Your report was counted" in outcome.inner_text()
    return True


def test_one_report_in_a_random_window_and_a_plain_sentence_in_all_others(chromium: Any, tmp_path: Path) -> None:  # noqa: F811
    """One profile on every day of a survey of five days around the collector's own: one report in all."""
    today = datetime.now(UTC).date()
    days = [today + timedelta(days=number) for number in range(-2, 3)]
    dates = f'opens = {days[0]}\ncloses = {days[-1]}\nrepeat = "random-window"'
    with collector(tmp_path, toml=TURNS.replace('repeat = "turns:3"', dates)) as running:
        visit = Visit(chromium, running)
        heard = 0
        for day in days:
            visit.page.clock.set_fixed_time(f"{day}T10:00:00Z")
            heard += asked(visit.go("answer"))
        assert heard == 1
        assert counted(running) == 1
        visit.close()


def test_a_survey_of_changes_notes_answers_and_draws_the_share_of_yes(chromium: Any, tmp_path: Path) -> None:  # noqa: F811
    """One profile on four days, by the browser's clock; the numbers of those days, and then of a single one."""
    days = [datetime.now(UTC).date() + timedelta(days=number) for number in range(-2, 2)]
    with collector(tmp_path, toml=CHANGES.format(opens=days[0], closes=days[-1])) as running:
        store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
        survey = store.survey(running.hash)
        assert survey is not None
        for number, day in enumerate(days):
            tags = [tag for tag in range(3) if (number + 1) % (1 << tag) == 0]
            reports = [Report(survey.mechanism.fingerprint, 2 * tag + (one < 300)) for tag in tags for one in range(400)]
            store.count([Arrival(survey, day.isoformat(), secrets.token_bytes(16), reports, len(reports))])
        store.close()
        visit = Visit(chromium, running)
        page = visit.go("results")
        page.get_by_text("Devices report changes").wait_for()
        assert page.locator("figure svg path.area").count() == 1
        page.locator("#window").select_option(days[1].isoformat())
        page.get_by_text("say what changed in it").wait_for()
        said = []
        for day in days:
            visit.page.clock.set_fixed_time(f"{day}T10:00:00Z")
            page = visit.go("answer")
            page.get_by_label("yes").check()
            page.get_by_role("button", name="Randomize and send").click()
            page.locator("#outcome").wait_for()
            assert "later answers cost nothing more" in page.locator("main").inner_text()
            said.append("Your report was counted" in page.locator("#outcome").inner_text())
        assert said in ([True] * 4, [False, True] * 2, [False, False, False, True])
        visit.close()


def test_the_page_says_what_turns_promise_before_anything_is_asked(chromium: Any, tmp_path: Path) -> None:  # noqa: F811
    with collector(tmp_path, toml=TURNS) as running:
        visit = Visit(chromium, running)
        page = visit.go("answer")
        page.get_by_role("heading", name="Before you answer").wait_for()
        told = page.locator("main").inner_text()
        assert "3 days" in told
        assert "each device" in told
        visit.close()


def test_pairs_are_answered_by_a_number_beside_every_key(chromium: Any, tmp_path: Path) -> None:  # noqa: F811
    with collector(tmp_path, toml=PAIRS) as running:
        visit = Visit(chromium, running)
        page = visit.go("answer")
        group = page.get_by_role("group", name="How many minutes did you use each?")
        group.get_by_label("mail").wait_for()
        assert group.get_by_role("spinbutton").count() == 3
        for key, minutes in (("mail", "12"), ("maps", "3"), ("chat", "40")):
            group.get_by_label(key).fill(minutes)
        page.get_by_role("button", name="Randomize and send").click()  # three keys, where two are allowed
        assert page.evaluate("document.querySelector('form input').validationMessage") == "Choose at most 2."
        assert not any(url.endswith("/submissions") for url in visit.requests)
        group.get_by_label("chat").fill("")
        page.get_by_role("button", name="Randomize and send").click()
        page.get_by_text("Your report was counted").wait_for()
        visit.close()
        said = json.loads(call(f"{running.survey}/estimates")[1])["attributes"]
        assert [one["n"] for one in said] == [1]
        assert [view["what"] for view in said[0]["views"]] == ["keys", "key-means"]
        assert [row["label"] for row in said[0]["views"][0]["rows"]] == ["mail", "maps", "chat"]
