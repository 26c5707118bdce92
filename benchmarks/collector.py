"""How many submissions a second the collector counts durably, over loopback, beside an empty endpoint.

python benchmarks/collector.py [--seconds 8] [--database postgresql+psycopg://…]

Single submissions come from wrk (Debian's package) with a fresh key each; batches from this script. Every acknowledged
report must be in the database at the end; the script fails when one is missing or counted twice.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

from deniable.batch import Reports
from deniable.collector import planned_survey
from deniable.core import encode_report
from deniable.surveys import BATCH_TYPE, Survey, batch_head

SURVEY = """
title = "Benchmark"
purpose = "To see how fast it is."
epsilon = 1
release = "live"
[attributes.colour]
question = "Which of a hundred colours?"
domain = "categories:100"
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
SCRIPT = """
local reports = {%s}
local hex = "0123456789abcdef"
local id = 0
function setup(thread) thread:set("id", id); id = id + 1 end
function init(args)
  local file = io.open("/dev/urandom", "rb")
  local seed = 0
  for _ = 1, 6 do seed = seed * 256 + file:read(1):byte() end
  file:close()
  math.randomseed(seed %% 2147483647 + id)
end
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
function request()
  local key = {}
  for i = 1, 4 do key[i] = string.format("%%08x", math.random(0, 4294967295)) end
  local report = reports[math.random(1, #reports)]
  return wrk.format(nil, nil, nil, '{"key":"' .. table.concat(key) .. '","report":"' .. report .. '"}')
end
"""


@contextmanager
def running(command: list[str], address: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        for _ in range(200):
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
    reports = [encode_report(survey.mechanism, survey.mechanism.randomize(i % 100)).hex() for i in range(100)]
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
            connection.request("POST", f"/v1/surveys/{survey.hash}/submissions", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200, answer.status
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


def batches(address: str, survey: Survey, size: int, count: int) -> float:
    """Reports per second in binary batches of `size`."""
    frame = survey.mechanism.randomize_many([i % 100 for i in range(size)]).to_bytes()
    assert len(Reports.from_bytes(survey.mechanism, frame)) == size
    host = address.removeprefix("http://")

    def run(number: int) -> None:
        connection = HTTPConnection(host, timeout=60)
        for _ in range(number):
            body = batch_head(survey) + frame
            connection.request("POST", f"/v1/surveys/{survey.hash}/batches", body, {"Content-Type": BATCH_TYPE})
            answer = connection.getresponse()
            data = json.loads(answer.read())
            assert data == {"accepted": size, "known": 0}, data

    workers = [threading.Thread(target=run, args=(count // 4,)) for _ in range(4)]
    began = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return 4 * (count // 4) * size / (time.perf_counter() - began)


def memory_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return float("nan")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--database")
    parser.add_argument("--total", type=int, default=10_000_000, help="reports in batches")
    options = parser.parse_args()
    survey = planned_survey(SURVEY).survey
    found: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "survey.toml").write_text(SURVEY)
        database = options.database or f"sqlite:///{place / 'collector.db'}"
        address = "http://127.0.0.1:8791"
        command = [
            sys.executable,
            "-m",
            "deniable.cli",
            "serve",
            str(place / "survey.toml"),
            "--port",
            "8791",
            "--database",
            database,
        ]
        reports = ",".join(f'"{encode_report(survey.mechanism, survey.mechanism.randomize(i)).hex()}"' for i in range(100))
        (place / "load.lua").write_text(SCRIPT % reports)
        before = 0
        with running(command, address + "/health") as server:
            sent = 0
            if shutil.which("wrk"):
                url = f"{address}/v1/surveys/{survey.hash}/submissions"
                wrk(url, place / "load.lua", 2, 64)
                with running([sys.executable, "-c", EMPTY, "8792"], "http://127.0.0.1:8792/"):
                    wrk("http://127.0.0.1:8792/", place / "load.lua", 2, 64)
                    empty = [wrk("http://127.0.0.1:8792/", place / "load.lua", options.seconds, 128) for _ in range(1)]
                    ours = [wrk(url, place / "load.lua", options.seconds, 128) for _ in range(1)]
                    empty.append(wrk("http://127.0.0.1:8792/", place / "load.lua", options.seconds, 128))
                    ours.append(wrk(url, place / "load.lua", options.seconds, 128))
                best = max(run["per_second"] for run in ours)
                found["single_per_second"] = round(best)
                found["empty_per_second"] = round(max(run["per_second"] for run in empty))
                found["ratio_to_empty"] = round(best / max(run["per_second"] for run in empty), 3)
                found["single_refused"] = sum(run["refused"] for run in ours)
                before = counted(address, survey)
            else:
                found["single_per_second"] = "wrk is not installed (apt-get install wrk)"
            steady = paced(address, survey, 1000, options.seconds)
            sent += int(steady["requests"])
            found["steady"] = {name: round(value, 2) for name, value in steady.items()}
            for size in (1000, 10_000):
                count = max(4, options.total // 2 // size // 4 * 4)
                found[f"batched_{size}_per_second"] = round(batches(address, survey, size, count))
                sent += count * size
            after = counted(address, survey)
            found["counted_in_batches"] = after - before
            assert after - before == sent, f"{after - before} counted, {sent} acknowledged"
            found["memory_mb_after"] = round(memory_mb(server.pid), 1)
            found["reports_in_all"] = after
    print(json.dumps(found, indent=2))


def counted(address: str, survey: Survey) -> int:
    time.sleep(1.2)
    return int(json.loads(urllib.request.urlopen(f"{address}/v1/surveys/{survey.hash}/estimates").read())["n"])


if __name__ == "__main__":
    main()
