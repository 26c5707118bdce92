"""The second half of the demo: a real collector, a hundred thousand devices, and what it says beside the truth."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.errors import NotDelivered

if TYPE_CHECKING:
    from deniable.cli.flights import Flights

DEVICES = 100_000
PATIENCE = 60.0
SHORTEST, LONGEST = -60, 180

SURVEY = """
title = "Your flight from New York"
purpose = "To see how late flights are, without a list of anyone's flights."
epsilon = 2
strategy = "sample-one"
release = "live"

[attributes.airline]
question = "Which airline was it?"
domain = {{ kind = "categories", labels = {labels} }}
mechanism = "oue"

[attributes.delay]
question = "How many minutes late did you arrive?"
domain = "interval:-60,180"
mechanism = "sw"

[attributes.departure]
question = "At what time of day was your departure?"
domain = "circle:24"
mechanism = "circular-window"
"""


@dataclass(frozen=True)
class Collected:
    """What the collector said, beside the truth."""

    address: str
    survey: str
    devices: int
    seconds: float
    rows: list[dict[str, Any]]
    certificate: dict[str, Any]

    def document(self) -> dict[str, Any]:
        """What `--json` prints of the collector."""
        facts = {"address": self.address, "survey": self.survey, "devices": self.devices, "seconds": self.seconds}
        return {**facts, "rows": self.rows, "certificate": self.certificate}


@dataclass(frozen=True)
class Starting:
    """A collector that starts while its caller does something else."""

    process: subprocess.Popen[str]

    def serving(self) -> dict[str, Any]:
        """What it says once it serves; waits for that."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise NotDelivered("the collector did not start; try `deniable serve` by hand to see why")
        said: dict[str, Any] = json.loads(line)
        return said


@contextmanager
def running_collector(directory: Path, toml: str) -> Iterator[Starting]:
    """`deniable serve` in a process of its own, on a free port; ended when the block ends."""
    directory.mkdir(parents=True, exist_ok=True)
    survey, database = directory / "demo-survey.toml", directory / "demo-collector.db"
    survey.write_text(toml, encoding="utf-8")
    for old in directory.glob("demo-collector.db*"):
        old.unlink()
    command = [sys.executable, "-m", "deniable.cli", "serve", str(survey), "--port", "0", "--json"]
    command += ["--database", f"sqlite:///{database}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own command
    try:
        yield Starting(process)
    finally:
        process.terminate()
        process.wait(PATIENCE)
        if process.stdout is not None:
            process.stdout.close()


def collect(serving: dict[str, Any], data: Flights, devices: int = DEVICES) -> Collected:
    """Let `devices` flights answer, each as a device of its own, and read the estimates."""
    from deniable.surveys import BATCH_TYPE, HttpTransport, Survey, batch_head

    address, name = serving["address"], serving["surveys"][0]["hash"]
    transport = HttpTransport(timeout=PATIENCE)
    base = f"{address}/v1/surveys/{name}"
    survey = Survey.from_json(transport.get(base)[1], hash=name)
    answers = _answers(data, devices)
    count = len(answers["airline"])
    began = time.monotonic()
    for start in range(0, count, 10_000):
        part = {field: values[start : start + 10_000] for field, values in answers.items()}
        body = batch_head(survey) + survey.mechanism.randomize_many(part).to_bytes()
        status, _ = transport.post(f"{base}/batches", body, BATCH_TYPE)
        if status != 200:
            raise NotDelivered(f"the collector refused a batch (status {status})")
    seconds = time.monotonic() - began
    time.sleep(1.1)  # estimates may be a second old
    document = json.loads(transport.get(f"{base}/estimates")[1])
    return Collected(address, name, count, seconds, _rows(document, answers), survey.mechanism.certificate().to_dict())


def _answers(data: Flights, devices: int) -> dict[str, list[Any]]:
    """The answers of flights that arrived, spread evenly over the year."""
    arrived = [place for place, delay in enumerate(data.arr_delay.tolist()) if delay == delay]
    step = max(1, len(arrived) // devices)
    chosen = arrived[::step][:devices]
    return {
        "airline": [str(data.carrier[place]) for place in chosen],
        "delay": [min(max(float(data.arr_delay[place]), SHORTEST), LONGEST) for place in chosen],
        "departure": [float(data.hour[place] + data.minute[place] / 60) % 24 for place in chosen],
    }


def _rows(document: dict[str, Any], answers: dict[str, list[Any]]) -> list[dict[str, Any]]:
    rows = []
    views = {(attribute["name"], view["what"]): view["rows"] for attribute in document["attributes"] for view in attribute["views"]}
    count = len(answers["airline"])
    shares = sorted(views["airline", "frequency"], key=lambda row: -row["value"])[:5]
    for row in shares:
        rows.append(_row(f"flew with {row['label']}, %", row, 100 * answers["airline"].count(row["label"]) / count, scale=100))
    (mean,) = views["delay", "mean"]
    rows.append(_row("mean delay, min", mean, math.fsum(answers["delay"]) / count))
    turns = [2 * math.pi * hour / 24 for hour in answers["departure"]]
    sine, cosine = math.fsum(map(math.sin, turns)), math.fsum(map(math.cos, turns))
    rows.append(
        _row("mean time of departure, h", views["departure", "direction"][0], math.atan2(sine, cosine) / (2 * math.pi) * 24 % 24)
    )
    return rows


def _row(name: str, row: dict[str, Any], truth: float, scale: float = 1) -> dict[str, Any]:
    value, low, high = (scale * row[part] for part in ("value", "low", "high"))
    return {"name": name, "estimate": value, "low": low, "high": high, "truth": truth, "inside": low <= truth <= high}


def demo_survey(labels: list[str]) -> str:
    """The survey's file."""
    return SURVEY.format(labels=json.dumps(labels))
