"""What anonymity costs: tokens issued and checked, reports mixed, and the bounds that go with them.

    python benchmarks/anonymity.py [--reports 1000000] [--tokens 200] [--json]

Issuing and checking count processor seconds of one core. The shuffler takes records of 100 bytes in groups of 2,000, each flushed
to the disk, releases them and reads them out in their random order; memory is what the process grew by, for each record. Bounds
are the best of three runs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

from deniable.collector import Mixing, Sealed
from deniable.core import Categories, make_mechanism
from deniable.privacy import BlindPrivateKey, PublicTokenIssuer, TokenChallenge, shuffled_epsilon

GROUP = 2000
BOUNDS = (10**6, 10**9)


def tokens(count: int) -> dict[str, float]:
    """Tokens a second of one core: signed by the issuer, and checked by a collector."""
    issuer = PublicTokenIssuer(BlindPrivateKey.generate())
    asked = [issuer.public.ask(TokenChallenge(2, "issuer.example.org", bytes(32))) for _ in range(count)]
    begin = time.process_time()
    answers = [issuer.issue(pending.request) for pending in asked]
    issued = time.process_time() - begin
    received = [issuer.public.receive(pending, answer) for pending, answer in zip(asked, answers, strict=True)]
    public = issuer.public
    begin = time.process_time()
    good = sum(public.accepts(token) for _ in range(10) for token in received)
    return {"issued_per_second": count / issued, "checked_per_second": good / (time.process_time() - begin)}


def shuffler(reports: int, folder: Path) -> dict[str, float]:
    """Seconds by the clock and by the processor, and bytes of memory for each report."""
    mixing = Mixing(folder / "shuffle.db")
    mixing.open("survey")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin, worked = time.perf_counter(), time.process_time()
    for start in range(0, reports, GROUP):
        size = min(GROUP, reports - start)
        keys = [os.urandom(16) for _ in range(size)]
        mixing.add("survey", [Sealed(key, key, key + bytes(84)) for key in keys])
    mixing.release("survey", at_least=reports, seconds=0)
    out = 0
    while batches := mixing.sending():
        records = mixing.chunk(batches[0])
        out += len(records)
        mixing.acknowledged(batches[0], len(records))
    if out != reports:
        raise SystemExit(f"{reports - out} reports were lost")
    seconds, processor = time.perf_counter() - begin, time.process_time() - worked
    memory = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / reports
    mixing.close()
    return {"reports": reports, "seconds": seconds, "processor_seconds": processor, "bytes_each": memory}


def bounds() -> list[dict[str, Any]]:
    """How long a bound takes, for mechanisms of different kinds."""
    rows = []
    for people in BOUNDS:
        for name in ("k-rr", "oue", "subset", "hadamard"):
            mechanism, best, epsilon = make_mechanism(name, domain=Categories(100), epsilon=4), math.inf, 0.0
            for _ in range(3):
                begin = time.perf_counter()
                epsilon = shuffled_epsilon(mechanism, people, 1e-15)
                best = min(best, time.perf_counter() - begin)
            rows.append({"people": people, "mechanism": name, "epsilon": epsilon, "seconds": best})
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--reports", type=int, default=1_000_000)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    measured: dict[str, Any] = {"load": os.getloadavg()[0], "tokens": tokens(given.tokens), "bounds": bounds()}
    with tempfile.TemporaryDirectory() as folder:
        measured["shuffler"] = shuffler(given.reports, Path(folder))
    if given.json:
        print(json.dumps(measured, indent=1))
        return
    made, mixed = measured["tokens"], measured["shuffler"]
    print(f"load {measured['load']:.1f}")
    print(f"tokens per core: {made['issued_per_second']:,.0f} issued/s, {made['checked_per_second']:,.0f} checked/s")
    by = f"{mixed['seconds']:.1f} s, {mixed['processor_seconds']:.1f} s of processor"
    print(f"shuffled {mixed['reports']:,} in {by}, {mixed['bytes_each']:.0f} B each")
    for row in measured["bounds"]:
        print(f"{row['people']:>13,} people  {row['mechanism']:<9} epsilon {row['epsilon']:.5g}  {row['seconds']:.3f} s")


if __name__ == "__main__":
    main()
