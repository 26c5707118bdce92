"""Every number that README.md quotes, in one list, each with what it comes from.

    python benchmarks/readme.py             # prints them all and says which ones README.md has differently: seconds
    python benchmarks/readme.py --measure   # measures again what takes minutes, and keeps it: a quiet machine and a package index
    python benchmarks/readme.py --measure --parts estimate   # only some of size, estimate, audits and times

What can be counted is counted anew every time. What takes long is kept: times in benchmarks/results.json (as
`python benchmarks/run.py --only readme` leaves them), sizes, audits and the printed table in benchmarks/readme.json.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from speed.environments import OTHERS
from speed.quotes import COLD, ROWS, quoted

from deniable import Client
from deniable.cli.demo_collector import DEVICES
from deniable.cli.flights import flights
from deniable.core import Categories, KaryRandomizedResponse, built_in_names
from deniable.estimators import shares

ROOT = Path(__file__).resolve().parents[1]
README, RESULTS, RECORD = ROOT / "README.md", ROOT / "benchmarks" / "results.json", ROOT / "benchmarks" / "readme.json"
WAYS = {"bike": "by bike", "bus": "by bus", "car": "by car", "walk": "on foot"}
SPELLED = {"opendp": "OpenDP"}
VIOLATED = {"pure-ldp-rappor": "RAPPOR violated", "diffprivlib-laplace": "Laplace violated, by its last digits"}
PARTS = ("size", "estimate", "audits", "times")
Record = dict[str, Any]


class Quote(NamedTuple):
    """Words of the README, and the command or the file that they come from."""

    words: str
    source: str


def counted() -> Record:
    """What is quick to count."""
    question = KaryRandomizedResponse(domain=Categories(["never", "sometimes", "often"]), epsilon=1)
    truth = ["never"] * 6000 + ["sometimes"] * 3000 + ["often"] * 1000
    low, high = shares(question.randomize_many(truth)).interval()
    with (ROOT / "examples" / "survey" / "answers.csv").open(encoding="utf-8") as file:
        commutes = Counter(row["commute"] for row in csv.DictReader(file))
    return {
        "flights": len(flights().carrier),
        "devices": DEVICES,
        "mechanisms": len(built_in_names()),
        "report_bytes": len(Client(question.recipe(), max_epsilon=1).randomize("often")),
        "half_width": round(float((high - low).mean() / 2), 2),
        "commutes": dict(sorted(commutes.items())),
    }


def quotes(count: Record, kept: Record, results: Record) -> list[Quote]:
    """Everything the README must say, in its order."""
    people = sum(count["commutes"].values())
    ways = ", ".join(f"{100 * n / people:.0f} % {WAYS[way]}" for way, n in count["commutes"].items())
    peers = " | ".join(
        f"{SPELLED.get(peer.name, peer.name)} {_short(results['versions'][peer.name][peer.name])}" for peer in OTHERS
    )
    times = [Quote(quoted(label, results), "python benchmarks/run.py --only readme") for label in (*ROWS, COLD)]
    return [
        Quote(f"{count['flights']:,} flights, each perturbed on its own at ε = 1", "make demo"),
        Quote(f"a collector, {count['devices']:,} simulated devices", "make demo"),
        Quote(
            f"`collector` alone only counts, and takes {kept['collector_megabytes']} MB", "--measure: pip install '.[collector]'"
        ),
        Quote(f"bytes, ready to send\n{count['report_bytes']}\n", "the example itself"),
        Quote(f"95 %, about ± {count['half_width']} here", "the example itself"),
        Quote(f"{people:,} made-up people said how they get to work: {ways}", "examples/survey/answers.csv"),
        Quote(kept["estimate"], "--measure: the commands above it"),
        Quote(f"| | deniable | {peers} | shown by |", "benchmarks/results.json"),
        Quote(_audits(kept["violated"]), "--measure: python examples/audit_peer.py"),
        *times,
        Quote(f"all {count['mechanisms']} mechanisms: [docs/mechanisms.md]", "make generated"),
    ]


def missing(readme: str, expected: list[Quote]) -> list[Quote]:
    """What the README has differently; lines may be broken elsewhere."""
    flat = " ".join(readme.split())
    return [quote for quote in expected if " ".join(quote.words.split()) not in flat]


def _short(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _audits(violated: list[str]) -> str:
    def cell(package: str) -> str:
        said = [words for name, words in VIOLATED.items() if name in violated and name.startswith(package)]
        return said[0] if said else "no violation"

    unexpected = sorted(set(violated) - set(VIOLATED))
    if unexpected:
        raise ValueError(f"README.md has no words for these violations: {', '.join(unexpected)}")
    cells = ["no violation", cell("pure"), cell("multi"), "not audited", cell("diffprivlib")]
    return "| audited from outside at ε = 1 | " + " | ".join(cells) + " |"


def measure(parts: Sequence[str]) -> None:
    """What takes minutes: each part is kept as soon as it is known."""
    ways: dict[str, tuple[str, Callable[[], object]]] = {
        "size": ("collector_megabytes", _collector_megabytes),
        "estimate": ("estimate", _estimate),
        "audits": ("violated", _violated),
    }
    for part, (name, measured) in ways.items():
        if part in parts:
            record = {**read(RECORD), name: measured()}
            RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if "times" in parts:
        subprocess.run([sys.executable, str(ROOT / "benchmarks" / "run.py"), "--only", "readme"], check=True)


def _collector_megabytes() -> int:
    """An environment with `deniable[collector]`, without pip and what it brings."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        before = _bytes_below(Path(folder))
        subprocess.run([f"{folder}/bin/python", "-m", "pip", "install", "--quiet", f"{ROOT}[collector]"], check=True)
        return round((_bytes_below(Path(folder)) - before) / 1e6)


def _bytes_below(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _estimate() -> str:
    """What `deniable estimate` prints for the README's reports."""
    with tempfile.TemporaryDirectory() as folder:
        answers, reports = ROOT / "examples" / "survey" / "answers.csv", Path(folder) / "reports.csv"
        asked = [
            "k-rr",
            "--epsilon",
            "1",
            "--domain",
            f"categories:{','.join(WAYS)}",
            "--input",
            str(answers),
            "--column",
            "commute",
        ]
        deniable = [sys.executable, "-m", "deniable"]
        subprocess.run([*deniable, "randomize", *asked, "--output", str(reports), "--quiet"], check=True)
        printed = subprocess.run([*deniable, "estimate", str(reports)], check=True, capture_output=True, text=True).stdout
        return "\n".join(line.rstrip() for line in printed.strip().splitlines())


def _violated() -> list[str]:
    command = [sys.executable, str(ROOT / "examples" / "audit_peer.py"), "--json"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return sorted(name for name, audit in found.items() if audit["violated"])


def read(path: Path) -> Record:
    """A file of results."""
    record: Record = json.loads(path.read_text(encoding="utf-8"))
    return record


def main() -> None:
    """Print every quote with its source; fail if the README has one differently."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--measure", action="store_true", help="measure sizes, audits and times again: about fifteen minutes")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="which of them; all if left out")
    asked = parser.parse_args()
    if asked.measure:
        measure(asked.parts)
    expected = quotes(counted(), read(RECORD), read(RESULTS))
    wrong = missing(README.read_text(encoding="utf-8"), expected)
    for quote in expected:
        print(
            f"{'DIFFERS' if quote in wrong else 'ok':8}{quote.source}\n        " + quote.words.strip().replace("\n", "\n        ")
        )
    if wrong:
        sys.exit(f"README.md has {len(wrong)} of these differently; write what is printed here")


if __name__ == "__main__":
    main()
