"""Columns of bytes: text, byte strings and whole numbers of any size, as one array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDEST = 4096
"""Longer rows keep their first and their last half of so many bytes."""


@dataclass(frozen=True)
class Octets:
    """Rows of bytes, padded with zeros at the end; whole numbers are padded in front by their sign."""

    matrix: NDArray[np.uint8]
    lengths: NDArray[np.int64]
    kind: str

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, chosen: Any) -> Octets:
        return Octets(self.matrix[chosen], self.lengths[chosen], self.kind)

    def placed(self, rows: NDArray[np.intp], total: int) -> Octets:
        """The rows among so many, the others empty."""
        matrix = np.zeros((total, self.matrix.shape[1]), np.uint8)
        lengths = np.zeros(total, np.int64)
        matrix[rows], lengths[rows] = self.matrix, self.lengths
        return Octets(matrix, lengths, self.kind)

    def left(self, width: int) -> NDArray[np.uint8]:
        """The first bytes of every row; the last ones of whole numbers."""
        have = self.matrix.shape[1]
        if self.kind != "whole":
            return self.matrix[:, :width] if have >= width else np.pad(self.matrix, ((0, 0), (0, width - have)))
        if have >= width:
            return self.matrix[:, have - width :]
        sign = np.where(self.matrix[:, :1] >> 7, 255, 0).astype(np.uint8)
        return np.concatenate([np.repeat(sign, width - have, axis=1), self.matrix], axis=1)

    def right(self, width: int) -> NDArray[np.uint8]:
        """The last bytes of every row, padded in front."""
        if self.kind == "whole":
            return self.left(width)
        kept = np.minimum(self.lengths, self.matrix.shape[1])
        places = np.arange(width) - width + kept[:, None]
        inside = np.take_along_axis(self.matrix, np.maximum(places, 0), axis=1) if self.matrix.shape[1] else self.left(width)
        return np.where(places >= 0, inside, 0).astype(np.uint8)

    @staticmethod
    def stacked(parts: Sequence[Octets]) -> Octets:
        """One column after the other."""
        width = max(part.matrix.shape[1] for part in parts)
        kind = next((part.kind for part in parts if part.lengths.any()), parts[0].kind)
        return Octets(np.concatenate([part.left(width) for part in parts]), np.concatenate([part.lengths for part in parts]), kind)


def of_bytes(values: Sequence[bytes], *, text: bool = False) -> Octets:
    """A column of byte strings."""
    lengths = np.array([len(value) for value in values], np.int64)
    half = WIDEST // 2
    kept = (
        [value if len(value) <= WIDEST else value[:half] + value[-half:] for value in values] if lengths.max() > WIDEST else values
    )
    width = max(1, min(int(lengths.max()), WIDEST))
    matrix = np.frombuffer(b"".join([value.ljust(width, b"\0") for value in kept]), np.uint8).reshape(len(values), width)
    return Octets(matrix, lengths, "text" if text else "bytes")


def of_wholes(values: Sequence[int]) -> Octets:
    """A column of whole numbers, the last byte being the lowest."""
    width = max(value.bit_length() for value in values) // 8 + 1
    data = b"".join([value.to_bytes(width, "big", signed=True)[-WIDEST:] for value in values])
    lengths = np.array([value.bit_length() for value in values], np.int64)
    return Octets(np.frombuffer(data, np.uint8).reshape(len(values), min(width, WIDEST)), lengths, "whole")


def words_of(column: NDArray[Any] | Octets) -> NDArray[np.uint64]:
    """The column as rows of 64-bit words."""
    if not isinstance(column, Octets):
        return number_bytes(column).view(">u8").astype(np.uint64)
    width = -(-column.matrix.shape[1] // 8) * 8
    return np.ascontiguousarray(column.left(width)).view(">u8").astype(np.uint64)


def number_bytes(column: NDArray[Any]) -> NDArray[np.uint8]:
    """The eight bytes of each number, the highest first."""
    wide = column.astype(np.float64) if column.dtype.kind == "f" else column
    wide = wide.astype(np.int64) if wide.dtype.kind not in "uf" else wide.astype(np.uint64) if wide.dtype.kind == "u" else wide
    return wide.astype(wide.dtype.newbyteorder(">")).view(np.uint8).reshape(len(column), 8)


def identities(column: NDArray[Any] | Octets) -> NDArray[np.uint64]:
    """One number per row, equal for equal rows; different rows share one by chance only."""
    if not isinstance(column, Octets):
        wide = column.astype(np.float64) if column.dtype.kind == "f" else column.astype(np.int64, copy=False)
        return wide.view(np.uint64)
    words, mixed = words_of(column), column.lengths.astype(np.uint64)
    ends = column.lengths // 64 if column.kind == "whole" else (column.lengths - 1) // 8
    for place, word in enumerate(words.T[::-1] if column.kind == "whole" else words.T):
        # What only pads the row to the width of its column does not count.
        mixed = np.where(place <= ends, _mix(mixed ^ word), mixed)
    return mixed


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = words * np.uint64(0xBF58476D1CE4E5B9)
    return words ^ (words >> np.uint64(27))
