"""Paths in GeoJSON files: lines are paths, points are check-ins. Read event by event, so that tracks may be long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from deniable.batch import Floats
from deniable.errors import InvalidParameter, Malformed
from deniable.studies.trajectories.check_ins import OrderedCheckIns, SortedCheckIns, seconds
from deniable.studies.trajectories.json_events import JsonEvents
from deniable.studies.trajectories.pieces import CHUNK, Bad, Loaded, Piece, PieceStream, joined
from deniable.studies.trajectories.readers_csv import NAMES, text_encoding

DEPTHS = {"Point": 1, "LineString": 2, "MultiLineString": 3}
"""How deep the numbers of a geometry lie. Other geometries hold no paths."""
OTHERS = {"MultiPoint", "Polygon", "MultiPolygon"}


@dataclass
class _Object:
    """An object of the file while it is being read."""

    key: str
    """The name it stands under in the object around it."""
    type: str = ""
    name: str = ""
    """The name whose value comes next."""
    depth: int = 0
    """How deep the numbers of its coordinates lie; 0 before there are any."""
    point: list[Any] | None = None
    """Of a point, until its feature is over and its properties are known."""
    properties: dict[str, Any] = field(default_factory=dict)


def read_geojson(path: str | Path, *, bad: Bad = "refuse", keep_users: bool = False) -> Loaded:
    """Every LineString, and every part of a MultiLineString, is a path, in degrees.

    Point features are check-ins: their properties `user` and `time`, under the usual names, say whose and when; they
    are sorted as in CSV files and follow the lines. Without such properties all points are one path in the
    file's order. Altitudes are ignored, polygons and MultiPoints are refused. `users` has one entry per path of
    check-ins; lines have none, so `keep_users` is for files of points only.
    """
    stream = PieceStream("degrees", bad)
    sorting = SortedCheckIns(stream)
    reader = _Reader(path, stream)
    lines = joined(piece for piece in reader.pieces() if _sorted(piece, sorting))
    points = sorting.paths(keep_users=keep_users)
    if keep_users and len(lines):
        raise InvalidParameter("keep_users is for files of points: lines have no users")
    if not len(points.paths):
        return Loaded(lines, "degrees", stream.dropped)
    both = np.concatenate([lines.starts, lines.starts[-1] + points.paths.starts[1:]])
    return Loaded(type(lines)(np.concatenate([lines.places, points.paths.places]), both), "degrees", stream.dropped, points.users)


def stream_geojson(path: str | Path, *, bad: Bad = "refuse") -> PieceStream:
    """The same in pieces and little memory. Points must be in order by user and time, and a file has lines or points."""
    stream = PieceStream("degrees", bad)
    stream.pieces = _streamed(_Reader(path, stream), stream)
    return stream


@dataclass(frozen=True)
class _CheckIn:
    user: str
    time: float
    x: float
    y: float
    where: str


def _sorted(piece: Piece | _CheckIn, sorting: SortedCheckIns) -> bool:
    if isinstance(piece, _CheckIn):
        sorting.add(piece.user, piece.time, piece.x, piece.y)
    return isinstance(piece, Piece)


def _streamed(reader: _Reader, stream: PieceStream) -> Iterator[Piece]:
    ordered, lines, where = OrderedCheckIns(stream), False, "the file"
    for piece in reader.pieces():
        if isinstance(piece, Piece):
            lines = True
            yield piece
        else:
            where = piece.where
            yield from ordered.add(piece.user, piece.time, piece.x, piece.y, where)
        if lines and ordered.paths:
            stream.unordered = True
            raise InvalidParameter("a file with both lines and points cannot be streamed; read the whole file")
    yield from ordered.rest(where)


class _Reader:
    """Walks through the file and gives pieces of lines, and check-ins."""

    def __init__(self, path: str | Path, stream: PieceStream) -> None:
        self._path, self._stream = path, stream
        self._lines = -1
        self._objects: list[_Object] = []

    def pieces(self) -> Iterator[Any]:
        with open(self._path, encoding=text_encoding(self._path)) as file:
            events = JsonEvents(file)
            for event in events:
                here = self._objects[-1] if self._objects else None
                if event.kind == "{":
                    self._objects.append(_Object(here.name if here else ""))
                elif here is None:
                    raise Malformed("the file is JSON, but not GeoJSON: its outermost value is not an object")
                elif event.kind == "}":
                    yield from self._closed(self._objects.pop(), events)
                elif event.kind == "key":
                    here.name = str(event.value)
                elif event.kind == "value":
                    self._noted(here, event.value)
                elif event.kind == "[" and here.name == "coordinates" and not self._aside():
                    yield from self._coordinates(here, events)

    def _aside(self) -> bool:
        """Within properties, where anything may be called coordinates?"""
        return any(one.key == "properties" for one in self._objects)

    def _noted(self, here: _Object, value: Any) -> None:
        if here.key == "properties" and not any(one.key == "properties" for one in self._objects[:-1]):
            if len(self._objects) > 1:
                self._objects[-2].properties[here.name] = value
        elif here.name == "type":
            here.type = str(value)
            if here.type in OTHERS and not self._aside():
                raise InvalidParameter(f"a {here.type} holds no path; paths are LineString, MultiLineString or Point features")
            if here.depth:
                self._fits(here)

    def _fits(self, here: _Object) -> None:
        if DEPTHS.get(here.type) != here.depth:
            raise Malformed("the coordinates of a geometry do not fit its type")

    def _coordinates(self, here: _Object, events: JsonEvents) -> Iterator[Piece]:
        """After the opening bracket: everything up to the closing one."""
        if here.depth:
            raise Malformed("a geometry has two lists of coordinates")
        depth, opened = 1, False
        numbers: list[Any] = []
        positions: list[Any] = []
        for event in events:
            if event.kind == "value":
                numbers.append(real(event.value))
            elif event.kind == "positions":
                positions += event.value
            elif event.kind == "[" and not numbers and depth < 3:
                depth += 1
            elif event.kind == "]":
                if numbers or depth == here.depth:
                    self._position(here, depth)
                    positions.append(numbers)
                    numbers = []
                elif depth == (here.depth or DEPTHS.get(here.type, 2)) - 1:
                    yield from self._line(positions, opened, events, last=True)
                    positions, opened = [], False
                depth -= 1
            else:
                raise Malformed("coordinates are lists of numbers, or lists of such lists")
            if depth == 0:
                break
            if len(positions) >= CHUNK:
                yield from self._line(positions, opened, events)
                positions, opened = [], True
            # After the first position it is known where the others are, and they can be read many at once.
            events.coordinates = depth == here.depth - 1
        events.coordinates = False
        if positions:  # of a point: the positions of lines have been given
            here.point = positions[0]

    def _position(self, here: _Object, depth: int) -> None:
        """All positions of a geometry lie equally deep, and as deep as its type says."""
        if here.depth not in (0, depth):
            raise Malformed("the coordinates of a geometry do not fit its type")
        here.depth = depth
        if here.type:
            self._fits(here)

    def _line(self, positions: list[Any], opened: bool, events: JsonEvents, *, last: bool = False) -> Iterator[Piece]:
        """A piece of a line, or all that is left of it."""
        if not opened:
            self._lines += 1
        if positions or (last and not opened):
            yield Piece(self._lines, self._stream.checked(pairs(positions), f"up to character {events.read}"))

    def _closed(self, done: _Object, events: JsonEvents) -> Iterator[_CheckIn]:
        """An object is over: a point belongs to the feature around it, and a feature's point is a check-in."""
        around = self._objects[-1] if self._objects else None
        if (around is None and not done.type) or (done.depth and done.type not in DEPTHS):
            raise Malformed("the file is JSON, but not GeoJSON: an object has no type")
        if done.point is None:
            return
        if around is not None and done.key == "geometry":
            around.point, around.type = done.point, around.type or "Feature"
            return
        where = f"up to character {events.read}"
        user, time = (_property(done.properties, role) for role in ("user", "time"))
        moment = 0.0 if time is None else seconds(str(time))
        if moment is None:
            raise InvalidParameter(f"{where}: the time of a point cannot be read; write ISO 8601 such as 2012-12-08T05:56:34")
        place = pairs([done.point])[0]
        yield _CheckIn("" if user is None else str(user), moment, float(place[0]), float(place[1]), where)


def _property(properties: dict[str, Any], role: str) -> Any:
    plain = {"".join(letter for letter in name.lower() if letter.isalnum()): value for name, value in properties.items()}
    return next((plain[name] for name in NAMES[role] if name in plain), None)


def real(value: Any) -> float:
    """A coordinate, or nan when the value is none."""
    try:
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else float("nan")
    except OverflowError:  # a whole number of hundreds of digits
        return float("nan")


def pairs(positions: list[Any]) -> Floats:
    """Longitude and latitude of positions; nan where there is no number, altitudes left out."""
    if len({len(position) for position in positions}) == 1 and len(positions[0]) >= 2:
        return np.array(positions, np.float64)[:, :2]
    flat = [position[:2] if len(position) >= 2 else (np.nan, np.nan) for position in positions]
    return np.array(flat, np.float64).reshape(-1, 2)
