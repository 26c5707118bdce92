"""Table 4.3: the data sets of the joint experiments."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deniable.experiments.artifact import Artifact, Published, Result, Run
from deniable.joint import PUBLISHED_COUNTS

PRINTED_SHARES = {"Kosarak": 0.033, "Amazon": 0.076, "E-commerce": 0.822, "Census": 0.953}
FILES: dict[str, tuple[str, str, Callable[[list[str]], bool]]] = {
    "Kosarak": ("kosarak_target_clicks.csv", "20 000 sampled clicks, 0 or 1", lambda row: row[0] == "1"),
    "Amazon": ("amazon_beauty_ratings.csv", "10 000 sampled ratings, 1 to 5", lambda row: row[0] == "1"),
    "Census": ("census_2010_sample.csv", "10 000 sampled records with GQ", lambda row: row[0] == "1"),
}


def compute(run: Run) -> Result:
    """Counted in the files where they are; where not, the printed counts stand in for them."""
    rows = []
    numbers: dict[str, float] = {}
    for name, (n, ones) in PUBLISHED_COUNTS.items():
        counted = _count(run, name)
        users, found = (n, ones) if counted is None else counted
        rows.append({"data set": name, "n": users, "n₁": found, "n₁/n": found / users, "counted": counted is not None})
        numbers |= {f"n₁, {name}": found, f"n₁/n, {name}": found / users}
    return {"numbers": numbers, "rows": rows}


def _count(run: Run, name: str) -> tuple[int, int] | None:
    if name not in FILES or run.data is None or not (run.data / FILES[name][0]).exists():
        return None
    path, source, is_one = FILES[name]
    with run.file(path, source).open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.reader(lines) if row and row[0] != "GQ"]
    return len(rows), sum(is_one(row) for row in rows)


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """As printed, and whether we counted it ourselves."""
    rows: list[Mapping[str, Any]] = result["rows"]
    return rows


ARTIFACT = Artifact(
    name="table-4.3",
    title="The data sets of the joint experiments",
    source="Dissertation, Table 4.3",
    compute=compute,
    table=table,
    published=(
        *(Published(f"n₁, {name}", ones, 0.0, "Table 4.3") for name, (_, ones) in PUBLISHED_COUNTS.items()),
        *(Published(f"n₁/n, {name}", share, 0.0005, "Table 4.3") for name, share in PRINTED_SHARES.items()),
    ),
    data=tuple(path for path, _, _ in FILES.values()),
    note="With --data the three files are counted; otherwise (and for E-commerce, whose file is not distributed) the printed "
    "counts stand in, which for one bit per user lose nothing.",
)
