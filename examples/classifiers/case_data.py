"""The public data of the case studies, and the table that all of them print.

The files are not part of the project. Give their directory by --data; ../shared/data beside the repository is the
default. A study whose data is absent says so and ends well.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deniable.studies import UtilityReport, best_mechanism, best_statement, statement, worst_statement
from deniable_reproduce.case_data import BANK, STROKE, bank_table, stroke_table

__all__ = ["BANK", "STROKE", "arguments", "bank", "show", "stroke"]

DIRECTORY = Path(__file__).parents[2].parent / "shared" / "data"


def arguments(about: str, *, data: bool = True) -> argparse.Namespace:
    """The options that every study has."""
    parser = argparse.ArgumentParser(description=about)
    if data:
        parser.add_argument("--data", type=Path, default=DIRECTORY, help="directory of the public data")
    parser.add_argument("--chart", help="draw the curves to a .png, .svg or .html file")
    return parser.parse_args()


def here(path: Path) -> Path:
    """The file, or the end of the program, well, when there is none."""
    if not path.is_file():
        print(f"{path.name} is not there; give the directory of the public data by --data. Nothing was done.")
        sys.exit(0)
    return path


def stroke(directory: Path) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Patients and their strokes."""
    return stroke_table(here(directory / "stroke.csv"))


def bank(directory: Path) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Customers, and who left."""
    return bank_table(here(directory / "bank_attrition.csv"))


def show(report: UtilityReport, *, published: str = "", chart: str | None = None, levels: Sequence[float] = (2, 4, 8)) -> None:
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
        from deniable.charts import rho_chart, save

        print(f"chart: {save(rho_chart(report), chart)}")
