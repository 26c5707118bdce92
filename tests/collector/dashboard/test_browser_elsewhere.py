"""The collector's page does not answer surveys that hide who answers, and says so. Needs Debian's chromium and playwright."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from tests.collector.anonymous import toml_with
from tests.collector.running import collector, counted

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: the pages are not tested in a browser")
pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="/usr/bin/chromium is not there: apt-get install chromium"),
]


def test_the_page_of_a_hidden_survey_says_where_to_answer(tmp_path: Path) -> None:
    with (
        collector(tmp_path, toml=toml_with(tokens=1)) as running,
        sync_api.sync_playwright() as playwright,
        tempfile.TemporaryDirectory() as profile,
    ):
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS, env={**os.environ, "HOME": profile})
        page = browser.new_page()
        page.goto(f"{running.address}/answer?survey={running.hash}")
        page.wait_for_selector("#outcome")
        assert "cannot be answered on this page" in page.inner_text("#outcome")
        assert page.query_selector("form") is None
        browser.close()
        assert counted(running) == 0
