"""Several runs of one comparison, each with fresh processes: what the tables show of them, and the range of every ratio.

A run is one row per task, or one row per package for cold starts. Peers are shown at their best over all runs, and ours by
the median run; a ratio is taken within each run, so that its range says what somebody who measures again may get.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from speed.environments import ONE_CORE, OURS

Row = dict[str, Any]
Range = tuple[float, float]
OWN = (OURS.name, ONE_CORE.name)


def merged(rows: list[Row]) -> Row:
    """One row of the tables from the rows of one task, one for each run."""
    packages: dict[str, Row] = {}
    for name in dict.fromkeys(name for row in rows for name in row["packages"]):
        entries = [row["packages"][name] for row in rows if name in row["packages"]]
        timed = sorted((entry for entry in entries if "per_user" in entry), key=lambda entry: float(entry["per_user"]))
        packages[name] = entries[-1] if not timed else timed[len(timed) // 2] if name in OWN else timed[0]
    return {**rows[0], "packages": packages}


def merged_starts(runs: list[list[Row]]) -> list[Row]:
    """Cold starts: one row per package."""
    rows: list[Row] = []
    for name in dict.fromkeys(row["package"] for run in runs for row in run):
        found = [row for run in runs for row in run if row["package"] == name]
        timed = sorted((row for row in found if "first_report" in row), key=lambda row: float(row["first_report"]))
        rows.append(found[-1] if not timed else timed[len(timed) // 2] if name in OWN else timed[0])
    return rows


def range_of(values: list[float]) -> Range | None:
    """The least and the largest; None when there is nothing."""
    return (min(values), max(values)) if values else None


def ratios(mine: list[Row], theirs: list[Row], packages: tuple[str, ...], own: str = OURS.name) -> tuple[Range, str] | None:
    """How many times faster ours is than the fastest of the packages, over the runs; and which that was in the closest one.

    `mine` and `theirs` are the rows of our task and of theirs, one for each run.
    """
    reached: list[tuple[float, str]] = []
    for ours, others in zip(mine, theirs, strict=False):
        times = {name: others["packages"].get(name, {}).get("per_user") for name in packages}
        known = {name: float(value) for name, value in times.items() if value is not None}
        alone = ours["packages"].get(own, {}).get("per_user")
        if known and alone is not None:
            nearest = min(known, key=lambda name: known[name])
            reached.append((known[nearest] / float(alone), nearest))
    span = range_of([value for value, _ in reached])
    return None if span is None else (span, min(reached)[1])


def start_ratios(runs: list[list[Row]], name: str, key: str = "first_report") -> Range | None:
    """How many times sooner our first report is there than that of another package."""
    reached = []
    for run in runs:
        times = {row["package"]: row[key] for row in run if key in row}
        if name in times and OURS.name in times:
            reached.append(times[name] / times[OURS.name])
    return range_of(reached)


def as_text(span: Range) -> str:
    """From … to … times; one number where both ends look alike.

    >>> as_text((107.2, 135.4)), as_text((5.61, 5.64)), as_text((1042.0, 1311.0))
    ('107–135×', '5.6×', '1,042–1,311×')
    """
    show: Callable[[float], str] = lambda value: f"{value:,.0f}" if value >= 20 else f"{value:.1f}"  # noqa: E731
    low, high = show(span[0]), show(span[1])
    return f"{low}×" if low == high else f"{low}–{high}×"
