"""Writing paths as CSV, GPX or GeoJSON, piece by piece. Paths are numbered; users are written only when given."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from xml.sax.saxutils import escape

import numpy as np

from deniable.batch import Floats
from deniable.errors import InvalidParameter
from deniable.studies.trajectories.paths import Paths
from deniable.studies.trajectories.pieces import Piece, Unit, in_pieces

Pieces = Paths | Iterable[Piece]
DIGITS = 9
"""Of a degree behind the point: a tenth of a millimetre."""


def write_paths(paths: Pieces, path: str | Path, *, unit: Unit = "degrees", users: Sequence[str] | None = None) -> Path:
    """Paths, or pieces of them, into a file of the kind its ending says: .csv, .gpx, .geojson or .json.

    In CSV the columns are path, step, and longitude and latitude, or x and y for unit="plane"; GPX and GeoJSON hold degrees only.
    `users` are written beside the paths' numbers; leave them out unless their owners agreed.
    """
    target = Path(path)
    ending = check_target(target, unit)
    with _replacing(target) as file:
        WRITERS[ending](_checked(in_pieces(paths), unit), file, unit, users)
    return target


def check_target(path: str | Path, unit: Unit) -> str:
    """The file's ending, if paths of this unit can be written to it."""
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise InvalidParameter(f"a file of paths must end in {', '.join(WRITERS)}")
    if unit != "degrees" and ending != ".csv":
        raise InvalidParameter(f"{ending} files hold degrees only; project the paths back first, or write .csv")
    return ending


@contextmanager
def _replacing(target: Path) -> Iterator[IO[str]]:
    """A file that appears under its name only when it is complete."""
    partial = target.with_name(f".{target.name}.part")
    try:
        with open(partial, "w", encoding="utf-8", newline="") as file:
            yield file
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _checked(pieces: Iterator[Piece], unit: Unit) -> Iterator[Piece]:
    for piece in pieces:
        within = unit != "degrees" or bool((np.abs(piece.places) <= [360.0, 90.0]).all())
        if not np.isfinite(piece.places).all() or not within:
            raise InvalidParameter("a place is not a pair of degrees; for plane coordinates write .csv with unit='plane'")
        yield piece


def _user(users: Sequence[str] | None, path: int) -> str | None:
    if users is None:
        return None
    if path >= len(users):
        raise InvalidParameter("users must have one entry per path")
    return users[path]


def _write_csv(pieces: Iterator[Piece], file: IO[str], unit: Unit, users: Sequence[str] | None) -> None:
    rows = csv.writer(file, lineterminator="\n")
    names = ("longitude", "latitude") if unit == "degrees" else ("x", "y")
    # The step is what readers sort by: a file without it would lose its order in other programs.
    rows.writerow(["path", *(["user"] if users is not None else []), "time", *names])
    step, current = 0, -1
    for piece in pieces:
        if piece.path != current:
            step, current = 0, piece.path
        owner = [] if users is None else [_user(users, piece.path)]
        for x, y in _rounded(piece.places, unit).tolist():
            rows.writerow([piece.path, *owner, step, repr(x), repr(y)])
            step += 1


def _write_gpx(pieces: Iterator[Piece], file: IO[str], unit: Unit, users: Sequence[str] | None) -> None:
    file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    file.write('<gpx version="1.1" creator="deniable" xmlns="http://www.topografix.com/GPX/1/1">\n')
    for first, piece, last in _edges(pieces):
        if first:
            owner = _user(users, piece.path)
            name = str(piece.path) if owner is None else owner
            file.write(f"<trk><name>{escape(name)}</name><trkseg>\n")
        # GPX asks for longitudes below 180: the date line itself is written as -180.
        places = _rounded(_wrapped(piece.places), unit).tolist()
        file.writelines(f'<trkpt lat="{latitude!r}" lon="{longitude!r}"/>\n' for longitude, latitude in places)
        if last:
            file.write("</trkseg></trk>\n")
    file.write("</gpx>\n")


def _write_geojson(pieces: Iterator[Piece], file: IO[str], unit: Unit, users: Sequence[str] | None) -> None:
    file.write('{"type": "FeatureCollection", "features": [')
    separator = ""
    previous: float | None = None
    for first, piece, last in _edges(pieces):
        if first:
            owner = _user(users, piece.path)
            properties: dict[str, Any] = {"path": piece.path, **({} if owner is None else {"user": owner})}
            file.write(f'{separator}\n{{"type": "Feature", "properties": {json.dumps(properties)}, ')
            file.write('"geometry": {"type": "LineString", "coordinates": [')
            separator, previous = ",", None
        if len(piece.places):
            # Longitudes go on beyond 180 where a path crosses the date line: a jump back would draw a line around the earth.
            before = piece.places[0, 0] if previous is None else previous
            longitudes = np.unwrap(np.append([before], piece.places[:, 0]), period=360.0)[1:]
            places = _rounded(np.stack([longitudes, piece.places[:, 1]], axis=1), unit)
            # The first pieces of a path may be empty, when their places were left out.
            file.write(("" if previous is None else ", ") + json.dumps(places.tolist())[1:-1])
            previous = float(longitudes[-1])
        if last:
            file.write("]}}")
    file.write("\n]}\n")


WRITERS = {".csv": _write_csv, ".gpx": _write_gpx, ".geojson": _write_geojson, ".json": _write_geojson}


def _edges(pieces: Iterator[Piece]) -> Iterator[tuple[bool, Piece, bool]]:
    """Every piece with whether it begins and whether it ends its path."""
    held: Piece | None = None
    first = True
    for piece in pieces:
        if held is not None:
            same = held.path == piece.path
            yield first, held, not same
            first = not same
        held = piece
    if held is not None:
        yield first, held, True


def _wrapped(places: Floats) -> Floats:
    return np.stack([(places[:, 0] + 180.0) % 360.0 - 180.0, places[:, 1]], axis=1)


def _rounded(places: Floats, unit: Unit) -> Floats:
    return np.round(places, DIGITS) if unit == "degrees" else places
