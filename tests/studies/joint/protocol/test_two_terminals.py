"""The page about two terminals works as written."""

from __future__ import annotations

import json
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # waits by the clock, as the protocol does

PAGE = Path(__file__).parents[4] / "docs" / "joint-in-two-terminals.md"
COMMANDS = re.findall(r"^\$ (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


class Terminal:
    """Runs documented commands in a folder, with this interpreter, and a free port for the relay's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.port = str(server.getsockname()[1])

    def start(self, command: str) -> subprocess.Popen[str]:
        command = command.replace("7455", self.port)
        private, _, rest = command.rpartition(" | ")
        words = shlex.split(rest)
        assert words[0] == "deniable"
        process = subprocess.Popen(
            [sys.executable, "-m", *words],
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if private:
            assert process.stdin is not None
            process.stdin.write(private.removeprefix("echo ") + "\n")
            process.stdin.flush()
        return process

    def run(self, command: str, code: int = 0) -> str:
        return self.finish(self.start(command), code)

    def finish(self, process: subprocess.Popen[str], code: int = 0) -> str:
        out, errors = process.communicate(timeout=60)
        assert process.returncode == code, errors
        assert "Warning" not in errors
        return out + errors


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


def documented(command: str) -> list[str]:
    """The output the page shows below a command."""
    text = PAGE.read_text(encoding="utf-8").split(f"$ {command}\n", 1)[1]
    return text.split("```", 1)[0].splitlines()


def test_the_page_works_as_written(terminal: Terminal) -> None:
    survey, ada_keys, bob_keys, relay, ada, bob, estimate = COMMANDS
    assert terminal.run(survey).splitlines() == documented(survey)
    for keys in (ada_keys, bob_keys):
        terminal.run(keys)
    assert (terminal.folder / "ada.key").stat().st_mode & 0o077 == 0
    running = terminal.start(relay)
    try:
        assert running.stdout is not None
        assert running.stdout.readline().strip() == documented(relay)[0].replace("7455", terminal.port)
        first = terminal.start(ada)
        second = terminal.start(bob)
        for process, command in ((first, ada), (second, bob)):
            shown, told = documented(command), terminal.finish(process).splitlines()
            numbers = re.compile(r"(?<=report )\d+|\d+(?= bytes)")
            assert [numbers.sub("#", line) for line in told[-len(shown) :]] == [numbers.sub("#", line) for line in shown]
            assert told[:5] == documented(survey)
    finally:
        running.kill()
        running.communicate(timeout=120)
    lines = (terminal.folder / "reports.jsonl").read_text().splitlines()
    assert [set(json.loads(line)) for line in lines] == [{"round", "output"}] * 2
    assert re.match(r"2 reports, [012] of them 1: about -?\d+\.\d\d users have a 1, standard error \d", terminal.run(estimate))


def test_mistakes_are_explained(terminal: Terminal) -> None:
    client = "deniable joint"
    assert "cannot be read" in terminal.run(f"{client} keys --name ada", 2)
    assert "must be given by" in terminal.run(f"{client} survey --round r --p 3/4", 2)
    assert "rho" in terminal.run(f"{client} survey --round r --p 3/4 --rho=-1/2", 2)
    terminal.run(f"{client} survey --round r --p 3/4 --rho=-1/6")
    assert "not overwritten" in terminal.run(f"{client} survey --round r --p 3/4 --rho=-1/6", 2)
    terminal.run(f"{client} keys --name ada")
    terminal.run(f"{client} keys --name bob")
    shown = terminal.run(f"echo 73 | {client} answer --name ada --relay 127.0.0.1:7455", 2)
    assert "0 or 1" in shown
    assert "73" not in shown
    # Nobody is at the relay's port: the user answers alone.
    assert "answered alone" in terminal.run(f"echo 1 | {client} answer --name ada --relay 127.0.0.1:7455")
    assert "already answered" in terminal.run(f"echo 0 | {client} answer --name ada --relay 127.0.0.1:7455", 2)
    (terminal.folder / "reports.jsonl").write_text('{"round": "r", "output": 2}\n')
    assert "line 1" in terminal.run(f"{client} estimate", 1)
