"""Half of all outputs are favoured: those where a Hadamard row is +1."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.core.channels.sets import SetSystem


@dataclass(frozen=True)
class Hadamard(SetSystem):
    """S_x = {y : the number of common binary ones of x + 1 and y is even}, in 2**m > size outputs.

    Any two sets overlap in exactly half of each, which makes decoding a fast Walsh–Hadamard transform.
    """

    size: int

    @cached_property
    def order(self) -> int:
        """m: the number of bits of an output."""
        return self.size.bit_length()

    @property
    def inputs(self) -> int:
        """k."""
        return self.size

    @property
    def outputs(self) -> int:
        """2**m."""
        return 1 << self.order

    @property
    def members(self) -> int:
        """Half of them."""
        return 1 << (self.order - 1)

    def overlap(self) -> Fraction:
        return Fraction(self.members, 2)

    def triple_overlap(self) -> Fraction:
        return Fraction(self.members, 4)

    def contains(self, index: int, output: int) -> bool:
        """Even parity."""
        return ((index + 1) & output).bit_count() % 2 == 0

    def inside(self, index: int, j: int) -> int:
        """The j-th output of even parity."""
        return self._with_parity(index + 1, j, 0)

    def outside(self, index: int, j: int) -> int:
        """The j-th output of odd parity."""
        return self._with_parity(index + 1, j, 1)

    @staticmethod
    def _with_parity(row: int, j: int, parity: int) -> int:
        """All bits free but the one at the row's lowest 1, which sets the parity."""
        pivot = row & -row
        output = (j & (pivot - 1)) | ((j & -pivot) << 1)
        return output | pivot * (((row & output).bit_count() & 1) ^ parity)

    def compiled(self) -> dict[str, Any]:
        """The number of values."""
        return {"set": "hadamard", "size": self.size}
