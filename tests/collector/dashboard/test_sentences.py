"""The sentence above a chart never says more than its intervals do."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import deniable.collector
from deniable.collector.dashboard.explorer import _shown

SENTENCES = Path(deniable.collector.__file__).parent / "dashboard" / "static" / "sentences.js"
SCRIPT = """
import { readFileSync } from "node:fs";
const { inWords } = await import(process.argv[1]);
const views = JSON.parse(readFileSync(0, "utf8"));
const percent = (share) => `${Math.round(100 * share)} %`;
console.log(JSON.stringify(views.map(([what, rows]) => inWords(what, rows, percent))));
"""
LEADING = "Most frequent: bus, 50 % (between 45 % and 55 %)."


def row(label: str, value: float, half: float) -> dict[str, Any]:
    return {"label": label, "value": value, "low": value - half, "high": value + half}


@pytest.mark.heavy
def test_an_answer_is_called_the_most_frequent_only_where_it_is() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    clear = [row("bike", 0.3, 0.05), row("bus", 0.5, 0.05), row("car", 0.2, 0.05)]
    one_rival = [row("bike", 0.42, 0.05), *clear[1:]]
    many = [row(name, 0.42, 0.05) for name in ("bike", "tram", "walk")] + [row("bus", 0.5, 0.05), row("car", 0.1, 0.05)]
    nothing = [row("bike", 0.3, 0.3), row("bus", 0.5, 0.3)]
    cases: list[tuple[str, list[dict[str, Any]], str]] = [
        ("frequency", clear, LEADING),
        ("frequency", one_rival, "Largest estimate: bus, 50 % (between 45 % and 55 %); bike may be more frequent."),
        ("items", many, "Largest estimate: bus, 50 % (between 45 % and 55 %); 3 other answers may be more frequent."),
        ("frequency", nothing, "Too few reports to tell which answer is more frequent."),
        ("key-means", clear, "Highest mean: bus, 50 % (between 45 % and 55 %)."),
        ("key-means", one_rival, "Highest estimated mean: bus, 50 % (between 45 % and 55 %); that of bike may be higher."),
        ("key-means", nothing, "Too few reports to tell which mean is higher."),
        ("distribution", clear, "The most frequent range is bus, with 50 % of the people (between 45 % and 55 %)."),
        ("distribution", one_rival, "A frequent range is bus, with 50 % of the people (between 45 % and 55 %)."),
    ]
    command = [node, "--input-type=module", "-e", SCRIPT, SENTENCES.as_uri()]
    views = json.dumps([(what, rows) for what, rows, _ in cases])
    run = subprocess.run(command, input=views, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == [words for _, _, words in cases]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"food": 99.90234375, "going out": 200.0}, "food 99.9, going out 200"),
        (frozenset({"tea", "milk"}), "milk, tea"),
        ((), "none"),
        ((0.123456, 2.0), "0.1235, 2"),
        ("bus", "bus"),
    ],
)
def test_the_explorer_writes_an_answer_as_people_do(value: Any, words: str) -> None:
    assert _shown(value) == words
