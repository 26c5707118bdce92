"""What a relay costs: single submissions straight to a collector, and through a relay and the collector's gateway, in one run.

    python benchmarks/relaying.py [--reports 4000] [--rounds 3] [--connections 32] [--json]

Both ways send the same kind of reports over kept connections, one a request; requests through the relay are encapsulated
beforehand, as each is on a device of its own. Rounds alternate, and the ratio is that of the best rounds. Beside reports a second
stand the processor microseconds of each process for one report, which depend less on what else runs. Every report must be counted
once at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from deniable.core import encode_report
from deniable.privacy import REQUEST_TYPE, HttpRequest, KeyConfiguration, decode_keys, encapsulate, encode_request, padded_size
from deniable.surveys import Survey

SURVEY = """
title = "Benchmark"
purpose = "To see how fast it is."
epsilon = 1
release = "live"
[attributes.colour]
question = "Which colour?"
domain = "categories:100"
"""
COMMAND = [sys.executable, "-m", "deniable.cli"]
TICKS = os.sysconf("SC_CLK_TCK")


class Sender(asyncio.Protocol):
    """One connection: the next request goes out when the last one was answered."""

    def __init__(self, requests: list[bytes], done: asyncio.Future[None]) -> None:
        self.requests, self.done, self.received = requests, done, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport: Any = transport
        self.transport.write(self.requests.pop())

    def data_received(self, data: bytes) -> None:
        """Go on when the answer is whole."""
        self.received += data
        head, end, body = self.received.partition(b"\r\n\r\n")
        if not end or len(body) < int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]):
            return
        if b" 200 " not in head[:16]:
            self.done.set_exception(SystemExit(f"refused: {head[:60]!r}"))
        self.received = b""
        if self.requests:
            self.transport.write(self.requests.pop())
        else:
            self.transport.close()
            if not self.done.done():
                self.done.set_result(None)


async def sent(address: str, requests: list[bytes], connections: int) -> float:
    """Seconds until all are answered."""
    parts, loop, waiting = urlsplit(address), asyncio.get_running_loop(), list(requests)
    begin = time.perf_counter()
    ends = [loop.create_future() for _ in range(min(connections, len(requests)))]
    for end in ends:
        await loop.create_connection(lambda end=end: Sender(waiting, end), parts.hostname, parts.port)  # type: ignore[misc]
    await asyncio.gather(*ends)
    return time.perf_counter() - begin


def post(path: str, host: str, kind: str, body: bytes) -> bytes:
    """A whole request."""
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def bodies(survey: Survey, count: int) -> list[bytes]:
    """Reports under fresh keys, as devices send them."""
    report = encode_report(survey.mechanism, survey.mechanism.randomize(7)).hex()
    return [f'{{"key":"{os.urandom(16).hex()}","report":"{report}"}}'.encode() for _ in range(count)]


def encapsulated(survey: Survey, key: KeyConfiguration, body: bytes) -> bytes:
    """The same through a relay."""
    headers = ((b"content-type", b"application/json"),)
    request = HttpRequest(b"POST", b"https", b"collector", f"/v1/surveys/{survey.hash}/submissions".encode(), headers, body)
    return encapsulate(key, encode_request(request, padded_size(len(encode_request(request)) + 3))).data


def started(folder: Path, *command: str) -> tuple[subprocess.Popen[str], dict[str, Any]]:
    """A role that listens."""
    process = subprocess.Popen([*COMMAND, *command, "--port", "0", "--json"], cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())


def processor(process: subprocess.Popen[str]) -> float:
    """Seconds of processor that a process took so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def fetched(url: str) -> bytes:
    """A body."""
    with urllib.request.urlopen(url, timeout=60) as answer:
        data: bytes = answer.read()
        return data


def measured(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Both ways, in turns."""
    (folder / "survey.toml").write_text(SURVEY)
    collector, said = started(folder, "serve", "survey.toml", "--gateway-keys", "keys")
    relay, relaying = started(folder, "relay", "--gateway", said["address"])
    rows: dict[str, list[dict[str, float]]] = {"direct": [], "relayed": []}
    try:
        url = said["surveys"][0]["url"]
        survey, key = Survey.from_json(fetched(url)), decode_keys(fetched(f"{relaying['address']}/ohttp-keys"))
        for turn in range(given.rounds + 1):
            for way, address in (("direct", said["address"]), ("relayed", relaying["address"])):
                host, texts = urlsplit(address).netloc, bodies(survey, given.reports)
                if way == "direct":
                    requests = [post(f"{urlsplit(url).path}/submissions", host, "application/json", text) for text in texts]
                else:
                    requests = [post("/", host, REQUEST_TYPE, encapsulated(survey, key, text)) for text in texts]
                before = processor(collector), processor(relay)
                seconds = asyncio.run(sent(address, requests, given.connections))
                spent = [
                    1e6 * (now - then) / given.reports
                    for now, then in zip((processor(collector), processor(relay)), before, strict=True)
                ]
                row = {"per_second": given.reports / seconds, "collector_microseconds": spent[0], "relay_microseconds": spent[1]}
                if turn:  # the first one warms up
                    rows[way].append(row)
        time.sleep(1.2)
        n = json.loads(fetched(f"{url}/estimates"))["n"]
        if n != 2 * given.reports * (given.rounds + 1):
            raise SystemExit(f"{n} reports were counted, not {2 * given.reports * (given.rounds + 1)}")
    finally:
        for process in (relay, collector):
            process.terminate()
            process.wait(30)
    best = {way: max(row["per_second"] for row in part) for way, part in rows.items()}
    return {"load": os.getloadavg()[0], **rows, "ratio": best["relayed"] / best["direct"]}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--reports", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(given, Path(folder))
    if given.json:
        print(json.dumps(found, indent=1))
        return
    print(f"load {found['load']:.1f}")
    for way in ("direct", "relayed"):
        for row in found[way]:
            costs = f"{row['collector_microseconds']:>6.0f} us collector, {row['relay_microseconds']:>6.0f} us relay"
            print(f"{way:<8}{row['per_second']:>9,.0f} reports/s  {costs}")
    print(f"through the relay: {found['ratio']:.2f} of direct (best rounds)")


if __name__ == "__main__":
    main()
