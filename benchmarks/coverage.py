"""How often the 95 % intervals hold the truth: estimators x mechanisms x twelve shapes x numbers of reports x epsilon.

    python benchmarks/coverage.py [--quick] [--others] [--every] [--only line/sw] [--results FILE] [--docs docs/coverage.md]

The main mechanisms of each estimator are asked in all settings; with `--others`, the others in every third: for every shape and
number of reports at one epsilon (`--every`: in all). Every cell is simulated 200 times, and up to 2,000 times where one of its
answers held in fewer than 93.5 % of them, until that is decided (`intervals/measuring.py`). Results are appended to a file of JSON
lines, so that a run that was stopped goes on where it was. An answer fails when it would hold so seldom by chance less than
once in 1,000 runs of the whole table, were its true coverage 93.5 %. `--quick` takes minutes: few repetitions of a sample of
the cells. `--docs` writes the table between two marks of a page. `width` is the mean half-width of an answer over the
narrowest of the mechanisms that were asked the same question and did not fail.
"""

# ruff: noqa: E402  # threads and paths are set before the imports that look at them
from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the workers share the cores
os.environ.setdefault("NUMBA_NUM_THREADS", "1")
if __name__ == "coverage":  # numba looks for the package of that name, and finds this file from every benchmark's folder
    raise ModuleNotFoundError("this is a benchmark, not the package coverage", name="coverage")
# Nor must numba load it a second time from here.
sys.modules.setdefault("coverage", None)  # type: ignore[arg-type]
sys.path.insert(0, str(Path(__file__).resolve().parent))

import argparse
import json
import time
import zlib
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

from intervals.families import FAMILIES, cells
from intervals.measuring import MANY, QUICK, REPETITIONS, measure
from intervals.table import failing, lines, times, written


def known(path: Path) -> dict[str, dict[str, Any]]:
    """What the file of results holds already."""
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {row["key"]: row for row in rows}


def main() -> None:
    """Measure what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few repetitions of a sample of the settings")
    parser.add_argument("--others", action="store_true", help="other mechanisms than the main ones, too, in every third setting")
    parser.add_argument("--every", action="store_true", help="all mechanisms in all settings")
    parser.add_argument("--results", type=Path, default=Path("coverage.jsonl"))
    parser.add_argument("--only", default="", help="family or family/mechanism, for example line/sw")
    parser.add_argument("--repetitions", type=int)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--docs", type=Path, help="a page to write the table into")
    parser.add_argument("--table", action="store_true", help="only print what the file of results holds")
    chosen = parser.parse_args()
    family, _, mechanism = chosen.only.partition("/")
    wanted = [
        cell
        for cell in cells(quick=chosen.quick, others=chosen.others, every=chosen.every)
        if family in ("", cell.family) and mechanism in ("", cell.mechanism)
    ]
    repetitions = chosen.repetitions or (QUICK if chosen.quick else REPETITIONS)
    most = repetitions if chosen.quick or chosen.repetitions else MANY
    done = known(chosen.results)
    missing = [] if chosen.table else [cell for cell in wanted if done.get(cell.key, {}).get("repetitions", -1) < repetitions]
    # Main mechanisms first. Families, mechanisms and shapes take turns, so that a part of a run tells something of all; cells of
    # one shape share work.
    missing.sort(key=lambda cell: (cell.mechanism in FAMILIES[cell.family].others, zlib.crc32("|".join(cell[:3]).encode())))
    began = time.monotonic()
    with ProcessPoolExecutor(chosen.workers) as pool, chosen.results.open("a", encoding="utf-8") as results:
        for number, waiting in enumerate(as_completed(pool.submit(measure, cell, repetitions, most) for cell in missing), 1):
            row = waiting.result()
            done[row["key"]] = row
            results.write(json.dumps(row) + "\n")
            results.flush()
            if number % 20 == 0 or number == len(missing):
                spent = time.monotonic() - began
                left = spent / number * (len(missing) - number)
                print(f"{number} of {len(missing)} cells, {spent / 60:.1f} minutes, about {left / 60:.0f} left", file=sys.stderr)
    rows = [done[cell.key] for cell in wanted if cell.key in done]
    print("\n".join(lines(rows)))
    print("\n".join(times(rows)), file=sys.stderr)
    for told in failing(rows):
        print(f"failing: {told}")
    if chosen.docs is not None:
        chosen.docs.write_text(written(chosen.docs.read_text(encoding="utf-8"), rows), encoding="utf-8")


if __name__ == "__main__":
    main()
