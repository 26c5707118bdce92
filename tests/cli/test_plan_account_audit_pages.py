"""The pages on choosing epsilon, on its meaning and on auditing: every command on them runs and prints what they show."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.following import ROOT, blocks, compared, program, steps

from deniable.cli.app import main

PATIENCE = 240
ADDRESS = "http://127.0.0.1:8765"


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def code_of(shown: list[str]) -> int:
    """The exit code that belongs to what a page shows."""
    first = shown[0] if shown else ""
    codes = {"deniable:": 2, "VIOLATED:": 1, "no verdict:": 3}
    return next((code for begin, code in codes.items() if first.startswith(begin)), 0)


def run(text: str, shown: list[str], folder: Path) -> None:
    done = subprocess.run(program(shlex.split(text)), cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == code_of(shown), (text, done.stdout, done.stderr)
    compared(shown, [*done.stdout.splitlines(), *done.stderr.splitlines()])


@pytest.mark.parametrize(("name", "least"), [("choosing-epsilon", 6), ("what-epsilon-means", 8)])
def test_every_command_of_a_page_prints_what_it_shows(name: str, least: int) -> None:
    found = steps(page(name))
    assert len(found) >= least
    for text, shown in found:
        words = shlex.split(text)
        assert words[0] == "deniable"
        result = CliRunner().invoke(main, words[1:])
        assert result.exit_code == code_of(shown), (text, result.output)
        compared(shown, result.output.splitlines())


def test_another_number_on_a_page_would_be_seen() -> None:
    result = CliRunner().invoke(main, ["account", "group", "--epsilon", "1", "--size", "3"])
    shown = result.output.splitlines()
    compared(shown, shown)
    with pytest.raises(AssertionError, match="the page says"):
        compared([line.replace("20.09", "20.08") for line in shown], shown)
    with pytest.raises(AssertionError, match="does not show"):
        compared(shown[:1], shown)


def test_the_odds_of_a_plan_are_those_on_the_page() -> None:
    result = CliRunner().invoke(main, shlex.split("plan --task frequency --size 50 --users 10000 --half-width 0.01"))
    assert "up to 15.7 times" in result.output
    assert "by a factor of up to 15.7" in page("choosing-epsilon")


def test_the_table_of_odds_is_what_its_command_prints() -> None:
    rows = re.findall(r"^\| ([\d.]+) \| ([\d.,]+) times \| ([\d.]+) % \| ([\d.]+) \|$", page("what-epsilon-means"), re.MULTILINE)
    assert len(rows) == 6
    for epsilon, odds, right, bits in rows:
        document = json.loads(CliRunner().invoke(main, ["account", "odds", "--epsilon", epsilon, "--json"]).output)
        shown = (float(odds.replace(",", "")), float(right) / 100, float(bits))
        low, high = document["belief_from_half"]
        told = (high / low, document["guess_right"], document["bits"])
        assert told == pytest.approx(shown, rel=3e-3, abs=5e-5), epsilon


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the page on auditing is followed: the programs it shows are there."""
    for name, mark in (("client.py", "BaseHTTPRequestHandler"), ("nonce.py", "--hide")):
        (program_text,) = [body for body in blocks(page("auditing"), "python") if mark in body]
        (tmp_path / name).write_text(program_text, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_the_commands_on_auditing_print_what_the_page_shows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports are random; a correct client is accused with probability 1e-6, as the page asks for."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    found = [step for step in steps(page("auditing")) if "--url" not in step[0]]
    assert len(found) >= 10
    for text, shown in found:
        run(text, shown, folder)


@contextmanager
def serving(folder: Path) -> Iterator[None]:
    """The page's service at its port; skipped when somebody else has it."""
    process = subprocess.Popen([sys.executable, "client.py", "--serve"], cwd=folder, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                with urllib.request.urlopen(urllib.request.Request(ADDRESS, b"1"), timeout=60):
                    break
            except OSError:
                if process.poll() is not None:
                    pytest.skip("port 8765 is taken")
                time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait()


@pytest.mark.heavy
def test_the_service_on_the_page_is_audited(folder: Path) -> None:
    ((text, shown),) = [step for step in steps(page("auditing")) if "--url" in step[0]]
    with serving(folder):
        run(text, shown, folder)


def action() -> list[str]:
    """The commands of the page's action, but the installing one."""
    (text,) = blocks(page("auditing"), "yaml")
    commands = re.findall(r"^ +- run: (.*)$", text, re.MULTILINE)
    assert commands[0] == "pip install 'deniable[arrays,cli]'"
    return commands[1:]


@pytest.mark.heavy
@pytest.mark.parametrize("leaks", [False, True])
def test_the_action_fails_when_the_client_leaks_and_only_then(folder: Path, leaks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The honest client is accused with probability 1e-4 by the action's own confidence; a confidence is added for 1e-6."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    (folder / "survey").mkdir()
    CliRunner().invoke(main, ["randomize", "k-rr", "-e", "1", "-d", "categories:5", "1", "--output", str(folder / "r.csv")])
    (folder / "r.csv.recipe.json").rename(folder / "survey" / "recipe.json")
    if leaks:
        client = (folder / "client.py").read_text(encoding="utf-8")
        (folder / "client.py").write_text(client.replace("9 * OTHER", "8 * OTHER"), encoding="utf-8")
    recipe, program_audit = action()
    sure = program_audit.replace("--json", "--level 0.999999 --json")
    codes = [subprocess.run(text, shell=True, cwd=folder, check=False, timeout=PATIENCE).returncode for text in (recipe, sure)]
    assert codes == [0, 1 if leaks else 0]
    told = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    assert told["violated"] is leaks
