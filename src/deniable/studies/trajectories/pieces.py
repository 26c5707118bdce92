"""Paths in pieces: what streaming readers give and writers take, so that long tracks need little memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from deniable.batch import Floats
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.studies.trajectories.paths import Paths

Unit = Literal["degrees", "plane"]
"""What coordinates are: longitude and latitude, or x and y of a plane."""
Bad = Literal["refuse", "drop"]
CHUNK = 1 << 14


@dataclass(frozen=True, eq=False, repr=False)
class Piece:
    """Some of a path's places, in order; the next pieces of the same path follow directly."""

    path: int
    places: Floats

    def __repr__(self) -> str:
        return f"Piece(path {self.path}, {len(self.places)} places)"


@dataclass(frozen=True, eq=False, repr=False)
class Loaded:
    """Paths from a file, the unit of their coordinates, and how many places were no places and left out.

    `users` are the identifiers in the file, one per path, only when they were asked for. They are private.
    """

    paths: Paths
    unit: Unit
    dropped: int = 0
    users: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return f"Loaded({self.paths!r}, unit={self.unit!r}, dropped={self.dropped})"


@dataclass
class PieceStream:
    """An iterator of pieces that knows their unit and counts what it leaves out on the way."""

    unit: Unit
    bad: Bad = "refuse"
    dropped: int = 0
    unordered: bool = False
    """Did the stream end because check-ins are not in order? Read as a whole, they are sorted."""
    pieces: Iterator[Piece] = field(default_factory=lambda: iter(()), repr=False)

    def __post_init__(self) -> None:
        if self.bad not in get_args(Bad):
            raise InvalidParameter(
                "bad must be 'refuse' or 'drop': what to do with places that are not numbers or not valid degrees"
            )

    def __iter__(self) -> Iterator[Piece]:
        return self.pieces

    def collect(self) -> Loaded:
        """All paths at once, in memory."""
        paths = joined(self)
        return Loaded(paths, self.unit, self.dropped)

    def checked(self, places: Floats, where: str) -> Floats:
        """Places that can be places; others are refused or counted and left out. Longitudes end between -180 and 180.

        `where` says which part of the file the places come from: coordinates are private and never shown.
        """
        good = np.isfinite(places).all(axis=1)
        if self.unit == "degrees":
            longitude, latitude = places[:, 0], places[:, 1]
            # Up to 360: some files count longitudes eastward only.
            with np.errstate(invalid="ignore"):
                good &= (longitude >= -180) & (longitude <= 360) & (np.abs(latitude) <= 90)
        if not good.all():
            if self.bad == "refuse":
                raise OutOfDomain(self._complaint(places[~good], where))
            self.dropped += int((~good).sum())
            places = places[good]
        if self.unit == "degrees" and len(places) and places[:, 0].max() > 180:
            places = places.copy()
            places[:, 0] -= np.where(places[:, 0] > 180, 360.0, 0.0)
        return places

    def _complaint(self, wrong: Floats, where: str) -> str:
        numbers = wrong[np.isfinite(wrong).all(axis=1)]
        if len(numbers) == 0:
            return f"{where}: a coordinate is missing or not a number. Correct the file, or read it with bad='drop' (--bad drop)"
        if ((np.abs(numbers[:, 1]) > 90) & (np.abs(numbers[:, 0]) <= 90)).any():
            return (
                f"{where}: a latitude lies beyond 90 degrees and its longitude would be a latitude; "
                "the two look swapped. Swap them in the file, or name the columns"
            )
        return (
            f"{where}: coordinates are not valid degrees (they are private and not shown). "
            "Correct the file, or read it with bad='drop' (--bad drop)"
        )


def joined(pieces: Iterable[Piece]) -> Paths:
    """All pieces together as paths.

    >>> joined([Piece(0, np.zeros((2, 2))), Piece(0, np.ones((1, 2))), Piece(1, np.ones((1, 2)))]).lengths.tolist()
    [3, 1]
    """
    parts: list[Floats] = []
    lengths: list[int] = []
    for piece in pieces:
        if piece.path not in (len(lengths) - 1, len(lengths)):
            raise InvalidParameter("the pieces of a path must follow one another, and paths are numbered in order")
        if piece.path == len(lengths):
            lengths.append(0)
        lengths[-1] += len(piece.places)
        parts.append(piece.places)
    places = np.concatenate(parts) if parts else np.empty((0, 2))
    return Paths(places, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))


def in_pieces(paths: Paths | Iterable[Piece], size: int = CHUNK) -> Iterator[Piece]:
    """Paths cut into pieces of at most `size` places; pieces stay as they are. An empty path is one empty piece."""
    if not isinstance(paths, Paths):
        yield from paths
        return
    for number, path in enumerate(paths):
        for start in range(0, max(len(path), 1), size):
            yield Piece(number, path[start : start + size])
