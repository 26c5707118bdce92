"""How fast reports become counts, as ratios measured in one run.

    python benchmarks/aggregate.py [--reports 10000000] [--json]
    python benchmarks/aggregate.py --peers      # also pure-ldp and multi-freq-ldpy, installed into a temporary directory

Folding is compared with numpy.bincount of the same outputs, given as the int64 array that numpy wants: the
conversion from the reports' own narrower type is not on its bill. Decoding is compared with one pass over the
reports, counted in two ways: folding outputs that already stand in memory as an array, and reading the reports from
their wire bytes and folding them, which is what a collector does. Peers aggregate OLH reports of their own clients,
each in its own virtual environment.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from speed.best import best_time

import deniable
from deniable.batch import Accumulator, Reports, accumulator_for, randomize_many
from deniable.core import make_mechanism
from deniable.estimators import counts, support_counts

DECODED = 1_000_000
VALUES = 100_000
PEER_REPORTS, PEER_VALUES = 500, 1000


def best_times(works: list[Callable[[], Any]], repeats: int = 20) -> list[float]:
    """The same for several works, taking turns: what they share is the state of the machine."""
    return [min(times) for times in zip(*([best_time(work, 1) for work in works] for _ in range(repeats)), strict=True)]


def reports_of(name: str, size: int | None, epsilon: float, count: int) -> Reports:
    """Reports of values that are all equally common."""
    source = np.random.Generator(np.random.PCG64(1))
    if size is None:
        return randomize_many(make_mechanism(name, epsilon=epsilon), source.random(count))
    mechanism = make_mechanism(name, domain=deniable.Categories(size), epsilon=epsilon)
    return randomize_many(mechanism, source.integers(0, size, count))


def fold(reports: Reports) -> Accumulator:
    """One pass over the reports."""
    return accumulator_for(reports.mechanism).add(reports)


def folding(count: int) -> list[dict[str, Any]]:
    """Counting outputs against numpy's own counting."""
    rows = []
    cases = [("k-RR, k=2", "k-rr", 2), ("k-RR, k=100", "k-rr", 100), ("k-RR, k=10,000", "k-rr", 10_000), ("window", "window", None)]
    for label, name, size in cases:
        reports = reports_of(name, size, 1, count)
        width, outputs = reports.mechanism.channel.outputs, reports.outputs.astype(np.int64)
        fold(reports)  # compile
        ours = best_time(lambda: fold(reports))  # noqa: B023
        numpys = best_time(lambda: np.bincount(outputs, minlength=width))  # noqa: B023
        rows.append({"case": label, "reports": count, "per_second": count / ours, "times_bincount": numpys / ours})
    return rows


def hashing() -> list[dict[str, Any]]:
    """OLH: every report is compared with every value."""
    rows = []
    for size in (100, 1000):
        reports = reports_of("olh", size, 1, DECODED)
        fold(Reports(reports.mechanism, reports.outputs[:1000]))  # compile
        seconds = best_time(lambda: fold(reports), 3)  # noqa: B023
        rows.append({"case": f"OLH, k={size}", "reports": DECODED, "per_second": DECODED / seconds})
    return rows


def decoding() -> list[dict[str, Any]]:
    """From the counts of outputs to the support of every value, and to the whole estimate."""
    rows = []
    for name, epsilon in [("hadamard", 1.0), *(("projective", float(e)) for e in (1, 2, 3, 4, 5))]:
        reports = reports_of(name, VALUES, epsilon, DECODED)
        sums = fold(reports)
        counts(sums)  # compile
        data = reports.to_bytes()
        one_pass, reading, decode, whole = best_times(
            [
                lambda: fold(reports),  # noqa: B023
                lambda: fold(Reports.from_bytes(reports.mechanism, data)),  # noqa: B023
                lambda: support_counts(sums),  # noqa: B023
                lambda: counts(sums),  # noqa: B023
            ]
        )
        rows.append(
            {
                "case": f"{name}, k={VALUES:,}, epsilon={epsilon:g}",
                "outputs": reports.mechanism.channel.outputs,
                "pass_seconds": one_pass,
                "decode_seconds": decode,
                "estimate_seconds": whole,
                "decode_passes": decode / one_pass,
                "read_seconds": reading,
                "decode_passes_from_bytes": decode / reading,
            }
        )
    return rows


