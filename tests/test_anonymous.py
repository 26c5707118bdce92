"""The anonymous example as its page says it: five roles as real processes, and what is left on their disks."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

ROOT = Path(__file__).resolve().parent.parent
PEOPLE = 40


def test_the_example_uses_the_commands_of_the_page() -> None:
    """Every role that the example starts, with every option, is in a block of the page."""
    page = (ROOT / "docs" / "anonymity.md").read_text(encoding="utf-8")
    shown = [line[2:].split() for line in page.splitlines() if line.startswith("$ deniable ")]
    example = (ROOT / "examples" / "anonymous" / "run.py").read_text(encoding="utf-8")
    used = re.findall(r"(?:roles\.start|once)\((?:folder, )?(\"[^)]*?)\)", example)
    assert len(used) == 8
    for call in used:
        role, *words = re.findall(r"\"([\w.-]+)\"", call)
        options = {word for word in words if word.startswith("--")}
        assert any(line[1] == role and options - {"--at-least"} <= set(line) for line in shown), call
    assert "`--at-least`" in page  # forty devices are fewer than a shuffler takes by itself


@pytest.mark.heavy
def test_the_page_runs_all_five_roles_by_one_command(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "anonymity.md").read_text(encoding="utf-8")
    block = re.search(r"^\$ python (examples/anonymous/run\.py)\n((?:.+\n)+?)```", page, re.MULTILINE)
    assert block is not None
    folder = tmp_path / "roles"
    whole = [sys.executable, str(ROOT / block[1]), "--folder", str(folder)]
    done = subprocess.run(whole, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert re.sub(r"(?<=127\.0\.0\.1:)\d+", "…", done.stdout) == block[2]
    assert f"The collector counted {PEOPLE} reports" in done.stdout
    # No address and no code on any disk but the issuer's own list, and no report at the shuffler's.
    codes = (folder / "codes.txt").read_text().split()
    # The survey names its issuer, and collector and shuffler keep the survey: that address is the issuer's, not a person's.
    named = re.findall(rb"127\.0\.0\.1:\d+", (folder / "survey.toml").read_bytes())
    assert named
    for file in folder.iterdir():
        raw = file.read_bytes()
        for address in named:
            raw = raw.replace(address, b"")
        if file.name != "codes.txt":
            assert not any(code.encode() in raw for code in codes), file.name
        if file.suffix in (".db", ".db-wal", ".keys"):
            assert b"127.0.0.1" not in raw, file.name
    assert b"recent" in (folder / "shuffle.db").read_bytes()  # its tables are there, and empty


def test_a_surveys_promise_is_read_from_its_document(tmp_path: Path) -> None:
    from click.testing import CliRunner
    from tests.collector.anonymous import survey_with

    from deniable.cli.app import main

    for survey, shown in ((survey_with(reports=10_000), True), (survey_with(reports=3), False), (survey_with(), False)):
        (tmp_path / "survey.json").write_bytes(survey.to_json())
        said = CliRunner().invoke(main, ["account", "survey", str(tmp_path / "survey.json"), "--json"])
        promise = json.loads(said.output)["shuffled"]
        facts = json.loads(CliRunner().invoke(main, ["disclose", str(tmp_path / "survey.json")]).output)
        assert "admission" in facts
        assert ("central_privacy" in facts) == (promise is not None) == shown
        if promise is not None:
            assert promise["epsilon"] < 0.06
            assert promise["people"] == 10_000
            assert any("different people" in condition for condition in promise["conditions"])
            assert facts["central_privacy_holds_only_if"] == promise["conditions"]
            page = tmp_path / "privacy.html"
            CliRunner().invoke(main, ["disclose", str(tmp_path / "survey.json"), "--output", str(page)])
            text = html.unescape(page.read_text())
            assert f"({promise['epsilon']:.4g}, 1e-06)-private" in text
            assert all(condition in text for condition in promise["conditions"])


def test_repeated_answers_are_composed() -> None:
    from dataclasses import replace

    from tests.collector.anonymous import survey_with

    from deniable.privacy import shuffled_promise

    once = survey_with(tokens=None, reports=10_000)
    often = replace(once, repeat="each-window", window="week", budget=8)
    one, eight = shuffled_promise(once), shuffled_promise(often)
    assert one is not None
    assert eight is not None
    assert eight.rounds == 8
    assert 2 * one.epsilon < eight.epsilon < 12 * one.epsilon
