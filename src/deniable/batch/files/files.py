"""Files of reports to sums, in constant memory: frames (.dn), lines of JSON, CSV, Parquet, Arrow."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from deniable.batch.files.frames import read_frames
from deniable.batch.files.intake import Intake, intake_for
from deniable.batch.files.rows import DIGITS, read_csv, read_json_lines
from deniable.batch.files.tables import read_arrow, read_frame, read_parquet
from deniable.core import Mechanism
from deniable.errors import InvalidParameter

ENDINGS = {
    ".dn": "frames",
    ".jsonl": "json",
    ".ndjson": "json",
    ".csv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
STARTS = {b"dn": "frames", b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", b"{": "json"}
"""How files of other endings begin; whatever begins in none of these ways is CSV."""


def read_reports(
    mechanism: Mechanism,
    sources: Sequence[str | Path | Any],
    *,
    column: str = "output",
    base: int = 16,
    strict: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Intake:
    """Fold the reports of one or more files or frames (of pandas, polars or Arrow); `-` is standard input.

    A record that cannot be used is counted by reason and left out; with `strict` the first one raises,
    naming its place. A file that ends too early gives what it has, and a note. In tables, outputs stand
    in `column`: whole numbers, or text in this `base` (16, as `deniable randomize` writes them, or 10); a
    column `recipe`, where there is one, must hold the recipe's fingerprint.
    """
    if base not in DIGITS:
        raise InvalidParameter("base must be 10 or 16")
    if isinstance(sources, str) or not isinstance(sources, Sequence):
        raise InvalidParameter("sources must be a list of paths and frames, also when it is only one: [path]")
    intake = intake_for(mechanism, strict=strict)
    for number, source in enumerate(sources, start=1):
        if isinstance(source, str | Path):
            _read_one(str(source), intake, column, base, progress or (lambda done: None))
        else:
            read_frame(source, f"frame {number}", intake, column, base)
    return intake


def total_bytes(paths: Sequence[str | Path]) -> int | None:
    """How much there is to read, or None when standard input is among it."""
    if "-" in map(str, paths):
        return None
    return sum(Path(path).stat().st_size for path in paths)


def _read_one(path: str, intake: Intake, column: str, base: int, progress: Callable[[int], None]) -> None:
    name = "standard input" if path == "-" else Path(path).name
    file = _standard_input() if path == "-" else open(path, "rb")  # noqa: SIM115
    try:
        kind = ENDINGS.get(Path(path).suffix.lower()) or _kind(file)
        if kind == "frames":
            read_frames(file, name, intake, progress)
        elif kind == "json":
            read_json_lines(file, name, intake, progress)
        elif kind == "csv":
            read_csv(file, name, intake, progress, column, base)
        elif path == "-":
            raise InvalidParameter("standard input can hold frames, lines of JSON or CSV; give Parquet and Arrow by a file")
        elif kind == "parquet":
            read_parquet(path, name, intake, progress, column, base)
        else:
            read_arrow(file, name, intake, progress, column, base)
    finally:
        if path != "-":
            file.close()


def _standard_input() -> BinaryIO:
    stream: Any = sys.stdin.buffer
    return stream if hasattr(stream, "peek") else cast(BinaryIO, io.BufferedReader(stream))


def _kind(file: BinaryIO) -> str:
    start = cast(io.BufferedReader, file).peek(8)
    return next((kind for begin, kind in STARTS.items() if start.startswith(begin)), "csv")
