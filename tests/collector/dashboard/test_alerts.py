"""Sudden changes on the Results page: named when they are real, and no more often than stated when they are not."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import deniable.collector

ALERTS = Path(deniable.collector.__file__).parent / "dashboard" / "static" / "alerts.js"
SCRIPT = """
import { readFileSync } from "node:fs";
const { alertsOf } = await import(process.argv[1]);
const trends = JSON.parse(readFileSync(0, "utf8"));
const steps = (lines) => alertsOf(lines, 0.95).map(({ name, from, to }) => [name, from.window, to.window]);
console.log(JSON.stringify(trends.map(steps)));
"""


def named(trends: list[list[dict[str, object]]]) -> list[list[list[str]]]:
    """What the page names, for many trends at once."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    command = [node, "--input-type=module", "-e", SCRIPT, ALERTS.as_uri()]
    run = subprocess.run(command, input=json.dumps(trends), capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    found: list[list[list[str]]] = json.loads(run.stdout)
    return found


def lines(shares: np.ndarray[tuple[int, int], np.dtype[np.float64]], error: float) -> list[dict[str, object]]:
    reach = 1.959964 * error
    return [
        {
            "name": f"answer {column}",
            "points": [
                {"window": f"w{row}", "value": float(share), "low": float(share - reach), "high": float(share + reach)}
                for row, share in enumerate(shares[:, column])
            ],
        }
        for column in range(shares.shape[1])
    ]


@pytest.mark.heavy
def test_nothing_is_named_more_often_than_stated_where_nothing_changes() -> None:
    """2,000 trends of ten windows and three answers; at a rate of 5 %, more than 155 have a chance below 1e-6."""
    random = np.random.default_rng(1)
    found = named([lines(random.normal(0.3, 0.01, (10, 3)), 0.01) for _ in range(2000)])
    assert 20 <= sum(bool(each) for each in found) <= 155


@pytest.mark.heavy
def test_a_sudden_change_is_named_where_it_happened() -> None:
    shares = np.array([[0.2, 0.5]] * 3 + [[0.3, 0.5]] * 3)
    assert named([lines(shares, 0.01), lines(shares, 0.1)]) == [[["answer 0", "w2", "w3"]], []]
