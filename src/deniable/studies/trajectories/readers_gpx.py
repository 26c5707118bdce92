"""Tracks in GPX files, by an event parser: little memory, and no entities, so that no file can grow while it is read."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from deniable.errors import Malformed
from deniable.studies.trajectories.pieces import CHUNK, Bad, Loaded, Piece, PieceStream
from deniable.studies.trajectories.readers_csv import number

BLOCK = 1 << 16
LINES, POINTS = ("trkseg", "rte"), ("trkpt", "rtept")


def read_gpx(path: str | Path, *, bad: Bad = "refuse") -> Loaded:
    """One path per track segment and per route, in the file's order, in degrees. Single waypoints are no paths."""
    return stream_gpx(path, bad=bad).collect()


def stream_gpx(path: str | Path, *, bad: Bad = "refuse") -> PieceStream:
    """The same in pieces and little memory, however long a track is."""
    stream = PieceStream("degrees", bad)
    stream.pieces = _pieces(Path(path), stream)
    return stream


class _Tracks:
    """What the parser tells: a line begins, a point, a line ends."""

    def __init__(self) -> None:
        self.path, self.inside, self.root = -1, False, ""
        self.begun = False
        """Has the current line been given a piece?"""
        self.coordinates = array("d")
        self.ready: list[tuple[int, array[float]]] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        self.root = self.root or tag
        if tag in LINES:
            self.path += 1
            self.inside, self.begun = True, False
        elif tag in POINTS and self.inside:
            self.coordinates.extend((number(attributes.get("lon", "")), number(attributes.get("lat", ""))))
            if len(self.coordinates) >= 2 * CHUNK:
                self.flush()

    def end(self, name: str) -> None:
        if name.rpartition(" ")[2] in LINES:
            self.flush(last=True)
            self.inside = False

    def flush(self, *, last: bool = False) -> None:
        if len(self.coordinates) or (last and not self.begun):
            self.ready.append((self.path, self.coordinates))
            self.coordinates, self.begun = array("d"), True


def _refuse(*_: Any) -> None:
    raise Malformed(
        "the GPX file declares a document type or entities, which can make it grow without bound; remove the declaration"
    )


def _pieces(path: Path, stream: PieceStream) -> Iterator[Piece]:
    tracks = _Tracks()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler, parser.EndElementHandler = tracks.start, tracks.end
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = _refuse
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    with open(path, "rb") as file:
        while True:
            block = file.read(BLOCK)
            try:
                parser.Parse(block, not block)
            except expat.ExpatError as error:
                raise Malformed(
                    f"line {error.lineno} of the GPX file is not well-formed XML: {expat.ErrorString(error.code)}"
                ) from None
            if tracks.root not in ("", "gpx"):
                raise Malformed("the file is XML, but not GPX: its outermost element is not <gpx>")
            for number_, coordinates in tracks.ready:
                where = f"up to line {parser.CurrentLineNumber}"
                yield Piece(number_, stream.checked(np.array(coordinates).reshape(-1, 2), where))
            tracks.ready.clear()
            if not block:
                return
