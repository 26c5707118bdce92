"""deniable beside what people use now: benchmarks/RESULTS.md, a picture, and the tables in docs/speed.md and README.md.

    python benchmarks/run.py                     # everything, each comparison in three separate runs
    python benchmarks/run.py --only readme       # only what the README quotes: about five minutes on a quiet machine
    python benchmarks/run.py --only cold,growth  # these again, the others as they were
    python benchmarks/run.py --quick             # one run with fewer users: a look, written to output/
    python benchmarks/run.py --draw              # the pages and the picture again, from benchmarks/results.json

The peers are installed once, each into its own virtual environment under .venv-peers/ (a network or a package index is
needed for that). Everyone takes turns, at least five each: a peer's fastest turn on an idle machine counts, and the median of
ours. Ratios are ranges over the runs, and the lower end is what is promised. A peer that cannot be installed says why.
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
from speed.quotes import QUOTED, README_SECTIONS, with_quotes
from speed.runs import merged, merged_starts
from speed.tasks import Task, aggregating, privatising

from deniable.charts import save

HERE = ROOT / "benchmarks"
DOCUMENT = ROOT / "docs" / "speed.md"
README = ROOT / "README.md"
QUICK = ROOT / "output" / "bench"
RUNS = 3


def say(text: str) -> None:
    """Progress, beside the results."""
    print(text, file=sys.stderr, flush=True)


def sections(quick: bool, known: dict[str, Any], tasks: Callable[[Task], bool]) -> dict[str, Callable[[], Any]]:
    """What is measured, in this order; each can be measured again by itself.

    `known` is what was measured before, `tasks` says which comparisons are measured again.
    """
    least, repeats, runs = (0.02 if quick else 0.1), 5, (1 if quick else RUNS)

    def compared(name: str, chosen: list[Task]) -> dict[str, list[Any]]:
        again = [task for task in chosen if tasks(task)]
        by_run = [compare_all(again, repeats, least, say) for _ in range(runs)]
        rows = {task.key: [run[place] for run in by_run] for place, task in enumerate(again)}
        return {**known.get(name, {}), **rows}

    return {
        "versions": lambda: about([OURS, NAIVE, *OTHERS]),
        "checks": lambda: check_estimates(say),
        "cold_runs": lambda: [cold_starts(3 if quick else 5) for _ in range(runs)],
        "privatise_runs": lambda: compared("privatise_runs", privatising(quick)),
        "aggregate_runs": lambda: compared("aggregate_runs", aggregating(quick)),
        "both": lambda: end_to_end(quick, repeats, say),
        "growth": lambda: {
            "users": growth.in_users(10**7 if quick else 10**8, 3),
            "values": growth.in_values(5 if quick else 15, 1 << (18 if quick else 20)),
        },
        "fractions": lambda: growth.fractions(10**6 if quick else 10**7, 5 if quick else 15),
    }


NAMES = ("versions", "checks", "cold", "privatise", "aggregate", "both", "growth", "fractions")
IN_RUNS = ("cold", "privatise", "aggregate")


def measure(quick: bool, only: list[str], found: dict[str, Any], kept: Path) -> None:
    """The chosen sections, with the date, the load of the machine and the time of each; kept after every section."""
    command = "python benchmarks/run.py" + (" --quick" if quick else "")
    found |= {"command": command, "machine": facts(), "sections": found.get("sections", {})}
    quoted = only == ["readme"]
    wanted = list(README_SECTIONS) if quoted else only
    for key, section in sections(quick, found, lambda task: not quoted or task.key in QUOTED).items():
        name = key.removesuffix("_runs")
        if name in wanted:
            say(f"{name} …")
            begin, before = time.perf_counter(), load()
            found[key] = section()
            today = datetime.datetime.now(datetime.UTC).date().isoformat()
            found["sections"][name] = {
                "date": today,
                "load": max(before, load()),
                "seconds": time.perf_counter() - begin,
            }
            keep(found, kept)


def shown(found: dict[str, Any]) -> None:
    """What the tables show of several runs."""
    found["cold"] = merged_starts(found["cold_runs"])
    for name in ("privatise", "aggregate"):
        found[name] = [merged(rows) for rows in found[f"{name}_runs"].values()]


def keep(found: dict[str, Any], kept: Path) -> None:
    """What was found so far, as a file."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def write(found: dict[str, Any], place: Path) -> list[dict[str, Any]]:
    """The page, the picture and what they are made of; the bars."""
    shown(found)
    found["bars"] = judged(found)
    keep(found, place / "results.json")
    (place / "RESULTS.md").write_text(page(found), encoding="utf-8")
    if place == HERE:
        DOCUMENT.write_text(with_bars(DOCUMENT.read_text(encoding="utf-8"), found), encoding="utf-8")
        README.write_text(with_quotes(README.read_text(encoding="utf-8"), found), encoding="utf-8")
    save(speed_chart([*found["privatise"], *found["aggregate"]]), place / "results.svg")
    bars: list[dict[str, Any]] = found["bars"]
    return bars


def main() -> None:
    """Measure, write, and print the bars."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer users; results go to output/bench")
    parser.add_argument("--only", help="measure these again, keep the others: readme, or " + ", ".join(NAMES))
    parser.add_argument("--draw", action="store_true", help="measure nothing: the page and the picture again")
    chosen = parser.parse_args()
    place = QUICK if chosen.quick else HERE
    only = [] if chosen.draw else chosen.only.split(",") if chosen.only else list(NAMES)
    if only != ["readme"] and (unknown := set(only) - set(NAMES)):
        parser.error(f"--only knows readme, alone, and {', '.join(NAMES)}; not {', '.join(sorted(unknown))}")
    known = place / "results.json"
    found = json.loads(known.read_text(encoding="utf-8")) if (chosen.only or chosen.draw) and known.exists() else {}
    measure(chosen.quick, only, found, known)
    if missing := [name for name in NAMES if (f"{name}_runs" if name in IN_RUNS else name) not in found]:
        print(f"not yet measured: {', '.join(missing)}")
        return
    for row in write(found, place):
        met = {True: "met", False: "MISSED", None: "-"}[row["met"]]
        print(f"{met:<7}{row['bar']:<62}{row['required']:>10}{row['reached']:>10}   {row['note']}")
    print(f"\nwritten: {(place / 'RESULTS.md').relative_to(ROOT)}")


if __name__ == "__main__":
    main()
