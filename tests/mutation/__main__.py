"""The command: sample faults of a part, run its tests against each, and tell how many were noticed."""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from pathlib import Path
from typing import Any

from tests.mutation.mutants import Mutant, mutants
from tests.mutation.session import Fault, preload, run_at_import, run_in_place

ROOT = Path(__file__).parents[2]
PARTS = ("exact", "channels", "randomness")
TOLD = os.dup(2)
JUDGED = Path(__file__).with_name("equivalent.json")


def sample(part: str, count: int, seed: int) -> tuple[list[Fault], int]:
    """Faults spread over all files of a part in proportion to how many they allow, at least one each; and how many there are."""
    chance = random.Random(seed)
    ranked: list[tuple[float, Path, Mutant]] = []
    for path in sorted((ROOT / "src" / "deniable" / "core" / part).glob("*.py")):
        found = list(mutants(path.read_text(encoding="utf-8")))
        chance.shuffle(found)
        # The j-th of n faults of a file comes at about j/n of the way: any beginning of the list is spread evenly.
        ranked += [((place + chance.random()) / len(found) if place else 0.0, path, m) for place, m in enumerate(found)]
    chosen = sorted(ranked, key=lambda entry: entry[:2])[:count]
    return [Fault(module_of(part, path), path, mutant) for _, path, mutant in chosen], len(ranked)


def module_of(part: str, path: Path) -> str:
    """The name that a part's file is imported by."""
    return f"deniable.core.{part}.{path.stem}".removesuffix(".__init__")


def judged() -> dict[str, str]:
    """Faults that change nothing anyone could notice, with the reason."""
    known: dict[str, str] = json.loads(JUDGED.read_text(encoding="utf-8")) if JUDGED.exists() else {}
    return known


def places(part: str) -> list[str]:
    """Where a part's own tests are: its folder of tests, and the examples in its documentation."""
    return [f"tests/core/{part}", f"src/deniable/core/{part}"]


def run_part(part: str, count: int, seed: int, known: dict[str, str]) -> dict[str, Any]:
    """Try every sampled fault on the part's own tests, but for those that are known to be killed."""
    faults, possible = sample(part, count, seed)
    open_faults = [fault for fault in faults if not known.get(fault.label, "").startswith("killed")]
    outcomes = known | run_in_place(ROOT / "src" / "deniable" / "core" / part, places(part), open_faults, tell)
    for fault in open_faults:
        # Constants, examples made while the tests were read, and what one test remembers for the next did not see the fault.
        if not outcomes[fault.label].startswith("killed") and fault.label not in judged():
            outcomes[fault.label] = run_at_import(places(part), fault)
            tell(fault, outcomes[fault.label])
    rows = [
        {"fault": fault.label, "line": fault.mutant.line, "kind": fault.mutant.kind, "outcome": outcomes[fault.label]}
        for fault in faults
    ]
    return {"part": part, "possible": possible, "seed": seed, "results": rows}


def tell(fault: Fault, outcome: str) -> None:
    """A line as soon as something is known."""
    if not outcome.startswith("killed") or "MUTATION_LOUD" in os.environ:
        os.write(TOLD, f"{outcome:9} {fault.label} (line {fault.mutant.line})\n".encode())


def summary(found: dict[str, Any], known: dict[str, str]) -> dict[str, Any]:
    """Counts of one part; the rate counts faults that cannot be noticed as survivors too."""
    killed = [row for row in found["results"] if row["outcome"].startswith("killed")]
    alive = [row["fault"] for row in found["results"] if not row["outcome"].startswith("killed")]
    tried = len(found["results"])
    return {
        "part": found["part"],
        "possible": found["possible"],
        "tried": tried,
        "killed": len(killed),
        "survived": len(alive),
        "of them equivalent": sum(fault in known for fault in alive),
        "rate": len(killed) / tried,
        "alive": [fault for fault in alive if fault not in known],
    }


def main() -> int:
    """Read the options, run, print and write the results; 1 when the tests of a part notice too little."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append", help="a part to try; again for more, all three when left out")
    parser.add_argument("--count", type=int, default=100, help="how many faults per part")
    parser.add_argument("--seed", type=int, default=1, help="another number samples other faults")
    parser.add_argument("--survivors", action="store_true", help="only those that survived the last time, with the tests of now")
    parser.add_argument("--least", type=float, default=0.85, help="the share of faults that must be noticed")
    parser.add_argument("--output", type=Path, default=ROOT / "output" / "mutation", help="folder of the results")
    options = parser.parse_args()
    options.output = options.output.resolve()
    options.output.mkdir(parents=True, exist_ok=True)
    # Before numba is imported: kernels that a faulty process compiles must not be found by anyone else.
    os.environ["NUMBA_CACHE_DIR"] = str(options.output / "kernels")
    os.chdir(ROOT)
    preload()
    rates = []
    for part in options.part or PARTS:
        kept = options.output / f"{part}-{options.seed}.json"
        known = {row["fault"]: row["outcome"] for row in json.loads(kept.read_text())["results"]} if options.survivors else {}
        found = run_part(part, options.count, options.seed, known)
        told = summary(found, judged())
        rates.append(told["rate"])
        kept.write_text(json.dumps({**told, **found}, indent=1) + "\n")
        sys.stdout.write("".join(f"{name}: {value}\n" for name, value in told.items() if name != "alive"))
        sys.stdout.write("".join(f"  alive: {fault}\n" for fault in told["alive"]) + "\n")
    return int(min(rates) < options.least)


if __name__ == "__main__":
    sys.exit(main())
