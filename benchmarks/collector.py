"""How many submissions a second the collector counts durably, over loopback, beside an empty endpoint.

python benchmarks/collector.py [--parts single batches steady wide overload scale memory] [--seconds 5] [--categories 100]
                               [--database postgresql+psycopg://…] [--workers 2] [--processes 2]

single    one submission a request, from wrk (Debian's package) with a fresh key each, in turns with an empty
          Starlette endpoint, by 64 and by 256 connections
batches   binary batches of 1,000 and 10,000
steady    500 submissions a second: how long each takes
wide      single submissions of a survey with a million answers beside one with four
overload  crowds of up to 6,000 connections, and how long others wait meanwhile, each on a connection of its own
scale     workers and processes on one PostgreSQL server, which is started for it: reports a second, and processor seconds by whom
memory    a mixed load of --minutes: resident memory at the start, after every minute and at the end (without wrk)

Without --parts all but the last. Each part takes less than a minute (scale two). Every acknowledged report must be in the
database at the end; the script fails when one is missing. wrk does not wait for the answers that are under way when its time is
over, so there may be a few more. With several processes, each serves a port of its own and all write to one database, which must be
PostgreSQL. Figures depend on what else runs: the load average is printed with them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from deniable.collector import planned_survey
from deniable.core import encode_report
from deniable.surveys import BATCH_TYPE, Survey, batch_head

SURVEY = """
title = "Benchmark"
purpose = "To see how fast it is."
epsilon = 1
release = "live"
[attributes.colour]
question = "Which colour?"
domain = "categories:%d"
"""
EMPTY = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

async def nothing(request):
    await request.body()
    return Response(b"{}", media_type="application/json")

uvicorn.run(Starlette(routes=[Route("/", nothing, methods=["POST"])]), port=int(sys.argv[1]), log_level="warning", access_log=False)
"""
SEEDED = """
local file = io.open("/dev/urandom", "rb")
local seed = 0
for _ = 1, 6 do seed = seed * 256 + file:read(1):byte() end
file:close()
math.randomseed(seed % 2147483647)
wrk.method = "POST"
"""
SINGLES = """
local reports = {%s}
wrk.headers["Content-Type"] = "application/json"
function request()
  local key = {}
  for i = 1, 4 do key[i] = string.format("%%08x", math.random(0, 4294967295)) end
  local report = reports[math.random(1, #reports)]
  return wrk.format(nil, nil, nil, '{"key":"' .. table.concat(key) .. '","report":"' .. report .. '"}')
end
"""
BATCHES = """
local file = io.open("%s", "rb")
local head, key_bytes, frame = file:read(%d), file:read(16), file:read("*a")
file:close()
wrk.headers["Content-Type"] = "%s"
function request()
  local key = {}
  for i = 1, 16 do key[i] = string.char(math.random(0, 255)) end
  return wrk.format(nil, nil, nil, head .. table.concat(key) .. frame)
end
"""
KEY_BYTES = 16
TURNS = 5
CONNECTIONS = 64
CROWDS = (64, 256)


