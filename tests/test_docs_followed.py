"""The README, the quick start and the tutorials, followed to the letter as a newcomer would, in a folder with only the examples."""

from __future__ import annotations

import re
import shutil
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from tests.following import ROOT, Reader, page_blocks, steps

TUTORIALS = ("collect-a-survey", "compare-mechanisms", "noise-and-models")


def free_port() -> int:
    """8000, as the page says, or any other when somebody else has it."""
    for port in (8000, 0):
        with socket.socket() as line:
            try:
                line.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(line.getsockname()[1])
    raise AssertionError("there is no free port")


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    shutil.copytree(ROOT / "examples" / "survey", tmp_path / "examples" / "survey")
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:
        yield Reader(tmp_path, free_port(), stack)


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_quick_start_does_what_it_says(reader: Reader) -> None:
    assert reader.follow(page("docs/quick-start.md")) == 4
    with urllib.request.urlopen(f"{reader.address}/", timeout=30) as dashboard:
        assert dashboard.status == 200
        assert b"<title>" in dashboard.read()


@pytest.mark.slow
def test_the_operators_guide_does_what_it_says(reader: Reader) -> None:
    assert reader.follow(page("docs/operating.md")) == 23
    assert (reader.folder / "privacy.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.heavy
def test_the_readme_does_what_it_says(reader: Reader) -> None:
    assert reader.follow(page("README.md")) >= 20
    assert (reader.folder / "output" / "window.svg").read_text(encoding="utf-8").startswith("<svg")
    (setup,) = [block.body for block in page_blocks(page("README.md")) if block.kind == ""]
    targets = re.findall(r"^make (\w+)", setup, re.MULTILINE)
    assert targets == ["demo", "test"]
    for target in targets:
        reader.step(f"make {target}", [], 0.0)


@pytest.mark.heavy
@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_does_what_it_says(name: str, reader: Reader) -> None:
    if shutil.which("curl") is None and "$ curl" in page(f"docs/tutorials/{name}.md"):
        pytest.skip("curl is not installed: the tutorial on surveys uses it")
    assert reader.follow(page(f"docs/tutorials/{name}.md")) >= 5


@pytest.mark.parametrize("name", ["docs/quick-start.md", *(f"docs/tutorials/{name}.md" for name in TUTORIALS)])
def test_every_command_of_a_tutorial_shows_what_it_prints(name: str) -> None:
    silent = [text for text, expected in steps(page(name)) if not expected and text.split()[0] not in ("pip", "curl")]
    assert not silent, f"{name} does not show what these print: {silent}"
