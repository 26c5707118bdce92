"""What is left for an honest client while 10,000 slow ones hold on to the collector: a share of its throughput.

python benchmarks/slow_clients.py [--sockets 10000] [--sources 50] [--seconds 15] [--rounds 4] [--json]

Slow sockets come from many addresses of this machine (127.0.1.1, 127.0.1.2, …), a quarter of them of each kind: a head and
no body; half a head; idle after a first answer; one byte at a time. Every one that the collector closes comes back after
`--again` seconds. The honest client (127.0.0.1) submits reports over kept connections and over a new one each time, as fast
as they are counted.

Two collectors run at the same time, each with its honest client; one of them is attacked, in turn. The share of a round is

    (attacked / other, during the attack) / (attacked / other, before it)

so that whatever else the machine does slows both alike, the attackers' own work included: they would bring machines of their
own, and therefore run at a lower priority here. How many sockets they opened and lost is shown: fewer would be no attack.
The median over the rounds counts; the plain share, during / before of the attacked one, is shown beside it. The script
fails when the share is below 0.9 or an honest request was refused.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deniable.core import encode_report
from deniable.surveys import Survey

SURVEY = """
title = "Benchmark"
purpose = "To see who is served."
epsilon = 1
[attributes.colour]
question = "Which of a hundred colours?"
domain = "categories:100"
mechanism = "k-rr"
"""
LEAST = 0.9
STAGES = ("quiet", "opening", "held")
ATTACK = Path(__file__).with_name("slow_sockets.py")


@dataclass
class Tally:
    """What became of honest requests."""

    kept: int = 0
    new: int = 0
    refused: int = 0
    cut: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    """Of what was refused."""


class Honest(asyncio.Protocol):
    """Submits, waits for the answer, and again: over one connection, or over a new one each time."""

    def __init__(self, client: Client, keep: bool) -> None:
        self.client = client
        self.keep = keep
        self.waiting = False
        self.heard = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.send()

    def send(self) -> None:
        assert self.transport is not None
        self.waiting = True
        self.transport.write(self.client.request())

    def data_received(self, data: bytes) -> None:
        assert self.transport is not None
        self.heard += data
        if not self.heard.endswith(b"}"):
            return  # the body of every answer is one JSON object
        tally = self.client.tally
        self.waiting = False
        said, self.heard = self.heard, b""
        if not said.startswith(b"HTTP/1.1 200 "):
            tally.refused += 1
            tally.statuses[said[9:12].decode()] += 1
        elif self.keep:
            tally.kept += 1
        else:
            tally.new += 1
        if self.keep and not self.client.stopping:
            self.send()
        else:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.waiting and not self.client.stopping:
            self.client.tally.cut += 1
        self.client.gone(self.keep)


class Client:
    """Some connections of both kinds."""

    def __init__(self, port: int, path: str, reports: list[str]) -> None:
        self.port = port
        self.path = path
        self.reports = reports
        self.tally = Tally()
        self.stopping = False
        self.tasks: set[asyncio.Task[object]] = set()

    def request(self) -> bytes:
        random = os.urandom(16)
        body = f'{{"key":"{random.hex()}","report":"{self.reports[random[0] % len(self.reports)]}"}}'
        head = f"POST {self.path}/submissions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        return f"{head}\r\n\r\n{body}".encode()

    def gone(self, keep: bool) -> None:
        """A connection is over: the next one."""
        if not self.stopping:
            self.begin(keep)

    def begin(self, keep: bool) -> None:
        """Connect."""
        task: asyncio.Task[object] = asyncio.get_running_loop().create_task(self._connect(keep))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _connect(self, keep: bool) -> None:
        try:
            await asyncio.get_running_loop().create_connection(lambda: Honest(self, keep), "127.0.0.1", self.port)
        except OSError:
            self.tally.cut += 1
            await asyncio.sleep(0.1)
            self.gone(keep)

    async def measured(self, seconds: float) -> dict[str, float]:
        """Requests a second."""
        before, began = (self.tally.kept, self.tally.new), time.monotonic()
        await asyncio.sleep(seconds)
        took = time.monotonic() - began
        kept, new = self.tally.kept - before[0], self.tally.new - before[1]
        return {"kept": kept / took, "new": new / took, "all": (kept + new) / took}


def start_attack(given: argparse.Namespace, target: Client) -> subprocess.Popen[str]:
    command = [sys.executable, str(ATTACK), str(target.port), target.path, "--sockets", str(given.sockets)]
    command += ["--sources", str(given.sources), "--again", str(given.again)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    os.set_blocking(process.stdout.fileno(), False)
    return process


def end_attack(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


async def both(clients: list[Client], seconds: float) -> list[dict[str, float]]:
    return list(await asyncio.gather(*(client.measured(seconds) for client in clients)))


async def one_round(given: argparse.Namespace, clients: list[Client], attacked: int) -> dict[str, Any]:
    """Quiet, opening, held: the speeds of both, and what the attackers say."""
    said = {"opened": 0, "held": 0, "lost": 0}
    quiet = await both(clients, given.seconds)
    process = start_attack(given, clients[attacked])
    try:
        ends, opening = time.monotonic() + 90, quiet
        while said["opened"] < given.sockets and time.monotonic() < ends:
            opening = await both(clients, 1)
            for line in process.stdout or ():
                said.update(json.loads(line))
        held = await both(clients, given.seconds)
        for line in process.stdout or ():
            said.update(json.loads(line))
    finally:
        end_attack(process)
    other = 1 - attacked
    share = {
        kind: held[attacked][kind] / held[other][kind] / (quiet[attacked][kind] / quiet[other][kind]) for kind in held[attacked]
    }
    plain = held[attacked]["all"] / quiet[attacked]["all"]
    found = {"share": share, "plain": plain, "attack": said}
    for name, speeds in (("quiet", quiet), ("opening", opening), ("held", held)):
        found[name] = {"attacked": speeds[attacked], "other": speeds[other]}
    return found


async def measure(given: argparse.Namespace, clients: list[Client]) -> dict[str, Any]:
    for client in clients:
        for number in range(given.honest):
            client.begin(keep=number % 4 != 0)
    await asyncio.sleep(2)
    rounds = []
    for number in range(given.rounds):
        rounds.append(await one_round(given, clients, number % 2))
        await asyncio.sleep(2)
    for client in clients:
        client.stopping = True
    await asyncio.sleep(1)
    return {
        "share": {kind: statistics.median(one["share"][kind] for one in rounds) for kind in rounds[0]["share"]},
        "plain": statistics.median(one["plain"] for one in rounds),
        "refused": sum(client.tally.refused for client in clients),
        "statuses": [dict(client.tally.statuses) for client in clients],
        "cut": sum(client.tally.cut for client in clients),
        "rounds": rounds,
    }


def served(folder: Path) -> subprocess.Popen[str]:
    folder.mkdir()
    (folder / "survey.toml").write_text(SURVEY)
    command = [sys.executable, "-m", "deniable.cli", "serve", str(folder / "survey.toml"), "--port", "0", "--json"]
    return subprocess.Popen([*command, "--database", f"sqlite:///{folder / 'c.db'}"], stdout=subprocess.PIPE, text=True)


def client_of(process: subprocess.Popen[str]) -> Client:
    assert process.stdout is not None
    said = json.loads(process.stdout.readline())
    port, path = int(said["address"].rsplit(":", 1)[1]), f"/v1/surveys/{said['surveys'][0]['hash']}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    survey = Survey.from_json(opener.open(f"http://127.0.0.1:{port}{path}", timeout=30).read())
    reports = [encode_report(survey.mechanism, survey.mechanism.randomize(i)).hex() for i in range(100)]
    return Client(port, path, reports)


def shown(found: dict[str, Any]) -> None:
    for number, one in enumerate(found["rounds"], 1):
        said = one["attack"]
        speeds = "; ".join(
            f"{name} {one[name]['attacked']['all']:,.0f}/s beside {one[name]['other']['all']:,.0f}/s" for name in STAGES
        )
        print(f"round {number}: {speeds}; {said['opened']:,} sockets opened, {said['lost']:,} closed: {one['share']['all']:.1%}")
    share = found["share"]
    print(
        f"throughput kept, median: {share['all']:.1%} (kept connections {share['kept']:.1%}, a new one each time "
        f"{share['new']:.1%}; plain {found['plain']:.1%}); refused {found['refused']} {found['statuses']}, cut {found['cut']}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sockets", type=int, default=10_000)
    parser.add_argument("--sources", type=int, default=50, choices=range(1, 251), metavar="1..250")
    parser.add_argument("--again", type=float, default=10.0, help="seconds until a closed socket comes back")
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--honest", type=int, default=4, help="connections of each honest client; a quarter is always new")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < given.sockets + 100:
        parser.error(f"this system allows {hard} open files; --sockets must be smaller")
    with tempfile.TemporaryDirectory() as folder:
        processes = [served(Path(folder) / name) for name in ("one", "other")]
        try:
            found = asyncio.run(measure(given, [client_of(process) for process in processes]))
        finally:
            for process in processes:
                process.terminate()
                process.wait(30)
                if process.stdout is not None:
                    process.stdout.close()
    if given.json:
        print(json.dumps(found, indent=1))
    else:
        shown(found)
    return 0 if found["share"]["all"] >= LEAST and found["refused"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