PEERS = {
    "pure-ldp 1.2.0": (
        ["pure-ldp==1.2.0", "xxhash<4", "scikit-learn", "statsmodels", "scipy", "numpy"],
        """
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
client, server = LHClient(epsilon=1, d=SIZE, use_olh=True), LHServer(epsilon=1, d=SIZE, use_olh=True)
data = [client.privatise(i % SIZE + 1) for i in range(REPORTS)]
def aggregate():
    for report in data:
        server.aggregate(report)
    server.estimate_all(range(1, SIZE + 1), suppress_warnings=True)
""",
    ),
    "multi-freq-ldpy 0.2.5": (
        ["multi-freq-ldpy==0.2.5", "xxhash<4", "scipy", "numpy"],
        """
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
data = [LH_Client(i % SIZE, SIZE, 1) for i in range(REPORTS)]
def aggregate():
    LH_Aggregator_MI(data, SIZE, 1)
""",
    ),
}
TIMING = """
import time
times = []
for _ in range(3):
    begin = time.perf_counter()
    aggregate()
    times.append(time.perf_counter() - begin)
print(REPORTS / min(times))
"""


def run(command: list[str]) -> tuple[str | None, str]:
    """The last line a command printed, or None and the last line of its complaint."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    if done.returncode:
        return None, (done.stderr.strip().splitlines() or ["no message"])[-1]
    return (done.stdout.strip().splitlines() or [""])[-1], ""


def peers() -> list[dict[str, Any]]:
    """OLH reports per second of other packages; ours as many times faster, on as few reports and on many."""
    few, many = (reports_of("olh", PEER_VALUES, 1, n) for n in (PEER_REPORTS, DECODED))
    fold(few)
    rates = {"ours_few": PEER_REPORTS / best_time(lambda: counts(few)), "ours_many": DECODED / best_time(lambda: counts(many), 2)}
    rows = []
    for name, (packages, code) in PEERS.items():
        with tempfile.TemporaryDirectory() as place:
            python = str(Path(place) / "bin" / "python")
            answer, why = run([sys.executable, "-m", "venv", place])
            if answer is not None:
                answer, why = run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages])
            if answer is not None:
                answer, why = run([python, "-c", f"SIZE, REPORTS = {PEER_VALUES}, {PEER_REPORTS}\n{code}\n{TIMING}"])
        row: dict[str, Any] = {"peer": name, "failed": why or None}
        if answer is not None:
            rate = float(answer)
            row |= {"per_second": rate, **{key: ours / rate for key, ours in rates.items()}}
        rows.append(row)
    return rows


def show(found: dict[str, Any]) -> None:
    """The tables."""
    print(f"{'folding':<36}{'million/s':>10}{'times bincount':>16}")
    for row in found["folding"]:
        print(f"{row['case']:<36}{row['per_second'] / 1e6:>10.1f}{row['times_bincount']:>16.2f}")
    for row in found["hashing"]:
        print(f"{row['case']:<36}{row['per_second'] / 1e6:>10.2f}")
    titles = ("outputs", "decode ms", "estimate ms", "fold ms", "passes", "read ms", "passes")
    print(f"\n{f'decoding {DECODED:,} reports':<36}" + "".join(f"{title:>12}" for title in titles))
    for row in found["decoding"]:
        decode, whole, one_pass, reading = (1e3 * row[f"{key}_seconds"] for key in ("decode", "estimate", "pass", "read"))
        print(
            f"{row['case']:<36}{row['outputs']:>12}{decode:>12.1f}{whole:>12.1f}{one_pass:>12.1f}{row['decode_passes']:>12.1f}"
            f"{reading:>12.1f}{row['decode_passes_from_bytes']:>12.1f}"
        )
    if "peers" in found:
        print(f"\n{f'OLH, k={PEER_VALUES}':<36}{'reports/s':>10}{f'ours, n={PEER_REPORTS}':>16}{f'ours, n={DECODED:,}':>20}")
        for row in found["peers"]:
            if "per_second" not in row:
                print(f"{row['peer']:<36}failed: {row['failed']}")
            else:
                few, many = (f"{row[key]:,.0f} times" for key in ("ours_few", "ours_many"))
                print(f"{row['peer']:<36}{row['per_second']:>10.0f}{few:>16}{many:>20}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reports", type=int, default=10_000_000)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    found: dict[str, Any] = {"folding": folding(chosen.reports), "hashing": hashing(), "decoding": decoding()}
    if chosen.peers:
        found["peers"] = peers()
    if chosen.json:
        print(json.dumps(found, indent=2))
    else:
        show(found)


if __name__ == "__main__":
    main()
