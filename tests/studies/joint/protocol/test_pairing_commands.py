"""Pairing many users with real processes on loopback: the page works as written, and misbehaviour is contained."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable.cli.app import main
from deniable.studies import JointSurvey

pytestmark = pytest.mark.slow  # waits by the clock, as the protocol does

PAGE = Path(__file__).parents[4] / "docs" / "pairing-many-users.md"
COMMANDS = re.findall(r"^\$ (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
USERS = ("ada", "bob", "eve", "joe", "lia", "van")

MISBEHAVING = """
import sys
from pathlib import Path
from deniable.studies import JointSurvey, Participant
from deniable.studies.joint.protocol.board_link import BoardLink
from deniable.studies.joint.protocol.files import read_identity
from deniable.studies.joint.protocol.joint_randomness import Phase
from deniable.studies.joint.protocol.record import commit_line, reveal_line
from deniable.studies.joint.protocol.taking_part import answer_complaints, send_dealing

name, port = sys.argv[1], int(sys.argv[2])
survey, identity = JointSurvey.load(Path("survey.json")), read_identity(Path(f"{name}.key"))
user, other = (Participant.new(survey.pairing_round, name, len(survey.committee)) for _ in range(2))
with BoardLink(survey, identity, "127.0.0.1", port, 60) as board:
    board.post(commit_line(user))
    board.follow_to(Phase.DEAL)
    send_dealing(board, survey, identity, user)
    if name == "van":
        sys.exit()  # vanishes after dealing
    board.follow_to(Phase.COMPLAIN)
    answer_complaints(board, user)
    try:
        board.post(reveal_line(other))
    except Exception as refused:
        print(refused)
"""


class Folder:
    """A folder in which commands run; ports of the page are replaced by free ones."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
            self.relay, self.board = (server.getsockname()[1] for server in (one, other))

    def start(self, command: str) -> subprocess.Popen[str]:
        command = command.replace("7455", str(self.relay)).replace("7456", str(self.board))
        command = command.replace("deniable joint", f"{sys.executable} -m deniable joint")
        bash = shutil.which("bash")
        assert bash is not None
        return subprocess.Popen(
            [bash, "-c", command],
            cwd=self.path,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def run(self, command: str) -> str:
        process = self.start(command)
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0, out
        assert "Traceback" not in out
        return out


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def answers(folder: Folder, command: str) -> str:
    """Everybody answers by a relay."""
    relay = folder.start("exec deniable joint relay --port 7455")
    try:
        assert relay.stdout is not None
        assert "relay on" in relay.stdout.readline()
        return folder.run(command)
    finally:
        relay.kill()
        relay.communicate(timeout=120)


def test_the_page_works_as_written(folder: Folder) -> None:
    survey, users, members, board, serve, keep, pair, check, relay, reply, estimate = COMMANDS
    assert "relay" in relay
    for command in (survey, users, members, board):
        folder.run(command)
    # In one shell, as on the page: the round is over when all of its processes are.
    told = folder.run("\n".join((serve, keep, pair)))
    assert len(re.findall(r"\w+ answers (?:with \w+|alone); record", told)) == 5
    assert len(set(re.findall(r"record ([0-9a-f]{16})", told))) == 1
    assert told.count("0 complaints, 0 contributions opened") == 3
    assert re.match(r"5 users took part: 2 pairs, joint bytes [0-9a-f]{64}\n\w+ answers alone\n$", folder.run(check))
    said = answers(folder, reply)
    assert said.count("drawn with the partner") == 4
    assert said.count("answered alone: there is no partner: the number of users is odd") == 1
    assert folder.run(estimate).startswith("5 reports")


def run(*arguments: str) -> int:
    return CliRunner().invoke(main, ["joint", *arguments]).exit_code


def prepare(path: Path) -> None:
    """The survey and all keys, by the same commands in this process."""
    survey = ["--survey", str(path / "survey.json")]
    assert run("survey", *survey, "--round", "monday", "--epsilon", "1", "--epsilon-collusion", "2") == 0
    roles = [(name, "user") for name in USERS] + [(name, "member") for name in ("m1", "m2", "m3")] + [("board", "board")]
    for name, role in roles:
        assert run("keys", *survey, "--name", name, "--role", role, "--key", str(path / f"{name}.key")) == 0
    assert run("keys", *survey, "--name", "x", "--role", "king") == 2
    assert run("keys", *survey, "--name", "again", "--role", "board", "--key", str(path / "again.key")) == 2


def test_a_liar_and_a_vanishing_user_do_not_stop_the_others(folder: Folder) -> None:
    client = "deniable joint"
    prepare(folder.path)
    (folder.path / "misbehave.py").write_text(MISBEHAVING)
    told = folder.run(
        "deniable joint board --port 7456 --patience 6 &\n"
        "for name in m1 m2 m3; do deniable joint member --key $name.key --board 127.0.0.1:7456 & done\n"
        f"for name in lia van; do {sys.executable} misbehave.py $name 7456 & done\n"
        f"for name in ada bob eve joe; do {client} pair --name $name --board 127.0.0.1:7456 & done; wait"
    )
    assert "'lia' revealed another contribution than committed" in told
    assert len(set(re.findall(r"record ([0-9a-f]{16})", told))) == 1
    assert len(re.findall(r"(?:ada|bob|eve|joe) answers", told)) == 4
    assert "opened; record" in told
    checked = folder.run(f"{client} check")
    assert "6 users took part" in checked
    assert "false reveal: lia is excluded" in checked
    assert "opened by the committee: van" in checked
    paired = JointSurvey.load(folder.path / "paired.json")
    assert paired.excluded == {"lia"}
    pairing = paired.pairing()
    said = answers(
        folder,
        f"for name in ada bob eve joe; do echo 1 | {client} answer --survey paired.json --name $name "
        "--relay 127.0.0.1:7455 --timeout 8 & done; wait",
    )
    together = [pair for pair in pairing.pairs if "van" not in pair]
    assert said.count("drawn with the partner") == 2 * len(together)
    assert said.count("the partner was excluded") == len(pairing.left) - ("van" in pairing.left)
    lines = (folder.path / "reports.jsonl").read_text().splitlines()
    assert [set(json.loads(line)) for line in lines] == [{"round", "output"}] * 4
    assert "excluded" in folder.run(f"echo 1 | {client} answer --survey paired.json --name lia 2>&1 || true")
    assert not (folder.path / "again.key").exists()
