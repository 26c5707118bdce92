"""Private paths from file to file: one pass to count, one to perturb, whatever the length of a track."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from deniable.batch import Integers, Keystream, SystemKeystream
from deniable.core import Mechanism
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.studies.trajectories.ground import Ground
from deniable.studies.trajectories.perturb import BUDGET_UNITS, POLICIES, Drawing
from deniable.studies.trajectories.pieces import Bad, Loaded, Piece, PieceStream, in_pieces
from deniable.studies.trajectories.readers import read_paths, stream_paths
from deniable.studies.trajectories.regions import refuse_outside, refuse_swapped
from deniable.studies.trajectories.writers import write_paths

BLOCK = 1 << 15
"""Places that are perturbed together."""
MOST_KEPT = 64
"""Mechanisms of different path lengths that are kept ready."""
Progress = Callable[[int], None]


@dataclass(frozen=True, repr=False)
class PathFile:
    """What one pass over a file of paths found out. Lengths are those of the paths without places that are left out."""

    path: Path
    ground: Ground
    outside: str
    bad: Bad
    lengths: Integers
    clipped: int
    dropped: int
    unusable: int
    """Places that were not numbers or not valid degrees, and were left out."""
    whole: Loaded | None = field(default=None)
    """All of it, when check-ins were not in order and had to be sorted."""

    @property
    def locations(self) -> int:
        """How many places are left."""
        return int(self.lengths.sum())

    @property
    def longest(self) -> int:
        """The most places a path has."""
        return int(self.lengths.max(initial=0))

    def __repr__(self) -> str:
        return f"PathFile({len(self.lengths)} paths, {self.locations} places)"

    def pieces(self) -> Iterator[Piece]:
        """The paths in coordinates of the ground's rectangle, by the policy for places outside."""
        source = _piece_stream(self.path, self.bad) if self.whole is None else in_pieces(self.whole.paths)
        for piece in source:
            inside = self.ground.inside(piece.places)
            places = piece.places[inside] if self.outside == "drop" else piece.places
            if self.outside == "clip" and not inside.all():
                places = places.copy()
                places[~inside] = self.ground.clip(places[~inside])
            yield Piece(piece.path, self.ground.plane(places))


def survey_file(
    path: str | Path, region: str, *, outside: str = "refuse", bad: Bad = "refuse", progress: Progress | None = None
) -> PathFile:
    """Go through a CSV, GPX or GeoJSON file once: how long its paths are, and which places lie outside the region.

    `region` is "west,south,east,north", or "left,bottom,right,top" for plane coordinates. Check-ins that are not in order
    by user and time are read and sorted in memory, some 100 bytes each; all other files take little memory, however long.
    `progress` hears how many places have been read.
    """
    if outside not in POLICIES:
        raise InvalidParameter("outside must be 'refuse', 'clip' or 'drop'")
    stream = _piece_stream(path, bad)
    ground = Ground.parse(region, stream.unit)
    whole: Loaded | None = None
    counting = _Counting(ground)
    try:
        counting.add(stream, progress)
        left_out = stream.dropped
    except InvalidParameter:
        if not stream.unordered:
            raise
        whole, counting = read_paths(path, bad=bad), _Counting(ground)
        counting.add(in_pieces(whole.paths), None)
        left_out = whole.dropped
    if not counting.places:
        raise InvalidParameter(f"{str(path)[-60:]} holds no locations")
    counting.check(outside)
    lengths = np.array(counting.inside if outside == "drop" else counting.all, np.int64)
    gone = counting.outside if outside == "drop" else 0
    clipped = counting.outside if outside == "clip" else 0
    return PathFile(Path(path), ground, outside, bad, lengths, clipped, gone, left_out, whole)


def perturb_file(
    source: PathFile,
    mechanism: Mechanism,
    out: str | Path,
    *,
    epsilon_per: str = "location",
    keystream: Keystream | None = None,
    progress: Progress | None = None,
) -> Path:
    """Perturb every place of a surveyed file and write the paths, numbered and without users, as they come.

    The output appears under its name when it is complete, and not at all when anything fails.
    `mechanism` is one on the ground's rectangle; `epsilon_per` is that of `perturb`.
    """
    lengths = None if epsilon_per == "location" else source.lengths
    private = perturb_pieces(_as_counted(source), mechanism, epsilon_per=epsilon_per, lengths=lengths, keystream=keystream)

    def written() -> Iterator[Piece]:
        for piece in private:
            yield Piece(piece.path, source.ground.back(piece.places))
            if progress is not None:
                progress(len(piece.places))

    return write_paths(written(), out, unit=source.ground.unit)


