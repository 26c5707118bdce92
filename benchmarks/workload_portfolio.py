"""The planner's pick for linear questions beside every published baseline: predicted, and simulated.

    python benchmarks/workload_portfolio.py [--quick] [--results FILE] [--docs docs/workloads.md] [--every] [--table]
    python benchmarks/workload_portfolio.py --size 64 --epsilon 1 --workload ranges

Histograms, prefixes, ranges, 2- and 3-way marginals of 8 to 1,024 values, epsilon from 0.5 to 4. In every setting the planner
predicts all ways to ask; its pick and the best baseline (with `--every`: every kind of baseline) are simulated until the
error is known to 0.75 %. Up to 64 values the published descent is a baseline, too, with the exact error of its table.
Settings are appended to a file of JSON lines, and those that it has are not run again. `--docs` writes the table between two
marks of a page. `--quick` takes a minute: four settings, less exact. It fails if a baseline is ahead of the pick, predicted or
simulated, or if a simulation is more than 3 % off its prediction.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from deniable.batch import SystemKeystream
from deniable.core import Categories
from deniable.planning import Question, Way, design_workload, plan

SIZES = (8, 16, 64, 256, 1024)
LEVELS = ("0.5", "1", "2", "4")
WORKLOADS = ("histogram", "prefix", "ranges", "marginals:2", "marginals:3")
EVERYTHING = len(SIZES) * len(LEVELS) * len(WORKLOADS)
QUICK = tuple((name, size, "1") for name, size in (("prefix", 8), ("histogram", 64), ("ranges", 64), ("marginals:2", 64)))
USERS = 8 * 1024
"""A multiple of every size: people are spread evenly."""
MECHANISMS = ("hierarchical-histogram", "oue", "hadamard", "k-rr", "olh")
PUBLISHED = ("every table equally often", "whole record", "equal shares")
"""Marginals and wavelets as they were published; their other forms are chosen by optimisation."""
DESCENT = "published descent"
MOST_DESCENDED = 64
ALLOWED = 0.03
CLOSE, QUICKLY = 0.0075, 0.03
"""How exactly an error is simulated: its standard error as a part of it."""
MOST_RUNS = 20_000
SURELY = 4
"""Standard errors."""
RESULTS = Path(__file__).with_suffix(".jsonl")
BEGIN, END = "<!-- portfolio begins -->", "<!-- portfolio ends -->"
Row = dict[str, Any]


class Setting(NamedTuple):
    """What is asked, of how many values."""

    workload: str
    size: int
    epsilon: str


def main() -> int:
    """What is missing is run; then the table, and what is wrong with it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, action="append")
    parser.add_argument("--epsilon", action="append")
    parser.add_argument("--workload", action="append")
    parser.add_argument("--results", type=Path, default=RESULTS, help="a file of JSON lines, added to")
    parser.add_argument("--quick", action="store_true", help="four settings, less exact, not kept")
    parser.add_argument("--every", action="store_true", help="simulate every kind of baseline, not only the best")
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--docs", type=Path, help="a page to write the table into")
    asked = parser.parse_args()
    wanted = [
        Setting(name, size, level)
        for size in asked.size or SIZES
        for name in asked.workload or WORKLOADS
        for level in asked.epsilon or LEVELS
    ]
    rows = {} if asked.quick else known(asked.results)
    for setting in map(Setting._make, QUICK) if asked.quick else wanted:
        if asked.table or (setting in rows and (not asked.every or complete(rows[setting]))):
            continue
        rows[setting] = measured(setting, every=asked.every, close=QUICKLY if asked.quick else CLOSE)
        if not asked.quick:
            with asked.results.open("a", encoding="utf-8") as results:
                results.write(json.dumps(rows[setting]) + "\n")
        print(told(rows[setting]), file=sys.stderr, flush=True)
    shown = [row for setting, row in rows.items() if asked.quick or setting in wanted]
    print("\n".join(lines(shown)))
    if asked.docs is not None:
        asked.docs.write_text(written(asked.docs.read_text(encoding="utf-8"), shown), encoding="utf-8")
    wrong = [complaint for row in shown for complaint in complaints(row)]
    print("\n".join(wrong))
    return int(bool(wrong))


def known(path: Path) -> dict[Setting, Row]:
    """The settings that a file has; of two lines for one, the later."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines()) if path.exists() else ()
    return {Setting(row["workload"], row["size"], row["epsilon"]): row for row in rows}


def measured(setting: Setting, *, every: bool, close: float) -> Row:
    """One setting: the planner's ways with their predicted errors, and simulations of the pick and of baselines."""
    began = time.process_time()
    name, size, level = setting
    planned = plan(Question(task="workload", domain=Categories(size), users=USERS, epsilon=level, workload=name))
    told: list[Row] = []
    kinds: set[str] = set()
    for candidate in planned.candidates:  # the best is first
        way, published = candidate.way, kind(candidate.way)
        row: Row = {"way": way.label, "predicted": candidate.predicted_error}
        if published is not None:
            row["baseline"] = published
        best = published is not None and (not kinds or every) and published not in kinds
        if not told or best:
            row |= simulated(way, close)
        if published is not None:
            kinds.add(published)
        told.append(row)
    if size <= MOST_DESCENDED:
        design = design_workload(name, level, size=size, method="descent")
        told.append(
            {"way": DESCENT, "predicted": (design.exact.mean / design.workload.questions / USERS) ** 0.5, "baseline": DESCENT}
        )
        told[1:] = sorted(told[1:], key=lambda row: row["predicted"])
    return {**setting._asdict(), "users": USERS, "ways": told, "seconds": round(time.process_time() - began, 1)}


