"""The public data of the case studies, and the table that all of them print.

The files are not part of the project. Give their directory by --data; ../shared/data beside the repository is the
default. A study whose data is absent says so and ends well.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deniable.classifiers import Report, best_mechanism, best_statement, statement, worst_statement

DIRECTORY = Path(__file__).parents[2].parent / "shared" / "data"
STROKE = ("age", "hypertension", "heart_disease", "ever_married", "avg_glucose_level", "bmi")
BANK = ("CreditScore", "Age", "Tenure", "Balance", "NumOfProducts", "IsActiveMember", "EstimatedSalary", "Satisfaction Score")
BANK += ("Point Earned",)
BANK_SCALES = (1000, 100, 10, 300_000, 4, 1, 200_000, 5, 1000)


def arguments(about: str, *, data: bool = True) -> argparse.Namespace:
    """The options that every study has."""
    parser = argparse.ArgumentParser(description=about)
    if data:
        parser.add_argument("--data", type=Path, default=DIRECTORY, help="directory of the public data")
    parser.add_argument("--chart", help="draw the curves to a .png, .svg or .html file")
    return parser.parse_args()


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file; the program ends here, well, when there is none."""
    if not path.is_file():
        print(f"{path.name} is not there; give the directory of the public data by --data. Nothing was done.")
        sys.exit(0)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def stroke(directory: Path) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The first 1,000 records: age/100, three flags, glucose/300, bmi/50 with the mean where it is missing; and strokes."""
    rows = rows_of(directory / "stroke.csv")[:1000]
    known = [float(row["bmi"]) for row in rows if row["bmi"] != "N/A"]
    mean = sum(known) / len(known)
    table = [
        [
            float(row["age"]) / 100,
            float(row["hypertension"]),
            float(row["heart_disease"]),
            float(row["ever_married"] == "Yes"),
            float(row["avg_glucose_level"]) / 300,
            min((mean if row["bmi"] == "N/A" else float(row["bmi"])) / 50, 1.0),
        ]
        for row in rows
    ]
    return np.array(table), np.array([int(row["stroke"]) for row in rows])


def bank(directory: Path) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """All customers, every feature divided by a round public number so that it lies in [0, 1]; and who left."""
    rows = rows_of(directory / "bank_attrition.csv")
    table = [[min(float(row[name]) / scale, 1.0) for name, scale in zip(BANK, BANK_SCALES, strict=True)] for row in rows]
    return np.array(table), np.array([int(row["Exited"]) for row in rows])


def show(report: Report, *, published: str = "", chart: str | None = None, levels: Sequence[float] = (2, 4, 8)) -> None:
    """The table, a few sentences, and the chart when one was asked for."""
    boxed = any(row.proved_lower is not None for row in report.rows)
    title = f"{'mechanism':14}{'epsilon':>8}{'lower':>9}{'rho':>9}{'kind':>11}{'interval':>18}{'empirical':>11}"
    print(title + (f"{'proved box':>12}" if boxed else ""))
    for row in report.rows:
        if row.epsilon not in levels:
            continue
        ends = f"{row.low:.4f}…{row.high:.4f}"
        tried = "-" if row.empirical is None else f"{row.empirical:.4f}"
        box = "" if row.proved_lower is None else f"{row.proved_lower:12.4f}"
        print(f"{row.mechanism:14}{row.epsilon:8g}{row.lower:9.4f}{row.value:9.4f}{row.kind:>11}{ends:>18}{tried:>11}{box}")
    best = best_mechanism(report, levels[len(levels) // 2])
    print(statement(best.row, report))
    if report.records > 1:
        print(worst_statement(best.row, report))
    print(best_statement(best))
    if published:
        print(published)
    for note in report.notes:
        print(f"note: {note}")
    if chart is not None:
        from deniable.charts.classifiers import rho_chart
        from deniable.charts.files import save

        print(f"chart: {save(rho_chart(report), chart)}")
