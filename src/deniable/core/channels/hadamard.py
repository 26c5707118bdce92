"""Favoured are the outputs that pass a few parity checks: with one check, those where a Hadamard row is +1."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.core.channels.sets import SetSystem
from deniable.errors import InvalidParameter

POLYNOMIALS = (3, 7, 11, 19, 37, 67, 131, 283)
"""The least irreducible binary polynomial of degree 1, 2, … with a constant term, its bits as a number."""


@dataclass(frozen=True)
class Hadamard(SetSystem):
    """S_x = {y : r_x * y = 0}, the sum of products of digits in the field of 2**t elements; in (2**t)**m outputs.

    r_x is the x-th vector whose leading digit is 1, counted as numbers. With t = 1 it is the number x + 1 in binary, and
    r_x * y = 0 means that x + 1 and y share an even number of ones: half of all outputs. With t checks it is 1 in 2**t of
    them. Any two sets overlap in 1/2**t of each, and decoding is a fast Walsh–Hadamard transform.
    """

    size: int
    polynomial: int = POLYNOMIALS[0]
    """That the field's elements are multiplied by: bits from the constant to the leading one."""

    def __post_init__(self) -> None:
        if self.size < 1:
            raise InvalidParameter("size must be at least 1")
        if self.polynomial not in POLYNOMIALS:
            raise InvalidParameter(f"polynomial must be one of {', '.join(map(str, POLYNOMIALS))}: others are not irreducible")

    @cached_property
    def checks(self) -> int:
        """t: the number of bits of a digit."""
        return self.polynomial.bit_length() - 1

    @cached_property
    def digits(self) -> int:
        """m: how many digits an output has, so that there are enough vectors with a leading 1."""
        digits, vectors = 0, 0
        while vectors < self.size:
            vectors += 1 << (self.checks * digits)
            digits += 1
        return digits

    @property
    def inputs(self) -> int:
        return self.size

    @property
    def outputs(self) -> int:
        return 1 << (self.checks * self.digits)

    @property
    def members(self) -> int:
        """How many outputs a value favours: one in 2**t."""
        return 1 << (self.checks * (self.digits - 1))

    def row(self, index: int) -> tuple[int, int]:
        """r_x as a number, and the place of its leading digit."""
        place, before = 0, 0
        while index - before >= 1 << (self.checks * place):
            before += 1 << (self.checks * place)
            place += 1
        return (1 << (self.checks * place)) + index - before, place

    def times(self, one: int, other: int) -> int:
        """The product of two elements of the field."""
        product = 0
        for _ in range(self.checks):
            if other & 1:
                product ^= one
            other >>= 1
            one <<= 1
            if one >> self.checks:
                one ^= self.polynomial
        return product

    def checked(self, row: int, output: int) -> int:
        """row * output: 0 when all checks are passed."""
        digit, total = (1 << self.checks) - 1, 0
        while row:
            total ^= self.times(row & digit, output & digit)
            row >>= self.checks
            output >>= self.checks
        return total

    def overlap(self) -> Fraction:
        return Fraction(self.members, 1 << self.checks)

    def triple_overlap(self) -> Fraction:
        return Fraction(self.members, 1 << (2 * self.checks))

    def contains(self, index: int, output: int) -> bool:
        """Are all checks passed?"""
        return self.checked(self.row(index)[0], output) == 0

    def inside(self, index: int, j: int) -> int:
        """The j-th output that passes."""
        return self._with(index, j, 0)

    def outside(self, index: int, j: int) -> int:
        """The j-th output that does not, by what its checks give."""
        return self._with(index, j % self.members, 1 + j // self.members)

    def _with(self, index: int, j: int, value: int) -> int:
        """All digits free but the one where the row has its leading 1, which makes the checks give the value."""
        row, place = self.row(index)
        pivot = self.checks * place
        below = (1 << pivot) - 1
        output = (j & below) | ((j & ~below) << self.checks)
        return output | ((self.checked(row & below, output & below) ^ value) << pivot)

    def compiled(self) -> dict[str, Any]:
        """The number of values, and the field."""
        return {"set": "hadamard", "size": self.size, "polynomial": self.polynomial}