def kind(way: Way) -> str | None:
    """Which published baseline this is, if it is one."""
    if way.inner in PUBLISHED:
        return f"{way.name} ({way.inner})"
    if way.name == "hierarchical-histogram":
        return f"{way.name} ({str(way.inner).partition(',')[0]})"
    return way.name if way.name in MECHANISMS else None


def simulated(way: Way, close: float) -> Row:
    """The root of the mean squared error of surveys, as many as it takes."""
    stream, losses = SystemKeystream(), np.empty(0)
    while True:
        losses = np.append(losses, way.losses(USERS, 100, stream))
        error = float(np.sqrt(losses.mean()))
        spread = float(losses.std(ddof=1) / np.sqrt(len(losses)) / losses.mean()) / 2
        if spread < close or len(losses) >= MOST_RUNS:
            return {"simulated": error, "spread": spread, "runs": len(losses)}


def complete(row: Row) -> bool:
    """Whether every kind of baseline was simulated."""
    kinds = {way["baseline"] for way in row["ways"] if "baseline" in way} - {DESCENT}
    return kinds == {way["baseline"] for way in row["ways"] if "baseline" in way and "simulated" in way}


def baselines(row: Row) -> list[Row]:
    """Those of a setting, best first."""
    return [way for way in row["ways"] if "baseline" in way]


def apart(way: Row) -> float:
    """How far a simulation is from its prediction, as a part of it."""
    return float(way["simulated"] / way["predicted"] - 1)


def complaints(row: Row) -> Iterator[str]:
    """What is wrong with a setting."""
    where = f"{row['workload']}, {row['size']} values, epsilon {row['epsilon']}"
    pick = row["ways"][0]
    for way in row["ways"]:
        if way["predicted"] < pick["predicted"]:
            yield f"{where}: {way['way']} is predicted ahead of the pick"
        if "simulated" not in way:
            continue
        off = abs(apart(way))
        if off > ALLOWED and (way["spread"] <= CLOSE or off > SURELY * way["spread"]):
            yield f"{where}: {way['way']} is {100 * off:.1f} % off its prediction"
        noise = SURELY * np.hypot(way["spread"], pick["spread"])
        if "baseline" in way and way["simulated"] < pick["simulated"] * (1 - noise):
            yield f"{where}: {way['way']} is ahead of the pick when simulated"


def told(row: Row) -> str:
    """One setting in a line."""
    ways = [
        f"{way['way']} {way['predicted']:.5g} ({100 * apart(way):+.1f} ± {100 * way['spread']:.1f} %)"
        for way in row["ways"]
        if "simulated" in way
    ]
    return f"{row['workload']} {row['size']} {row['epsilon']}: {', '.join(ways)}; {row['seconds']} s"


def lines(rows: list[Row]) -> Iterator[str]:
    """Markdown: a line for every workload and number of values."""
    tried = [way for row in rows for way in row["ways"] if "simulated" in way]
    if not tried:
        return
    off = [abs(apart(way)) for way in tried]
    ahead = [baselines(row)[0]["predicted"] / row["ways"][0]["predicted"] for row in rows]
    run = f"all {EVERYTHING}" if len(rows) == EVERYTHING else f"the {len(rows)} of {EVERYTHING}"
    yield (
        f"In {run} settings{'' if len(rows) == EVERYTHING else ' that were run so far'}, the best baseline's error is "
        f"{min(ahead):.2f} to {max(ahead):.2f} times that of the pick "
        f"({np.exp(np.log(ahead).mean()):.2f} on geometric average). {len(tried):,} mechanisms were simulated, "
        f"{sum(way['runs'] for way in tried):,} surveys in all; the largest difference from a prediction is {100 * max(off):.1f} %."
    )
    yield ""
    levels = sorted({row["epsilon"] for row in rows}, key=float)
    yield f"| workload | values | {' | '.join(f'ε = {level}' for level in levels)} |"
    yield "|---|---|" + "---|" * len(levels)
    table = {Setting(row["workload"], row["size"], row["epsilon"]): row for row in rows}
    for name in WORKLOADS:
        for size in sorted({row["size"] for row in rows if row["workload"] == name}):
            cells = [cell(table.get(Setting(name, size, level))) for level in levels]
            yield f"| {name} | {size:,} | {' | '.join(cells)} |"


def cell(row: Row | None) -> str:
    """The pick's error, and that of the best baseline, in thousandths."""
    if row is None:
        return ""
    pick, other = row["ways"][0], baselines(row)[0]
    own = f"{short(pick['way'])} {1000 * pick['predicted']:.3g}"
    return own if other is pick else f"{own}; {short(other['way'])} {1000 * other['predicted']:.3g}"


def short(label: str) -> str:
    """A way's name without its details."""
    name, _, inner = label.partition(" (")
    if name == "marginals":
        return inner.removesuffix(")").removesuffix(" equally often")
    return {
        "hierarchical-histogram": f"{inner.partition(',')[0]} tree",
        "hierarchy": "tree",
        "extremal": "table",
        DESCENT: "descent",
    }.get(name, name)


def written(page: str, rows: list[Row]) -> str:
    """The page with the table between its marks."""
    before, rest = page.split(BEGIN)
    return "\n".join([before + BEGIN, "", *lines(rows), "", END + rest.split(END)[1]])


if __name__ == "__main__":
    sys.exit(main())
