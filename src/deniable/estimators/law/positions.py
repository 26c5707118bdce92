"""A reading as a few straight pieces: outputs begin … end-1 stand for start, start + step, …"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.core import Affine, Joined, Reading, Values

MOST_PIECES = 64
"""A list of more positions than this is read as an array."""


class Piece(NamedTuple):
    """Output `begin + j` stands for the position `start + step * j`, exactly."""

    begin: int
    end: int
    start: Fraction
    step: Fraction


def pieces(reading: Reading, outputs: int) -> list[Piece] | None:
    """The straight pieces of a reading; None when it has too many."""
    if isinstance(reading, Affine):
        return _affine(reading, outputs) if reading.step > 0 else None
    if isinstance(reading, Values):
        if outputs > MOST_PIECES:
            return None
        return [Piece(i, i + 1, Fraction(reading.positions[i]), Fraction(0)) for i in range(outputs)]
    if isinstance(reading, Joined):
        together: list[Piece] = []
        begin = 0
        for size, part in reading.parts:
            inner = pieces(part, size)
            if inner is None:
                return None
            together += [piece._replace(begin=piece.begin + begin, end=piece.end + begin) for piece in inner]
            begin += size
        return together
    return None


def _affine(reading: Affine, outputs: int) -> list[Piece]:
    if not reading.clip:
        return [Piece(0, outputs, reading.start, reading.step)]
    below = min(max(ceil(-reading.start / reading.step), 0), outputs)
    above = min(max(floor((1 - reading.start) / reading.step) + 1, below), outputs)
    parts = [
        Piece(0, below, Fraction(0), Fraction(0)),
        Piece(below, above, reading.start + reading.step * below, reading.step),
        Piece(above, outputs, Fraction(1), Fraction(0)),
    ]
    return [piece for piece in parts if piece.begin < piece.end]


def positions(reading: Reading, outputs: int) -> NDArray[np.float64]:
    """The position of every output, as floats."""
    if isinstance(reading, Affine):
        places: NDArray[np.float64] = float(reading.start) + float(reading.step) * np.arange(outputs, dtype=np.float64)
        return places.clip(0, 1) if reading.clip else places
    if isinstance(reading, Joined):
        return np.concatenate([positions(part, size) for size, part in reading.parts])
    return np.array([float(reading.position(output)) for output in range(outputs)])