@contextmanager
def running(command: list[str], address: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        for _ in range(1200):  # a minute: a busy machine starts slowly
            try:
                urllib.request.urlopen(address, timeout=1).read()
                break
            except OSError as error:
                if getattr(error, "code", None) in (404, 405):
                    break
                time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        process.wait(30)


def wrk(url: str, script: Path, seconds: int, connections: int) -> dict[str, float]:
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", str(script), url]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"(\d+) requests in", text)
    speed = re.search(r"Requests/sec:\s+([\d.]+)", text)
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    p99 = re.search(r"99%\s+([\d.]+)(us|ms|s)", text)
    if found is None or speed is None or p99 is None:
        raise RuntimeError(text)
    unit = {"us": 1e-3, "ms": 1.0, "s": 1e3}[p99[2]]
    return {
        "requests": float(found[1]),
        "per_second": float(speed[1]),
        "p99_ms": float(p99[1]) * unit,
        "refused": float(bad[1]) if bad else 0.0,
    }


def paced(address: str, survey: Survey, rate: int, seconds: int) -> dict[str, float]:
    """Submissions at a steady rate from a few connections; the time each one takes."""
    reports = [
        encode_report(survey.mechanism, survey.mechanism.randomize(i % survey.mechanism.channel.inputs)).hex() for i in range(100)
    ]
    host = address.removeprefix("http://")
    took: list[float] = []
    threads = 32
    lock = threading.Lock()

    def run(number: int) -> None:
        connection = HTTPConnection(host, timeout=30)
        begin = time.perf_counter() + number / rate
        mine = []
        for i in range(rate * seconds // threads):
            due = begin + i * threads / rate
            wait = due - time.perf_counter()
            if wait > 0:
                time.sleep(wait)
            body = json.dumps({"key": os.urandom(16).hex(), "report": reports[i % 100]})
            sent = time.perf_counter()
            status = 503
            while status == 503:  # as a device does: later, with the same key
                connection.request("POST", f"/v1/surveys/{survey.hash}/submissions", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                answer.read()
                status = answer.status
                time.sleep(status == 503)
            assert status == 200, status
            mine.append(time.perf_counter() - sent)
        with lock:
            took.extend(mine)

    workers = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    began = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    took.sort()
    return {
        "per_second": len(took) / (time.perf_counter() - began),
        "p50_ms": 1e3 * took[len(took) // 2],
        "p99_ms": 1e3 * took[int(0.99 * len(took))],
        "requests": float(len(took)),
    }


def memory_mb(pid: int, name: str = "VmHWM") -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    return float("nan")


class Load:
    """What wrk sends: single submissions, or batches of one size."""

    def __init__(self, folder: Path, survey: Survey, size: int) -> None:
        self.size, self.path = size, "submissions" if size == 1 else "batches"
        values = [i % 100 % survey.mechanism.channel.inputs for i in range(max(size, 100))]
        if size == 1:
            reports = [encode_report(survey.mechanism, survey.mechanism.randomize(value)).hex() for value in values]
            text = SINGLES % ",".join(f'"{report}"' for report in reports)
        else:
            head = batch_head(survey)
            body = folder / f"batch-{size}"
            body.write_bytes(head + survey.mechanism.randomize_many(values).to_bytes())
            text = BATCHES % (body, len(head) - KEY_BYTES, BATCH_TYPE)
        self.script = folder / f"load-{size}.lua"
        self.script.write_text(SEEDED + text)

    def run(self, addresses: list[str], survey: Survey, seconds: int, connections: int = CONNECTIONS) -> dict[str, float]:
        """All addresses at once; reports a second that were acknowledged."""
        runs: list[dict[str, float]] = []

        def one(address: str) -> None:
            url = f"{address}/v1/surveys/{survey.hash}/{self.path}"
            runs.append(wrk(url, self.script, seconds, connections // len(addresses)))

        threads = [threading.Thread(target=one, args=(address,)) for address in addresses]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        answered = sum(run["requests"] - run["refused"] for run in runs)
        return {
            "reports": self.size * answered,
            "per_second": self.size * sum(run["per_second"] for run in runs) * answered / sum(run["requests"] for run in runs),
            "p99_ms": max(run["p99_ms"] for run in runs),
            "refused": sum(run["refused"] for run in runs),
        }


class Served:
    """A collector of one survey in processes of their own."""

    def __init__(self, stack: ExitStack, place: Path, options: argparse.Namespace, categories: int, first_port: int = 8791) -> None:
        text = SURVEY % categories
        self.survey = planned_survey(text).survey
        self.place = place
        place.mkdir()
        (place / "survey.toml").write_text(text)
        database = options.database or f"sqlite:///{place / 'collector.db'}"
        self.addresses = [f"http://127.0.0.1:{first_port + number}" for number in range(options.processes)]
        command = [sys.executable, "-m", "deniable.cli", "serve", str(place / "survey.toml"), "--database", database]
        command += ["--workers", str(options.workers), "--connections-per-address", "8000"]
        self.processes = [
            stack.enter_context(running([*command, "--port", address.rpartition(":")[2]], address + "/readyz"))
            for address in self.addresses
        ]
        self.before, self.acknowledged, self.last, self.most = self.counted(), 0.0, 0.0, 0

    def run(self, size: int, seconds: int, connections: int = CONNECTIONS) -> dict[str, float]:
        """A second to get going, then so many."""
        load = Load(self.place, self.survey, size)
        first, found = (load.run(self.addresses, self.survey, each, connections) for each in (1, seconds))
        self.last = first["reports"] + found["reports"]
        self.acknowledged += self.last
        self.most += 2 * connections * size
        return found

    def counted(self) -> int:
        time.sleep(1.2)
        said = urllib.request.urlopen(f"{self.addresses[0]}/v1/surveys/{self.survey.hash}/estimates").read()
        return int(json.loads(said)["n"])

    def check(self) -> dict[str, float]:
        """Everything that was acknowledged is counted."""
        more = self.counted() - self.before - self.acknowledged
        assert 0 <= more <= self.most, f"{more} more counted than acknowledged"
        return {"acknowledged": self.acknowledged, "counted": self.acknowledged + more}


def processor_seconds(pid: int) -> float:
    """Of a process and everything it started that still runs."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it just ended
            continue
        number = int(path.parent.name)
        parents[number], used[number] = int(fields[1]), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def belongs(number: int) -> bool:
        return number == pid or (number in parents and belongs(parents[number]))

    return sum(seconds for number, seconds in used.items() if belongs(number))


def single(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """With few connections most of them wait for the disk, and nobody sends meanwhile; with more there is always somebody."""
    with ExitStack() as stack:
        served = Served(stack, folder / "single", options, options.categories)
        empty = stack.enter_context(running([sys.executable, "-c", EMPTY, "8790"], "http://127.0.0.1:8790/"))
        return {**{f"of_{many}_connections": in_turns(served, empty, many, options.seconds) for many in CROWDS}, **served.check()}


def in_turns(served: Served, empty: subprocess.Popen[str], connections: int, seconds: int) -> dict[str, float]:
    """Turn by turn, so that what else the machine does falls on both; by the clock, and by the processor seconds of each side."""
    script = Load(served.place, served.survey, 1).script
    wrk("http://127.0.0.1:8790/", script, 1, connections)
    turns, spent = [], {"ours": 0.0, "empty": 0.0}
    for _ in range(TURNS):
        before = sum(processor_seconds(one.pid) for one in served.processes)
        ours = served.run(1, seconds, connections)
        between = sum(processor_seconds(one.pid) for one in served.processes), processor_seconds(empty.pid)
        bare = wrk("http://127.0.0.1:8790/", script, seconds, connections)
        turns.append((ours["per_second"] / bare["per_second"], ours, bare))
        spent["ours"] += (between[0] - before) / served.last
        spent["empty"] += (processor_seconds(empty.pid) - between[1]) / bare["requests"]
    turns.sort(key=lambda turn: turn[0])
    ratio, ours, bare = turns[TURNS // 2]
    return {
        **ours,
        "empty_per_second": bare["per_second"],
        "of_empty": ratio,
        "of_empty_least": turns[0][0],
        "of_empty_most": turns[-1][0],
        "seconds_per_1000": 1000 * spent["ours"] / TURNS,
        "empty_seconds_per_1000": 1000 * spent["empty"] / TURNS,
    }


def batches(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    with ExitStack() as stack:
        served = Served(stack, folder / "batches", options, options.categories)
        found: dict[str, object] = {f"of_{size}": served.run(size, options.seconds) for size in options.sizes}
        return {**found, **served.check(), "memory_mb": memory_mb(served.processes[0].pid)}


def steady(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    with ExitStack() as stack:
        served = Served(stack, folder / "steady", options, options.categories)
        found = paced(served.addresses[0], served.survey, 500, options.seconds)
        served.acknowledged += found["requests"]
        return {**found, **served.check()}


def wide(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Turn by turn, so that what else the machine does falls on both."""
    with ExitStack() as stack:
        few, many = (
            Served(stack, folder / f"wide-{count}", options, count, port) for count, port in ((4, 8791), (1_000_000, 8795))
        )
        rates: dict[int, list[float]] = {0: [], 1: []}
        for _ in range(3):
            for place, served in enumerate((few, many)):
                rates[place].append(served.run(1, options.seconds)["per_second"])
        least, most = (sorted(rates[place])[1] for place in (0, 1))
        few.check()
        return {"of_4": least, "of_1000000": most, "times": least / most, **many.check()}


def overload(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """A crowd that keeps the collector beyond its capacity, and 20 requests a second from a process that does nothing else.

    Those come each on a connection of its own, like people; the crowd's latency is in part wrk's.
    """
    with ExitStack() as stack:
        served = Served(stack, folder / "overload", options, options.categories)
        capacity = served.run(1, options.seconds)
        client = [sys.executable, __file__, "--client", served.addresses[0], served.survey.hash, "20", str(options.seconds)]
        report = encode_report(served.survey.mechanism, served.survey.mechanism.randomize(0)).hex()
        found: dict[str, object] = {"capacity_per_second": capacity["per_second"]}
        for crowd in (64, 500, 2000, 6000):
            drops = _listen_drops()
            people = subprocess.Popen(client, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            load = Load(served.place, served.survey, 1)
            # Longer than the people, who need some seconds to get going.
            result = load.run(served.addresses, served.survey, options.seconds + 5, crowd)
            said = json.loads(people.communicate(json.dumps({"report": report}))[0])
            served.acknowledged += result["reports"] + said["counted"]
            served.most += crowd
            found[f"crowd_of_{crowd}"] = {"crowd": result, "people": said, "listen_drops": _listen_drops() - drops}
        return {**found, **served.check()}


def _listen_drops() -> float:
    """Connections that the system turned away because nobody took them: their clients try again after 1, 3 and 7 seconds."""
    lines = [line.split() for line in Path("/proc/net/netstat").read_text().splitlines() if line.startswith("TcpExt:")]
    return float(dict(zip(*lines, strict=True))["ListenDrops"])


async def _requests(address: str, survey: str, rate: float, seconds: float, report: str) -> dict[str, float]:
    """So many requests a second, each on a connection of its own."""
    host, _, port = address.removeprefix("http://").partition(":")
    loop = asyncio.get_running_loop()
    times: dict[str, list[float]] = {"connect": [], "counted": [], "refused": []}

    async def one() -> None:
        body = json.dumps({"key": os.urandom(16).hex(), "report": report}).encode()
        head = f"POST /v1/surveys/{survey}/submissions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        began = time.perf_counter()
        with socket.socket() as line:
            line.setblocking(False)
            try:
                await loop.sock_connect(line, (host, int(port)))
                times["connect"].append(time.perf_counter() - began)
                await loop.sock_sendall(line, f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
                answer = await loop.sock_recv(line, 4096)
            except OSError:
                answer = b""
            times["counted" if answer.startswith(b"HTTP/1.1 200") else "refused"].append(time.perf_counter() - began)

    begin, tasks = loop.time(), []
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, begin + number / rate - loop.time()))
        tasks.append(asyncio.create_task(one()))
    await asyncio.gather(*tasks)
    found = {"counted": float(len(times["counted"])), "refused": float(len(times["refused"]))}
    for name, took in times.items():
        if took:
            took.sort()
            found |= {f"{name}_p99_ms": 1e3 * took[int(0.99 * len(took))], f"{name}_most_ms": 1e3 * took[-1]}
    return found


def scale(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Reports a second by the clock, and what a thousand of them cost each side; the client's part is its own."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.collector.postgresql import postgresql

    found: dict[str, object] = {}
    with postgresql() as server:
        database = int((server.folder / "data" / "postmaster.pid").read_text().splitlines()[0])
        for processes, workers in ((1, 1), (1, 2), (2, 1), (2, 2)):
            with ExitStack() as stack:
                chosen = argparse.Namespace(**{**vars(options), "database": server.url, "workers": workers, "processes": processes})
                served = Served(stack, folder / f"scale-{processes}-{workers}", chosen, options.categories)
                for size in (1, 1000):
                    served.run(size, 1)
                    before = [processor_seconds(pid) for pid in (database, *(one.pid for one in served.processes))]
                    clients = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
                    result = served.run(size, options.seconds)
                    clients = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - clients
                    after = [processor_seconds(pid) for pid in (database, *(one.pid for one in served.processes))]
                    # The second of getting going is in both, the reports and the processor seconds.
                    thousands = served.last / 1000
                    found[f"{processes} x {workers}, {size} a request"] = {
                        "per_second": result["per_second"],
                        "p99_ms": result["p99_ms"],
                        "collector_seconds_per_1000": (sum(after[1:]) - sum(before[1:])) / thousands,
                        "database_seconds_per_1000": (after[0] - before[0]) / thousands,
                        "client_seconds_per_1000": clients / thousands,
                    }
                served.check()
    return found


def memory(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Resident megabytes when it is ready, after every minute and at the end; needs no wrk.

    Singles on 32 connections all the time, and every few seconds a batch, the estimates, the metrics and a page.
    """
    with ExitStack() as stack:
        served = Served(stack, folder / "memory", options, options.categories)
        address, survey, process = served.addresses[0], served.survey, served.processes[0].pid
        began, minute = time.monotonic(), 1
        sizes = {"0 min": memory_mb(process, "VmRSS")}
        while (passed := time.monotonic() - began) < 60 * options.minutes:
            body = batch_head(survey) + survey.mechanism.randomize_many([0] * 1000).to_bytes()
            post = urllib.request.Request(
                f"{address}/v1/surveys/{survey.hash}/batches", data=body, headers={"Content-Type": BATCH_TYPE}
            )
            for asked in (post, f"{address}/v1/surveys/{survey.hash}/estimates", f"{address}/metrics", f"{address}/results"):
                urllib.request.urlopen(asked, timeout=60).read()
            served.acknowledged += 1000 + paced(address, survey, 200, 4)["requests"]
            if passed >= 60 * minute:
                sizes[f"{minute} min"] = memory_mb(process, "VmRSS")
                print(f"  {minute} min: {sizes[f'{minute} min']:.0f} MB", file=sys.stderr, flush=True)
                minute += 1
        sizes["end"] = memory_mb(process, "VmRSS")
        later = list(sizes.values())[1 + (len(sizes) - 1) // 2 :]
        return {"megabytes": sizes, "second_half_grew_mb": later[-1] - later[0], "peak_mb": memory_mb(process), **served.check()}


PARTS = {part.__name__: part for part in (single, batches, steady, wide, overload, scale, memory)}


def main() -> None:
    if sys.argv[1:2] == ["--client"]:
        address, survey, rate, seconds = sys.argv[2:]
        report = json.loads(sys.stdin.read())["report"]
        print(json.dumps(asyncio.run(_requests(address, survey, float(rate), float(seconds), report))))
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=[name for name in PARTS if name != "memory"])
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--categories", type=int, default=100)
    parser.add_argument("--database")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000])
    options = parser.parse_args()
    if not shutil.which("wrk") and set(options.parts) - {"memory", "steady"}:
        sys.exit("wrk is not installed: apt-get install wrk")
    for name in options.parts:
        with tempfile.TemporaryDirectory() as folder:
            load = os.getloadavg()[0]
            found = PARTS[name](options, Path(folder))
        print(json.dumps({"part": name, "load_before": round(load, 1), **_rounded(found)}, indent=2), flush=True)


def _rounded(found: dict[str, Any]) -> dict[str, Any]:
    def one(value: Any) -> Any:
        if isinstance(value, dict | list):
            return _rounded(value) if isinstance(value, dict) else [one(item) for item in value]
        return float(f"{value:.4g}") if abs(value) < 1e4 else round(value)

    return {name: one(value) for name, value in found.items()}


if __name__ == "__main__":
    main()
