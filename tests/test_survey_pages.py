"""The pages on the dashboard and on the JavaScript client: their commands run and print what the pages say."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from tests.collector.running import collector
from tests.following import ADDRESS, ROOT, blocks, compared, steps

from deniable.collector import planned_survey, planned_surveys

DOCS = ROOT / "docs"


@pytest.mark.slow
def test_the_number_of_fake_devices_on_the_dashboard_page_is_what_its_command_prints() -> None:
    commands = steps((DOCS / "dashboard.md").read_text(encoding="utf-8"))
    assert commands[:2] == [(text, []) for text, _ in steps((DOCS / "quick-start.md").read_text(encoding="utf-8"))[1:3]]
    (text, expected) = commands[2]
    words = shlex.split(text)
    assert words[0] == "python"
    done = subprocess.run([sys.executable, *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.splitlines() == expected


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed: the JavaScript client's page is not run")
def test_the_javascript_page_answers_the_example_survey(tmp_path: Path) -> None:
    page = (DOCS / "javascript-client.md").read_text(encoding="utf-8")
    (program,) = [body for body in blocks(page, "js") if "./sdk/js/src/index.js" in body]
    shutil.copytree(ROOT / "sdk" / "js" / "src", tmp_path / "sdk" / "js" / "src")
    (tmp_path / "sdk" / "js" / "package.json").write_text((ROOT / "sdk" / "js" / "package.json").read_text())
    (tmp_path / "answer.mjs").write_text(program)
    ((text, expected),) = steps(page)
    with collector(tmp_path, toml=(ROOT / "examples" / "survey" / "survey.toml").read_text()) as running:
        words = shlex.split(text.replace(ADDRESS, running.address))
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    compared(expected, done.stdout.splitlines())
    assert "counted" in done.stdout


def test_the_survey_files_in_the_pages_compile() -> None:
    whole, part = (
        blocks(path.read_text(encoding="utf-8"), "toml")[place]
        for path, place in ((ROOT / "spec" / "survey-v1.md", 0), (DOCS / "survey.md", 1))
    )
    assert {name: set(planned.reasons) for name, planned in planned_surveys(whole).items()} == {
        "north": {"commute"},
        "south": {"commute"},
    }
    found = planned_survey('title = "t"\npurpose = "p"\nepsilon = 1\n' + part)
    assert set(found.reasons) == {"town", "minutes", "age", "stars"}
    assert "5,000 answers" in found.reasons["town"]
    assert "the mean" in found.reasons["minutes"]
