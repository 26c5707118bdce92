"""The quick start is followed to the letter: its files, its commands, and what they must print."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "quick-start.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8000"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATIENCE = 120


def blocks(text: str, kind: str) -> list[str]:
    return [body for name, body in BLOCK.findall(text) if name == kind]


def steps(text: str) -> list[tuple[str, list[str]]]:
    """Every command after a `$`, and the lines that must be printed under it."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(blocks(text, "console")).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def test_the_page_shows_the_example_it_uses() -> None:
    assert blocks(PAGE, "toml") == [(ROOT / "examples" / "survey" / "survey.toml").read_text(encoding="utf-8")]


def test_the_extra_that_is_installed_exists_and_brings_a_server() -> None:
    (install, _), *_ = steps(PAGE)
    assert install == "pip install '.[collector]'"
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert any(package.startswith("uvicorn") for package in extras["collector"])


def shown(lines: list[str]) -> list[str]:
    """Lines as they must agree: without rules and empty ones, one space between words."""
    found = (" ".join(line.replace("─", "").split()) for line in lines)
    return [line for line in found if line]


def agrees(expected: str, actual: str) -> bool:
    """Numbers of randomized reports may differ, a hash is any hash, and … stands for anything."""
    pattern = re.sub(r"(?:\d|,|\\\.)*\d", r"-?[\\d,.]+", re.escape(expected))
    return re.fullmatch(pattern.replace("<hash>", "[0-9a-f]{64}").replace("…", ".+"), actual) is not None


def compared(expected: list[str], actual: list[str]) -> None:
    missing = [line for line in shown(expected) if not any(agrees(line, said) for said in shown(actual))]
    assert not missing, f"the page says {missing}, but this was printed: {actual}"


def test_another_line_does_not_agree() -> None:
    assert agrees("car 33.8 % 30.9 % 36.7 %", "car 34.1 % 31 % 37.12 %")
    assert not agrees("car 33.8 % 30.9 % 36.7 %", "bus 33.8 % 30.9 % 36.7 %")
    assert not agrees("5,000 reports counted", "5,000 reports")
    assert not agrees("Travel: <hash>", "Travel: 12")


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


def command(text: str) -> list[str]:
    words = shlex.split(text)
    assert words[0] == "deniable"
    return [sys.executable, "-m", "deniable.cli", *words[1:]]


@contextmanager
def serving(words: list[str], folder: Path, lines: int) -> Iterator[list[str]]:
    """A server that is stopped with Ctrl-C, as the page says; its first lines are what it says when it is ready."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    assert process.stdout is not None
    try:
        yield [process.stdout.readline().rstrip("\n") for _ in range(lines)]
    finally:
        process.send_signal(2)
        assert process.wait(PATIENCE) == 0
        process.stdout.close()


def test_the_page_is_followed_to_the_letter(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    port = free_port()
    address = ADDRESS.replace("8000", str(port))

    def here(text: str) -> str:
        return text.replace(ADDRESS, address)

    _, (serve, announced), *rest = steps(PAGE)
    words = command(serve) if port == 8000 else [*command(serve), "--port", str(port)]
    with serving(words, tmp_path, len(announced)) as said:
        compared([here(line) for line in announced], said)
        assert [text.split()[1] for text, _ in rest] == ["submit", "watch"]
        for text, expected in rest:
            done = subprocess.run(command(here(text)), cwd=tmp_path, capture_output=True, text=True, check=False, timeout=PATIENCE)
            assert done.returncode == 0, done.stderr
            compared([here(line) for line in expected], done.stdout.splitlines())
            time.sleep(1.1)  # estimates may be a second old
        with urllib.request.urlopen(f"{address}/", timeout=30) as page:
            assert page.status == 200
            assert b"<title>" in page.read()


def test_the_readme_says_what_the_page_says() -> None:
    section = re.search(r"^## A survey in four commands\n(.*?)(?=^## |\Z)", README, re.MULTILINE | re.DOTALL)
    if section is None:
        pytest.skip("README has no quick start yet: its heading is 'A survey in four commands'")
    assert [text for text, _ in steps(section[1])] == [text for text, _ in steps(PAGE)]
    assert len(section[0].rstrip().splitlines()) <= 15
    assert "docs/quick-start.md" in section[1]
