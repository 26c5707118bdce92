"""Reading paths from a file of any known format, by its ending."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter
from deniable.studies.trajectories.pieces import Loaded, PieceStream
from deniable.studies.trajectories.readers_csv import read_csv, stream_csv
from deniable.studies.trajectories.readers_geojson import read_geojson, stream_geojson
from deniable.studies.trajectories.readers_gpx import read_gpx, stream_gpx

ENDINGS = {
    ".csv": (read_csv, stream_csv),
    ".tsv": (read_csv, stream_csv),
    ".gpx": (read_gpx, stream_gpx),
    ".geojson": (read_geojson, stream_geojson),
    ".json": (read_geojson, stream_geojson),
}


def read_paths(path: str | Path, **options: Any) -> Loaded:
    """All paths of a CSV, GPX or GeoJSON file; options are those of read_csv, read_gpx and read_geojson."""
    loaded: Loaded = _by_ending(path)[0](path, **options)
    return loaded


def stream_paths(path: str | Path, **options: Any) -> PieceStream:
    """The same in pieces and little memory: see stream_csv, stream_gpx and stream_geojson."""
    pieces: PieceStream = _by_ending(path)[1](path, **options)
    return pieces


def _by_ending(path: str | Path) -> tuple[Any, Any]:
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise InvalidParameter(f"a file of paths must end in {', '.join(ENDINGS)}")
    return ENDINGS[ending]
