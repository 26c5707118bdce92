"""deniable beside what people use now, measured in one run: benchmarks/RESULTS.md, a picture, and the table in docs/speed.md.

    python benchmarks/run.py             # everything: below a quarter of an hour on a quiet machine
    python benchmarks/run.py --quick     # fewer users and turns: a look in two minutes, written to output/
    python benchmarks/run.py --only cold,growth      # these again, the others as they were
    python benchmarks/run.py --draw      # the page and the picture again, from benchmarks/results.json

The peers are installed once, each into its own virtual environment under .venv-peers/ (a network or a package index is
needed for that). Everyone takes turns; medians of at least five. A peer that cannot be installed says why in its rows.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from speed import growth
from speed.bars import judged
from speed.cold_start import cold_starts
from speed.comparing import about, check_estimates, compare_all, end_to_end
from speed.environments import NAIVE, OTHERS, OURS, ROOT
from speed.machine import facts, load
from speed.page import page, with_bars
from speed.picture import speed_chart
from speed.tasks import aggregating, privatising

from deniable.charts import save

HERE = ROOT / "benchmarks"
DOCUMENT = ROOT / "docs" / "speed.md"
QUICK = ROOT / "output" / "bench"


def say(text: str) -> None:
    """Progress, beside the results."""
    print(text, file=sys.stderr, flush=True)


def sections(quick: bool) -> dict[str, Callable[[], Any]]:
    """What is measured, in this order; each can be measured again by itself."""
    least, repeats = (0.02 if quick else 0.1), 5
    return {
        "versions": lambda: about([OURS, NAIVE, *OTHERS]),
        "checks": lambda: check_estimates(say),
        "cold": lambda: cold_starts(3 if quick else 7),
        "privatise": lambda: compare_all(privatising(quick), repeats, least, say),
        "aggregate": lambda: compare_all(aggregating(quick), repeats, least, say),
        "both": lambda: end_to_end(quick, repeats, say),
        "growth": lambda: {
            "users": growth.in_users(10**7 if quick else 10**8, 3),
            "values": growth.in_values(5 if quick else 15, 1 << (18 if quick else 20)),
        },
        "fractions": lambda: growth.fractions(10**6 if quick else 10**7, 5 if quick else 15),
    }


def measure(quick: bool, only: list[str], found: dict[str, Any], kept: Path) -> None:
    """The chosen sections, with the date, the load of the machine and the time of each; kept after every section."""
    command = "python benchmarks/run.py" + (" --quick" if quick else "")
    found |= {"command": command, "machine": facts(), "sections": found.get("sections", {})}
    for name, section in sections(quick).items():
        if name in only:
            say(f"{name} …")
            begin, before = time.perf_counter(), load()
            found[name] = section()
            today = datetime.datetime.now(datetime.UTC).date().isoformat()
            found["sections"][name] = {
                "date": today,
                "load": max(before, load()),
                "seconds": time.perf_counter() - begin,
            }
            keep(found, kept)


def keep(found: dict[str, Any], kept: Path) -> None:
    """What was found so far, as a file."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def write(found: dict[str, Any], place: Path) -> list[dict[str, Any]]:
    """The page, the picture and what they are made of; the bars."""
    found["bars"] = judged(found)
    keep(found, place / "results.json")
    (place / "RESULTS.md").write_text(page(found), encoding="utf-8")
    if place == HERE:
        DOCUMENT.write_text(with_bars(DOCUMENT.read_text(encoding="utf-8"), found), encoding="utf-8")
    save(speed_chart([*found["privatise"], *found["aggregate"]]), place / "results.svg")
    bars: list[dict[str, Any]] = found["bars"]
    return bars


def main() -> None:
    """Measure, write, and print the bars."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer users; results go to output/bench")
    parser.add_argument("--only", help="measure these sections again, keep the others: " + ", ".join(sections(True)))
    parser.add_argument("--draw", action="store_true", help="measure nothing: the page and the picture again")
    chosen = parser.parse_args()
    place = QUICK if chosen.quick else HERE
    only = [] if chosen.draw else chosen.only.split(",") if chosen.only else list(sections(True))
    if unknown := set(only) - set(sections(True)):
        parser.error(f"--only knows {', '.join(sections(True))}, not {', '.join(sorted(unknown))}")
    known = place / "results.json"
    found = json.loads(known.read_text(encoding="utf-8")) if (chosen.only or chosen.draw) and known.exists() else {}
    measure(chosen.quick, only, found, known)
    if missing := [name for name in sections(True) if name not in found]:
        print(f"not yet measured: {', '.join(missing)}")
        return
    for row in write(found, place):
        met = {True: "met", False: "MISSED", None: "-"}[row["met"]]
        print(f"{met:<7}{row['bar']:<62}{row['required']:>10}{row['reached']:>10}   {row['note']}")
    print(f"\nwritten: {(place / 'RESULTS.md').relative_to(ROOT)}")


if __name__ == "__main__":
    main()
