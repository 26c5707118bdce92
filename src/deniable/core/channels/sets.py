"""Set systems: for each input x, which outputs S_x are favoured, all of them equally many.

A set system answers three questions: does y belong to S_x, what is the j-th element of S_x, and what
is the j-th element of the rest. That is all a two-level channel needs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from deniable.core.channels.base import Sums
from deniable.errors import InvalidParameter, NotSupported

if TYPE_CHECKING:
    from deniable.core.channels.padded import Padding


class SetSystem(ABC):
    """Subsets S_x of 0 … outputs-1, each with `members` elements."""

    if TYPE_CHECKING:  # a field or a property, as the set system likes

        @property
        def inputs(self) -> int:
            """How many sets there are."""

        @property
        def outputs(self) -> int:
            """How many numbers outputs have."""

        @property
        def members(self) -> int:
            """How many elements every set has."""

    @property
    def others(self) -> int:
        """How many possible outputs are not in S_x."""
        return self.outputs - self.members

    def possible(self, output: int) -> bool:
        """Does the output occur at all? (Some encodings leave numbers unused.)"""
        return True

    sums: ClassVar[Sums] = "outputs"
    """What a collector adds up, as for a channel."""
    unary: ClassVar[bool] = False
    """Is an output a string of bits, one for each value?"""

    @property
    def in_bytes(self) -> bool:
        """Are arrays of outputs rows of bytes?"""
        return self.unary

    @property
    def ones(self) -> int | None:
        """How many of its bits are 1 in every output, where that is part of the law."""
        return None

    @property
    def padded(self) -> Padding | None:
        """How the inputs are sets, filled up with dummies; None where they are single values."""
        return None

    def naming(self, held: int, named: int) -> tuple[int, int] | None:
        """How many outputs that name all of `named` places, `held` of them in the input's set, are favoured, and how many not."""
        return None

    @property
    def effort(self) -> int:
        """Roughly how much longer finding an element takes than in the simplest set."""
        return 1

    @property
    def hashed_into(self) -> int | None:
        """How many buckets values are hashed into, where outputs are seed * buckets + bucket."""
        return None

    @property
    def window(self) -> Windows | None:
        """The same sets as neighbouring cells, where they are."""
        return None

    def overlap(self) -> Fraction | None:
        """How many outputs two sets share, when any two share as many; for hashes, on average over their functions."""
        return None

    def triple_overlap(self) -> Fraction:
        """How many outputs three sets share, when none of them holds all that the other two share."""
        raise NotSupported("this set system has no constant overlap of three sets")

    @abstractmethod
    def contains(self, index: int, output: int) -> bool:
        """Is the output in S_index?"""

    @abstractmethod
    def inside(self, index: int, j: int) -> int:
        """The j-th element of S_index, 0 <= j < members."""

    @abstractmethod
    def outside(self, index: int, j: int) -> int:
        """The j-th element of the complement, 0 <= j < outputs - members."""

    @abstractmethod
    def compiled(self) -> dict[str, Any]:
        """Kind and integers."""


@dataclass(frozen=True)
class Singleton(SetSystem):
    """S_x = {x}: randomized response on k values."""

    size: int

    @property
    def inputs(self) -> int:
        return self.size

    @property
    def outputs(self) -> int:
        return self.size

    members = 1

    @property
    def window(self) -> Windows:
        return single_cells(self.size)

    def overlap(self) -> Fraction:
        return Fraction(0)

    def triple_overlap(self) -> Fraction:
        return Fraction(0)

    def contains(self, index: int, output: int) -> bool:
        """Only the true value is favoured."""
        return index == output

    def inside(self, index: int, j: int) -> int:
        return index

    def outside(self, index: int, j: int) -> int:
        """The others, starting after the true one and wrapping around."""
        return (index + 1 + j) % self.size

    def compiled(self) -> dict[str, Any]:
        return {"set": "singleton", "size": self.size}


@dataclass(frozen=True)
class Windows(SetSystem):
    """S_x = `members` neighbouring cells, beginning at `start(x)`.

    start(x) = offset + x, held between `first` and `last`; outputs wrap around, which only a circle uses.
    """

    inputs: int
    outputs: int
    members: int
    offset: int
    first: int
    last: int

    def __post_init__(self) -> None:
        if not 0 < self.members < self.outputs:
            raise InvalidParameter(f"a window must have at least 1 and fewer than {self.outputs} cells, got {self.members}")

    @property
    def window(self) -> Windows:
        return self

    def start(self, index: int) -> int:
        return min(max(self.offset + index, self.first), self.last) % self.outputs

    def contains(self, index: int, output: int) -> bool:
        """Is the cell within the window?"""
        return (output - self.start(index)) % self.outputs < self.members

    def inside(self, index: int, j: int) -> int:
        return (self.start(index) + j) % self.outputs

    def outside(self, index: int, j: int) -> int:
        """The j-th cell after the window, wrapping around."""
        return (self.start(index) + self.members + j) % self.outputs

    def compiled(self) -> dict[str, Any]:
        return {
            "set": "window",
            "inputs": self.inputs,
            "outputs": self.outputs,
            "members": self.members,
            "offset": self.offset,
            "first": self.first,
            "last": self.last,
        }


class Layers(NamedTuple):
    """Every output weighs `base`, and those in an input's window its height on top, for every window."""

    base: int
    windows: tuple[tuple[Windows, int], ...]

    def mass(self, index: int, start: int, stop: int) -> int:
        """The weight of outputs start … stop-1 for an input."""
        weight = self.base * (stop - start)
        for window, height in self.windows:
            begin = window.start(index)
            held = _shared(begin, begin + window.members, start, stop)
            held += _shared(begin - window.outputs, begin + window.members - window.outputs, start, stop)
            weight += height * held
        return weight


def _shared(begin: int, end: int, start: int, stop: int) -> int:
    """How many numbers two runs share."""
    return max(0, min(end, stop) - max(begin, start))


def single_cells(cells: int) -> Windows:
    """The window that holds the true cell alone."""
    return Windows(cells, cells, 1, 0, 0, cells - 1)


def slid_window(cells: int, members: int) -> Windows:
    """A window centred at the true cell, slid inward near the ends. `members` should be odd."""
    return Windows(cells, cells, members, -(members // 2), 0, cells - members)


def wrapped_window(cells: int, members: int) -> Windows:
    """A window centred at the true cell of a circle. `members` should be odd."""
    return Windows(cells, cells, members, -(members // 2), -cells, cells)


def linear_window(inputs: int, members: int, margin: int = 0) -> Windows:
    """A window that moves one cell per input over inputs - 1 + members + 2 * margin outputs."""
    return Windows(inputs, inputs - 1 + members + 2 * margin, members, margin, margin, margin + inputs - 1)
