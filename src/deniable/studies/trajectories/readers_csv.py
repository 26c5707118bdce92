"""Check-ins in CSV files: a row per place, ordered by user and by time, columns found by their names."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from deniable.errors import InvalidParameter, Malformed
from deniable.studies.trajectories.check_ins import OrderedCheckIns, SortedCheckIns, seconds
from deniable.studies.trajectories.pieces import Bad, Loaded, Piece, PieceStream, Unit

NAMES = {
    "user": ("user", "userid", "uid", "username", "person", "personid", "path", "pathid", "track", "trackid", "trajectory"),
    "time": ("time", "timestamp", "utctime", "datetime", "localtime", "checkintime", "date"),
    "longitude": ("longitude", "lon", "lng", "long"),
    "latitude": ("latitude", "lat"),
    "x": ("x",),
    "y": ("y",),
}
"""Names that columns may have, in lower case and without spaces and signs; the first that fits counts."""


class Row(NamedTuple):
    """One check-in, and the line it ends in."""

    user: str
    time: float
    x: float
    y: float
    line: int


def read_csv(
    path: str | Path, *, columns: Mapping[str, str] | None = None, bad: Bad = "refuse", keep_users: bool = False
) -> Loaded:
    """One path per user, in time order, from a CSV file whose rows may come in any order.

    Columns are found by usual names (user, time, longitude and latitude, or x and y); `columns` names them when
    they are called otherwise: {"user": "Member"}. Without a user column the file is one path; without a time column
    rows keep their order. Text is UTF-8, or else Latin-1. Rows whose coordinates are not numbers, or not degrees, are
    refused, or with bad="drop" left out and counted. User identifiers are forgotten unless `keep_users` is set.
    """
    stream, rows = _open_rows(path, columns, bad)
    sorting = SortedCheckIns(stream)
    for row in rows:
        sorting.add(row.user, row.time, row.x, row.y)
    return sorting.paths(keep_users=keep_users)


def stream_csv(path: str | Path, *, columns: Mapping[str, str] | None = None, bad: Bad = "refuse") -> PieceStream:
    """The same in pieces and little memory, for files already ordered by user and time; others are refused."""
    stream, rows = _open_rows(path, columns, bad)
    stream.pieces = _pieces(stream, rows)
    return stream


def _pieces(stream: PieceStream, rows: Iterator[Row]) -> Iterator[Piece]:
    ordered = OrderedCheckIns(stream)
    where = "the file"
    for row in rows:
        where = f"line {row.line}"
        yield from ordered.add(row.user, row.time, row.x, row.y, where)
    yield from ordered.rest(where)


def _open_rows(path: str | Path, columns: Mapping[str, str] | None, bad: Bad) -> tuple[PieceStream, Iterator[Row]]:
    """What the header says, and the rows."""
    encoding = text_encoding(path)
    with open(path, encoding=encoding, newline="") as file:
        first = file.readline(1 << 16)
    separator = max(",;\t", key=first.count)
    header = next(csv.reader([first], delimiter=separator), [])
    places = _places(header, columns or {})
    unit: Unit = "degrees" if "longitude" in places else "plane"
    return PieceStream(unit, bad), _rows(path, encoding, separator, places)


def _places(header: list[str], columns: Mapping[str, str]) -> dict[str, int]:
    """Which column is which."""
    unknown = set(columns) - set(NAMES)
    if unknown:
        raise InvalidParameter(f"columns may name {', '.join(NAMES)}, not {', '.join(sorted(unknown))}")
    plain = ["".join(letter for letter in name.lower() if letter.isalnum()) for name in header]
    by_role: dict[str, int] = {}
    for role, names in NAMES.items():
        if role in columns:
            if columns[role] not in header:
                raise InvalidParameter(f"there is no column {columns[role]!r} for {role}; the file has {', '.join(header)[:200]}")
            by_role[role] = header.index(columns[role])
            continue
        known = [plain.index(name) for name in names if name in plain]
        if known:
            by_role[role] = known[0]
    pairs = [pair for pair in (("longitude", "latitude"), ("x", "y")) if set(pair) <= set(by_role)]
    if not pairs:
        if not header:
            raise InvalidParameter("the file is empty; its first line names the columns, for example user,time,longitude,latitude")
        raise InvalidParameter(
            "the file has no columns named longitude and latitude, or x and y; rename two (or name them by `columns`, in Python)"
        )
    # Degrees when there are both: x and y are then something else.
    return {role: place for role, place in by_role.items() if role in ("user", "time", *pairs[0])}


def _rows(path: str | Path, encoding: str, separator: str, places: dict[str, int]) -> Iterator[Row]:
    """The rows, times and coordinates read as numbers (nan where there is none)."""
    across, up = [places[role] for role in (("longitude", "latitude") if "longitude" in places else ("x", "y"))]
    user, time = places.get("user"), places.get("time")
    needed = max(places.values())
    with open(path, encoding=encoding, newline="") as file:
        reader = csv.reader(file, delimiter=separator)
        try:
            next(reader)
            for cells in reader:
                if not cells:
                    continue
                if len(cells) <= needed:
                    raise Malformed(f"line {reader.line_num}: the row has fewer columns than the header")
                moment = 0.0 if time is None else seconds(cells[time])
                if moment is None:
                    raise InvalidParameter(
                        f"line {reader.line_num}: the time cannot be read; write ISO 8601 such as 2012-12-08T05:56:34, or a number"
                    )
                yield Row("" if user is None else cells[user], moment, number(cells[across]), number(cells[up]), reader.line_num)
        except csv.Error as error:
            raise Malformed(f"line {reader.line_num}: {error}") from None


def number(text: str) -> float:
    """A coordinate, or nan when the text is none."""
    try:
        return float(text) if "_" not in text else float("nan")
    except ValueError:
        return float("nan")


def text_encoding(path: str | Path) -> str:
    """UTF-8 (with or without its mark) when all of the file is, else Latin-1."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                decoder.decode(block)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"
