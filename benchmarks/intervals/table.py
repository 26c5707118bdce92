"""The table of all intervals, from the file of results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from intervals.answers import Cell
from intervals.measuring import LOOKS, fails

BEGIN, END = "<!-- coverage: written by benchmarks/coverage.py --docs -->", "<!-- end of coverage -->"
Row = dict[str, Any]


def cell_of(row: Row) -> Cell:
    """The setting behind a row."""
    family, mechanism, shape, n, epsilon, target = row["key"].split("|")
    return Cell(family, mechanism, shape, int(n), float(epsilon), target)


def failures(rows: list[Row]) -> dict[tuple[str, str], list[float]]:
    """Cell and answer of whatever holds too seldom, all looks at all answers judged together (Bonferroni)."""
    tests = sum(len(kept["held"]) for row in rows for kept in row["answers"].values())
    return {
        (row["key"], name): [held / kept["asked"] for held in kept["held"]]
        for row in rows
        for name, kept in row["answers"].items()
        if fails(kept["held"], kept["asked"], LOOKS * tests).any()
    }


def failing(rows: list[Row]) -> Iterator[str]:
    """A line for each of them."""
    for (key, name), shares in failures(rows).items():
        yield f"{key}: {name}: {[round(share, 3) for share in shares]}"


def times(rows: list[Row]) -> Iterator[str]:
    """Processor time of every family and mechanism."""
    spent: dict[tuple[str, str], float] = defaultdict(float)
    for row in rows:
        cell = cell_of(row)
        spent[cell.family, cell.mechanism] += row["seconds"]
    for (family, mechanism), seconds in spent.items():
        yield f"{family}/{mechanism}: {seconds:.0f} s of processor time"


def lines(rows: list[Row]) -> Iterator[str]:
    """Lines of Markdown: one row for every estimator, target and mechanism, over all shapes, numbers of reports and epsilons."""
    bad = failures(rows)
    narrowest: dict[tuple[Any, ...], float] = {}
    groups: dict[tuple[str, str, str], list[tuple[tuple[Any, ...], bool, Any, float]]] = defaultdict(list)
    for row in rows:
        cell = cell_of(row)
        for name, kept in row["answers"].items():
            estimator, target = name.split("|")
            question = (cell.family, estimator, target, cell.shape, cell.n, cell.epsilon)
            half, fails = float(np.mean(kept["half"])), (row["key"], name) in bad
            if not fails:
                narrowest[question] = min(narrowest.get(question, np.inf), half)
            groups[estimator, cell.mechanism, target].append((question, fails, kept, half))
    yield "| estimator | mechanism | about | cells | coverage | least | half-width, n = 50 / 200 / 10,000 | width | failing |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for (estimator, mechanism, target), members in sorted(groups.items()):
        shares = [np.array(kept["held"]) / kept["asked"] for _, _, kept, _ in members]
        # Answers that are seldom given have no least one worth printing.
        often = [share.min() for share, (_, _, kept, _) in zip(shares, members, strict=True) if kept["asked"] >= 100]
        least = f"{100 * min(often):.1f} %" if often else "–"
        ratios = [half / max(narrowest.get(question, np.inf), 1e-12) for question, _, _, half in members]
        halves = []
        for n in (50, 200, 10_000):
            own = [half for question, _, _, half in members if question[4] == n]
            halves.append(f"{np.mean(own):.3f}" if own else "–")
        yield (
            f"| {estimator} | {mechanism} | {target} | {len(members)} | {100 * np.mean(np.concatenate(shares)):.1f} % | {least} | "
            f"{' / '.join(halves)} | {np.mean(ratios):.2f}x | {sum(fails for _, fails, _, _ in members)} |"
        )


def written(page: str, rows: list[Row]) -> str:
    """The page with the table between its marks."""
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    return "\n".join([before + BEGIN, "", *lines(rows), "", END + after])
