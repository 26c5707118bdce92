"""Has a hot path become slower? Ratios against same-run references, not absolute times.

    python benchmarks/check.py              # fails, and names the paths, when one is beyond its recorded bound
    python benchmarks/check.py --record     # measure, and record bounds of SLACK times what was found

Each path takes turns with its reference on one core, and the best of many turns counts on both sides, so that other work on
the machine does not matter much. A path that seems too slow is measured again before it is accused. The bounds in
check_bounds.json were recorded on one kind of machine; on a very different one, record them anew before relying on them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from speed.growth import best_of_turns, one_core
from speed.hot_paths import HotPath, hot_paths

BOUNDS = Path(__file__).with_name("check_bounds.json")
SLACK = 1.6
"""A path may be so many times slower than when its bound was recorded: machines differ, and so do days."""
CHANCES = 4
"""How often a path is measured before it is accused."""


def ratio(path: HotPath) -> float:
    """The time of the path divided by that of its reference."""
    with one_core():
        path.ours(), path.theirs()
        ours, theirs = best_of_turns([path.ours, path.theirs], path.repeats)
    return ours / theirs


def judge(path: HotPath, bound: float | None) -> dict[str, Any]:
    """The least ratio of a few tries, which end when the bound holds."""
    found = ratio(path)
    for _ in range(CHANCES - 1):
        if bound is None or found <= bound:
            break
        found = min(found, ratio(path))
    return {
        "path": path.name,
        "reference": path.reference,
        "ratio": found,
        "at_most": bound,
        "slower": bound is not None and found > bound,
    }


def recorded(place: Path = BOUNDS) -> dict[str, float]:
    """The bounds, by path."""
    known: dict[str, float] = {name: entry["at_most"] for name, entry in json.loads(place.read_text(encoding="utf-8")).items()}
    return known


def record(paths: list[HotPath], place: Path = BOUNDS) -> None:
    """Measure several times, and write bounds that leave some room."""
    bounds = {}
    for path in paths:
        found = statistics.median(ratio(path) for _ in range(3))
        bounds[path.name] = {"reference": path.reference, "measured": round(found, 3), "at_most": round(SLACK * found, 3)}
        print(f"{path.name:<36}{found:>9.2f} × {path.reference}", flush=True)
    place.write_text(json.dumps(bounds, indent=1) + "\n", encoding="utf-8")


def check(paths: list[HotPath], bounds: dict[str, float]) -> list[str]:
    """The paths that are slower than their bound, or that have none."""
    accused = []
    for path in paths:
        row = judge(path, bounds.get(path.name))
        bound = "no bound" if row["at_most"] is None else f"{row['at_most']:.2f}"
        verdict = "SLOWER" if row["slower"] else "no bound recorded" if row["at_most"] is None else "ok"
        print(f"{row['path']:<36}{row['ratio']:>9.2f} × {row['reference']:<26}{bound:>9}  {verdict}", flush=True)
        if row["slower"] or row["at_most"] is None:
            accused.append(row["path"])
    return accused


def main() -> None:
    """Check or record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write new bounds instead of checking")
    chosen = parser.parse_args()
    if chosen.record:
        record(hot_paths())
        return
    if accused := check(hot_paths(), recorded()):
        sys.exit(f"slower than recorded, or without a bound: {', '.join(accused)}")


if __name__ == "__main__":
    main()
