"""Table 4.3: the data sets of the joint experiments."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deniable.studies import PUBLISHED_COUNTS
from deniable_reproduce.artifact import Artifact, Published, Result, Run
from deniable_reproduce.released_data import JRR

PRINTED_SHARES = {"Kosarak": 0.033, "Amazon": 0.076, "E-commerce": 0.822, "Census": 0.953}
Counts = tuple[int, int]
"""Rows and ones."""


def of_csv(path: Path) -> Counts:
    """A value per line, under a heading or none; 1 is a one."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.reader(lines) if row and row[0] != "GQ"]
    return len(rows), sum(row[0] == "1" for row in rows)


def of_mat(path: Path) -> Counts:
    """MATLAB's file of one vector of zeros and ones."""
    from scipy.io import loadmat

    (values,) = [value for name, value in loadmat(path).items() if not name.startswith("__")]
    return int(values.size), int((values == 1).sum())


FILES: dict[str, tuple[str, str, Callable[[Path], Counts]]] = {
    "Kosarak": ("kosarak_target_clicks.csv", "20 000 sampled clicks, 0 or 1", of_csv),
    "Amazon": ("amazon_beauty_ratings.csv", "10 000 sampled ratings, 1 to 5", of_csv),
    "E-commerce": ("EC.mat", f"Dataset/EC.mat of {JRR}", of_mat),
    "Census": ("census_2010_sample.csv", "10 000 sampled records with GQ", of_csv),
}


def compute(run: Run) -> Result:
    """Counted in the files that are here. Of the others there is nothing to compare."""
    rows: list[dict[str, Any]] = []
    numbers: dict[str, float] = {}
    for name, (path, source, count) in FILES.items():
        if not run.has(path):
            rows.append({"data set": name, "n": "", "n₁": "", "n₁/n": "", "counted": f"no, {path} is not here"})
            continue
        users, ones = count(run.file(path, source))
        rows.append({"data set": name, "n": users, "n₁": ones, "n₁/n": ones / users, "counted": "yes"})
        numbers |= {f"n, {name}": users, f"n₁, {name}": ones, f"n₁/n, {name}": ones / users}
    return {"numbers": numbers, "rows": rows}


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """What we counted ourselves."""
    rows: list[Mapping[str, Any]] = result["rows"]
    return rows


def _published() -> tuple[Published, ...]:
    numbers = []
    for name, (users, ones) in PUBLISHED_COUNTS.items():
        needs = (FILES[name][0],)
        numbers.append(Published(f"n, {name}", users, 0.0, "Table 4.3", needs=needs))
        numbers.append(Published(f"n₁, {name}", ones, 0.0, "Table 4.3", needs=needs))
        numbers.append(Published(f"n₁/n, {name}", PRINTED_SHARES[name], 0.0005, "Table 4.3", needs=needs))
    return tuple(numbers)


ARTIFACT = Artifact(
    name="table-4.3",
    title="The data sets of the joint experiments",
    source="Dissertation, Table 4.3",
    compute=compute,
    table=table,
    published=_published(),
    optional=tuple(path for path, _, _ in FILES.values()),
    note="Counted with --data; without a file its row is not compared. The e-commerce file is not among ours; the released one "
    f"(Dataset/EC.mat, {JRR}) has 19,314 ones of 23,486, as printed, and is counted when it is in the directory.",
)
