"""All five roles of an anonymous survey as separate processes on one machine: issuer, relay, shuffler, collector, devices.

    python examples/anonymous/run.py [--people 40] [--folder FOLDER]

In a real deployment each role runs on a machine of its own, and different people run them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DENIABLE = [sys.executable, "-m", "deniable.cli"]
SURVEY = """
title = "Commuting"
purpose = "To plan bus lines."
epsilon = 4
release = {{ reports = {people}, minutes = 0 }}

[attributes.commute]
question = "How did you get to work today?"
domain = "categories:bike,bus,car,walk"

[admission]
issuer = "{issuer}"
key = "{token_key}"

[shuffle]
key = "{analyst_key}"
reports = {people}
"""


class Roles:
    """Processes that end together."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.processes = folder, list[subprocess.Popen[str]]()

    def start(self, *command: str) -> dict[str, Any]:
        """Start a role and wait until it says where it listens."""
        process = subprocess.Popen(  # noqa: S603 - our own command
            [*DENIABLE, *command, "--port", "0", "--json"], cwd=self.folder, stdout=subprocess.PIPE, text=True
        )
        self.processes.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            sys.exit(f"`deniable {command[0]}` did not start")
        said: dict[str, Any] = json.loads(line)
        print(f"{command[0]:8} {said['address']}", flush=True)
        return said

    def stop(self) -> None:
        """End all of them, the last one first."""
        for process in reversed(self.processes):
            process.terminate()
            process.wait(30)


def once(folder: Path, *command: str) -> str:
    """The output of a command that ends by itself."""
    done = subprocess.run([*DENIABLE, *command], cwd=folder, check=True, capture_output=True, text=True)  # noqa: S603
    return done.stdout.strip()


def counted(survey: str) -> dict[str, Any]:
    """What the collector publishes now."""
    with urllib.request.urlopen(f"{survey}/estimates", timeout=30) as answer:  # noqa: S310 - this machine
        estimates: dict[str, Any] = json.load(answer)
        return estimates


def main() -> None:
    """Begin all roles, let everyone answer, show what the collector learns."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--folder", type=Path, default=None)
    given = parser.parse_args()
    people: int = given.people
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        roles = Roles(folder)
        try:
            play(roles, folder, people)
        finally:
            roles.stop()


def play(roles: Roles, folder: Path, people: int) -> None:
    """The five roles, one after the other."""
    token_key = once(folder, "issuer", "--new-key", "issuer.pem")
    analyst_key = once(folder, "shuffle", "--new-key", "analyst.key")
    (folder / "codes.txt").write_text(once(folder, "issuer", "--new-codes", str(people)))
    issuer = roles.start("issuer", "--key", "issuer.pem", "--invitations", "codes.txt")
    text = SURVEY.format(issuer=issuer["address"], token_key=token_key, analyst_key=analyst_key, people=people)
    (folder / "survey.toml").write_text(text)
    collector = roles.start("serve", "survey.toml", "--analyst-key", "analyst.key")
    survey = collector["surveys"][0]["url"]
    shuffler = roles.start("shuffle", survey, "--gateway-keys", "shuffler.keys", "--at-least", str(min(people, 100)))
    relay = roles.start("relay", "--gateway", shuffler["address"])
    print(once(folder, "account", "survey", survey).splitlines()[1], flush=True)
    devices = [sys.executable, str(HERE / "devices.py"), survey, "--shuffler", shuffler["address"], "--relay", relay["address"]]
    subprocess.run([*devices, "--codes", "codes.txt"], cwd=folder, check=True)  # noqa: S603
    for _ in range(300):
        estimates = counted(survey)
        if estimates["n"] >= people:
            break
        time.sleep(0.2)
    print(f"The collector counted {estimates['n']} reports, in random order, from nobody it knows.")


if __name__ == "__main__":
    main()
