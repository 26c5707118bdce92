"""What is left for an honest client while 10,000 slow ones hold on to the collector: a share of its throughput.

python benchmarks/slow_clients.py [--sockets 10000] [--sources 50] [--seconds 20] [--rounds 3] [--json]

Slow sockets come from many addresses of this machine (127.0.1.1, 127.0.1.2, …), a quarter of them of each kind: a head and
no body; half a head; idle after a first answer; one byte at a time. Every one that the collector closes comes back after
`--again` seconds. The honest client (127.0.0.1) submits reports over kept connections and over a new one each time, as fast
as they are counted. Its throughput is measured before, during and after the attack, in turn, in every round; the share is
the median over rounds of during / mean(before, after). The attackers have a low priority, since they would bring machines
of their own. On a machine that does other work at the same time the share is mostly noise; then look at the share per second
of processor time that the collector used. The script fails when the share is below 0.9 or an honest request was refused.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deniable.surveys import Survey
from deniable.wire import encode_report

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
ATTACK = Path(__file__).with_name("slow_sockets.py")


@dataclass
class Tally:
    """What became of honest requests."""

    kept: int = 0
    new: int = 0
    refused: int = 0
    cut: int = 0


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

    def __init__(self, server: int, port: int, path: str, reports: list[str]) -> None:
        self.server = server
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
        """Requests a second, and requests per second of the collector's processor time."""
        before, began, used = (self.tally.kept, self.tally.new), time.monotonic(), processor_seconds(self.server)
        await asyncio.sleep(seconds)
        took, used = time.monotonic() - began, processor_seconds(self.server) - used
        kept, new = self.tally.kept - before[0], self.tally.new - before[1]
        return {"kept": kept / took, "new": new / took, "all": (kept + new) / took, "processor": (kept + new) / max(used, 0.01)}


def processor_seconds(process: int) -> float:
    """What a process has used so far, from /proc."""
    numbers = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


async def attacked(
    client: Client, given: argparse.Namespace, port: int, path: str
) -> tuple[dict[str, float], dict[str, float], dict[str, int]]:
    """Throughput while the sockets are opened, then while they are held; what the attackers say."""
    command = [sys.executable, str(ATTACK), str(port), path, "--sockets", str(given.sockets)]
    command += ["--sources", str(given.sources), "--again", str(given.again)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.nice(19))
    assert process.stdin is not None
    assert process.stdout is not None
    os.set_blocking(process.stdout.fileno(), False)
    said = {"opened": 0, "held": 0, "lost": 0}

    def look() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            said.update(json.loads(line))

    try:
        opening, ends = [], time.monotonic() + 90
        while said["opened"] < given.sockets and time.monotonic() < ends:
            opening.append(await client.measured(1))
            look()
        held = await client.measured(given.seconds)
        look()
    finally:
        process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
    return {name: statistics.fmean(one[name] for one in opening) for name in opening[0]}, held, said


async def measure(given: argparse.Namespace, server: int, port: int, path: str, reports: list[str]) -> dict[str, Any]:
    client = Client(server, port, path, reports)
    for number in range(given.honest):
        client.begin(keep=number % 4 != 0)
    await asyncio.sleep(2)
    rounds: list[dict[str, Any]] = []
    before = await client.measured(given.seconds)
    for _ in range(given.rounds):
        opening, during, said = await attacked(client, given, port, path)
        await asyncio.sleep(2)
        after = await client.measured(given.seconds)
        share = {kind: during[kind] / ((before[kind] + after[kind]) / 2) for kind in before}
        rounds.append({"before": before, "opening": opening, "during": during, "after": after, "attack": said, "share": share})
        before = after
    client.stopping = True
    await asyncio.sleep(1)
    shares = {kind: statistics.median(one["share"][kind] for one in rounds) for kind in before}
    return {"share": shares, "refused": client.tally.refused, "cut": client.tally.cut, "rounds": rounds}


def served(folder: Path) -> tuple[subprocess.Popen[str], int, str]:
    survey = folder / "survey.toml"
    survey.write_text(SURVEY)
    command = [sys.executable, "-m", "deniable.cli", "serve", str(survey), "--port", "0", "--json"]
    process = subprocess.Popen([*command, "--database", f"sqlite:///{folder / 'c.db'}"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = json.loads(process.stdout.readline())
    return process, int(said["address"].rsplit(":", 1)[1]), f"/v1/surveys/{said['surveys'][0]['hash']}"


def shown(found: dict[str, Any]) -> None:
    for number, one in enumerate(found["rounds"], 1):
        quiet, during = (one["before"]["all"] + one["after"]["all"]) / 2, one["during"]["all"]
        said = one["attack"]
        print(
            f"round {number}: {quiet:,.0f}/s quiet, {one['opening']['all']:,.0f}/s while sockets open, {during:,.0f}/s while "
            f"{said['held']:,} are held ({said['opened']:,} opened, {said['lost']:,} closed): {one['share']['all']:.1%}"
        )
    share = found["share"]
    print(
        f"throughput kept, median: {share['all']:.1%} (kept connections {share['kept']:.1%}, a new one each time "
        f"{share['new']:.1%}); per processor second of the collector {share['processor']:.1%}; "
        f"refused {found['refused']}, cut {found['cut']}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sockets", type=int, default=10_000)
    parser.add_argument("--sources", type=int, default=50, choices=range(1, 251), metavar="1..250")
    parser.add_argument("--again", type=float, default=10.0, help="seconds until a closed socket comes back")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--honest", type=int, default=4, help="connections of the honest client; a quarter is always new")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < given.sockets + 100:
        parser.error(f"this system allows {hard} open files; --sockets must be smaller")
    with tempfile.TemporaryDirectory() as folder:
        process, port, path = served(Path(folder))
        try:
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            survey = Survey.from_json(opener.open(f"http://127.0.0.1:{port}{path}", timeout=30).read())
            reports = [encode_report(survey.mechanism, survey.mechanism.randomize(i)).hex() for i in range(100)]
            found = asyncio.run(measure(given, process.pid, port, path, reports))
        finally:
            process.terminate()
            process.wait(30)
            assert process.stdout is not None
            process.stdout.close()
    if given.json:
        print(json.dumps(found, indent=1))
    else:
        shown(found)
    good = found["share"]["all"] >= LEAST and found["refused"] == 0
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
