"""One sign of a Count-Sketch in Hadamard coordinates: a public row, a public coordinate, one favoured bit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from deniable.core.channels.hashing import SEEDS, mix
from deniable.core.channels.sets import SetSystem
from deniable.core.channels.wide_hashing import check_prefix, wide_mix
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class SketchSigns(SetSystem):
    """Outputs are (row, coordinate, bit) = ((row << width_bits) + coordinate) * 2 + bit.

    In every row the prefix of a word has a cell of 2**width_bits and a sign, both public hashes. S_x holds,
    for every row and coordinate, the bit of sign * Hadamard[coordinate, cell] (0 for +1). Half of all
    outputs are favoured, and row and coordinate are uniform whatever the word is.
    """

    bits: int
    kept: int
    row_bits: int
    width_bits: int
    salt: int

    def __post_init__(self) -> None:
        check_prefix(self.bits, self.kept)
        if not (0 <= self.row_bits <= 6 and 1 <= self.width_bits <= 24):
            raise InvalidParameter("a sketch has 2**0 to 2**6 rows and 2**1 to 2**24 cells in each")
        if not 0 <= self.salt < SEEDS:
            raise InvalidParameter("salt must be a whole number from 0 to 2**32 - 1")

    @property
    def inputs(self) -> int:
        return 1 << self.bits

    @property
    def members(self) -> int:
        """One bit for every row and coordinate."""
        return 1 << (self.row_bits + self.width_bits)

    @property
    def outputs(self) -> int:
        """Both bits for every row and coordinate."""
        return 2 * self.members

    @cached_property
    def keys(self) -> tuple[int, ...]:
        """The public hash key of every row: another one for every salt and every length of prefix."""
        start = mix(mix(self.salt, self.kept), 0x5EED)
        return tuple(mix(start, row) for row in range(1 << self.row_bits))

    def place(self, row: int, prefix: int) -> tuple[int, int]:
        """The cell of a prefix in a row, and 1 when its sign is negative."""
        hashed = wide_mix(self.keys[row], prefix)
        return hashed >> (32 - self.width_bits), hashed & 1

    def bit(self, index: int, at: int) -> int:
        """The favoured bit of a word at a row and coordinate."""
        row, coordinate = divmod(at, 1 << self.width_bits)
        cell, negative = self.place(row, index >> (self.bits - self.kept))
        return ((coordinate & cell).bit_count() & 1) ^ negative

    def contains(self, index: int, output: int) -> bool:
        return self.bit(index, output >> 1) == output & 1

    def inside(self, index: int, j: int) -> int:
        """The favoured bit at row and coordinate j."""
        return 2 * j + self.bit(index, j)

    def outside(self, index: int, j: int) -> int:
        return 2 * j + 1 - self.bit(index, j)

    def compiled(self) -> dict[str, Any]:
        """Five integers; the hash function is fixed by the format."""
        return {
            "set": "sketch-signs",
            "bits": self.bits,
            "kept": self.kept,
            "row_bits": self.row_bits,
            "width_bits": self.width_bits,
            "salt": self.salt,
        }
