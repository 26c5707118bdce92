"""Points and hyperplanes of a finite projective space (Feldman, Nelson, Nguyen and Talwar, 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.core.channels.sets import SetSystem
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class Projective(SetSystem):
    """S_x = the points of the hyperplane of x, in PG(dimension - 1, prime).

    A point is a vector of `dimension` digits below `prime` whose first nonzero digit is 1; points are
    numbered by the place of that 1, last place first, then by the digits after it. x stands for the
    hyperplane of all y with <x, y> = 0.
    """

    size: int
    prime: int
    dimension: int

    def __post_init__(self) -> None:
        if self.dimension < 2 or not is_prime(self.prime):
            raise InvalidParameter("a projective space needs a prime field and at least two dimensions")
        if self.size > self.outputs:
            raise InvalidParameter(f"the projective space has only {self.outputs} points for {self.size} values")

    @cached_property
    def outputs(self) -> int:
        return int((self.prime**self.dimension - 1) // (self.prime - 1))

    @property
    def inputs(self) -> int:
        return self.size

    @cached_property
    def members(self) -> int:
        """(q**(t-1) - 1) / (q - 1) points on every hyperplane."""
        return int((self.prime ** (self.dimension - 1) - 1) // (self.prime - 1))

    def vector(self, number: int, dimension: int | None = None) -> list[int]:
        """The digits of a point."""
        dimension = self.dimension if dimension is None else dimension
        after, block = 0, 1  # digits after the leading 1, and how many points have that many
        while number >= block:
            number -= block
            block *= self.prime
            after += 1
        digits = [0] * dimension
        digits[dimension - 1 - after] = 1
        for place in range(dimension - 1, dimension - 1 - after, -1):
            number, digits[place] = divmod(number, self.prime)
        return digits

    def number(self, vector: list[int]) -> int:
        """The number of a point given by any nonzero vector on its line."""
        lead = next(place for place, digit in enumerate(vector) if digit)
        scale = pow(vector[lead], -1, self.prime)
        number = 0
        for digit in vector[lead + 1 :]:
            number = number * self.prime + digit * scale % self.prime
        after = len(vector) - 1 - lead
        return number + int((self.prime**after - 1) // (self.prime - 1))

    def overlap(self) -> Fraction:
        return Fraction(self.prime ** (self.dimension - 2) - 1, self.prime - 1)

    def triple_overlap(self) -> Fraction:
        return Fraction(self.prime ** (self.dimension - 3) - 1, self.prime - 1) if self.dimension >= 3 else Fraction(0)

    def contains(self, index: int, output: int) -> bool:
        """Is the point on the hyperplane?"""
        return sum(a * b for a, b in zip(self.vector(index), self.vector(output), strict=True)) % self.prime == 0

    def inside(self, index: int, j: int) -> int:
        """The j-th point of the hyperplane: all digits but one are a point of the smaller space."""
        return self._solve(index, self.vector(j, self.dimension - 1), 0)

    def outside(self, index: int, j: int) -> int:
        """The j-th point off the hyperplane: all digits but one are free, <x, y> = 1."""
        free = []
        for _ in range(self.dimension - 1):
            j, digit = divmod(j, self.prime)
            free.append(digit)
        return self._solve(index, free, 1)

    def _solve(self, index: int, free: list[int], product: int) -> int:
        """The point with these digits, and the one at x's last nonzero place solving <x, y> = product."""
        x = self.vector(index)
        pivot = max(place for place, digit in enumerate(x) if digit)
        y = [*free[:pivot], 0, *free[pivot:]]
        sum_so_far = sum(a * b for a, b in zip(x, y, strict=True))
        y[pivot] = (product - sum_so_far) * pow(x[pivot], -1, self.prime) % self.prime
        return self.number(y)

    def compiled(self) -> dict[str, Any]:
        return {"set": "projective", "size": self.size, "prime": self.prime, "dimension": self.dimension}


def is_prime(n: int) -> bool:
    """By trial division: the fields used here are small."""
    return n >= 2 and all(n % d for d in range(2, int(n**0.5) + 1))