def perturb_pieces(
    pieces: Iterable[Piece],
    mechanism: Mechanism,
    *,
    epsilon_per: str = "location",
    lengths: Integers | None = None,
    keystream: Keystream | None = None,
) -> Iterator[Piece]:
    """Pieces of paths with every place replaced by what its private report stands for, in little memory.

    All places must lie in the mechanism's region. With epsilon_per="trajectory", `lengths` says how many places each
    path has in all, since each gets so small a part of epsilon.
    """
    if epsilon_per not in BUDGET_UNITS or (epsilon_per == "trajectory") != (lengths is not None):
        raise InvalidParameter("epsilon_per must be 'location', or 'trajectory' with the lengths of all paths")
    stream = SystemKeystream() if keystream is None else keystream
    ready: dict[int, Drawing] = {}
    last = -1
    for block in _blocks(pieces):
        numbers = np.repeat([piece.path for piece in block], [len(piece.places) for piece in block])
        places = np.concatenate([piece.places for piece in block])
        begins = np.diff(numbers, prepend=last) != 0
        last = int(numbers[-1]) if len(numbers) else last
        shares = np.ones_like(numbers) if lengths is None else lengths[numbers]
        drawn = np.empty_like(places)
        for share in np.unique(shares).tolist():
            if share not in ready:
                part = mechanism if share == 1 else replace(mechanism, epsilon=mechanism.privacy.times(Fraction(1, share)))
                ready[share] = Drawing(part, stream, small_blocks=True)
            mine = shares == share
            drawn[mine] = ready[share].draw(places[mine], begins[mine])
        if len(ready) > MOST_KEPT:
            # The path that is still open goes on with its own one.
            ready = {share: ready[share] for share in shares[-1:].tolist()}
        ends = np.cumsum([len(piece.places) for piece in block])
        for piece, part_of in zip(block, np.split(drawn, ends[:-1]), strict=True):
            yield Piece(piece.path, part_of)


def _blocks(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Pieces together, until there are enough places to be drawn at once."""
    block: list[Piece] = []
    held = 0
    for piece in pieces:
        block.append(piece)
        held += len(piece.places)
        if held >= BLOCK or len(block) >= BLOCK:
            yield block
            block, held = [], 0
    if block:
        yield block


def _piece_stream(path: str | Path, bad: Bad) -> PieceStream:
    return stream_paths(path, bad=bad)


def _as_counted(source: PathFile) -> Iterator[Piece]:
    """The pieces of the second pass, as long as they are what the first one counted."""
    left = source.lengths.copy()
    for piece in source.pieces():
        if piece.path >= len(left) or len(piece.places) > left[piece.path]:
            raise InvalidParameter("the file changed while it was read; start again when nobody writes to it")
        left[piece.path] -= len(piece.places)
        yield piece
    if left.any():
        raise InvalidParameter("the file changed while it was read; start again when nobody writes to it")


class _Counting:
    """Places inside and outside, path by path."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.all, self.inside = array("q"), array("q")
        self.places, self.outside, self.turned = 0, 0, 0

    def add(self, pieces: Iterable[Piece], progress: Progress | None) -> None:
        for piece in pieces:
            if piece.path == len(self.all):
                self.all.append(0)
                self.inside.append(0)
            inside = self.ground.inside(piece.places)
            if not np.isfinite(piece.places).all():
                raise OutOfDomain("some coordinates are not numbers; read the file with bad='drop' to leave those places out")
            within = int(np.count_nonzero(inside))
            self.all[-1] += len(inside)
            self.inside[-1] += within
            self.places += len(inside)
            self.outside += len(inside) - within
            if self.ground.city is not None:
                self.turned += int(np.count_nonzero(self.ground.inside(piece.places[~inside][:, ::-1])))
            if progress is not None:
                progress(len(inside))

    def check(self, outside: str) -> None:
        refuse_swapped(self.places, self.outside, self.turned)
        if outside == "refuse" and self.outside:
            refuse_outside(self.places, self.outside, "the region" if self.ground.city is None else "the box")
