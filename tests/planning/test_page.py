"""The page "Choosing epsilon": every command on it runs and prints what the page shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from click.testing import CliRunner

from deniable.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "choosing-epsilon.md"


def test_every_command_prints_what_the_page_shows() -> None:
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    commands = [part for block in blocks for part in block.split("$ deniable ")[1:]]
    assert len(commands) >= 6
    for command in commands:
        asked, *shown = command.strip("\n").split("\n")
        result = CliRunner().invoke(main, shlex.split(asked))
        assert result.exit_code == (2 if shown[0].startswith("deniable:") else 0), asked
        printed = [" ".join(line.split()) for line in result.output.splitlines()]
        for line in shown:
            wanted = " ".join(line.split())
            assert any(found.startswith(wanted) for found in printed), (asked, wanted)


def test_the_odds_on_the_page_are_those_of_the_plan() -> None:
    result = CliRunner().invoke(main, shlex.split("plan --task frequency --size 50 --users 10000 --half-width 0.01"))
    assert "up to 15.7 times" in result.output
    assert "15.7 times" in PAGE.read_text(encoding="utf-8")
