"""The contract of every channel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from deniable.core.exact.numbers import show_fraction
from deniable.core.randomness.coins import Coins
from deniable.errors import InvalidParameter

Sums = Literal["outputs", "bits", "values", "parts", "picked", "searched"]
"""What a collector adds up: the reports of every output, or bit, or that support a value; a sum for each part, of everyone or of
those whose part was picked; or nothing, because reports are searched."""


class Channel(ABC):
    """A randomised map from 0 … inputs-1 to 0 … outputs-1.

    Input x gives output y with probability exactly `weight(x, y) / total`. The weights are the law:
    the sampler, the certificate, the error formulas and the browser read the same integers. `total`
    is the same for every input, so how long a draw takes says nothing about the input.
    """

    if TYPE_CHECKING:  # a field or a property, as the channel likes

        @property
        def inputs(self) -> int:
            """How many inputs there are."""

        @property
        def outputs(self) -> int:
            """How many numbers outputs have."""

        @property
        def total(self) -> int:
            """The sum of every row."""

    @abstractmethod
    def draw(self, index: int, coins: Coins) -> int:
        """One output for this input; `coins.below(n)` is the only randomness."""

    @abstractmethod
    def weight(self, index: int, output: int) -> int:
        """The integer weight of an output for an input."""

    @abstractmethod
    def max_ratio(self) -> Fraction | None:
        """The largest weight(x, y) / weight(x', y) over all x, x', y; None when it is unbounded."""

    @abstractmethod
    def compiled(self) -> dict[str, Any]:
        """Kind and integers: everything a sampler or a verifier in any language needs."""

    def row(self, index: int) -> Iterator[int]:
        """All weights of one input, in the order of outputs."""
        return (self.weight(index, output) for output in range(self.outputs))

    def possible(self, output: int) -> bool:
        """Does any input give this output? Some encodings leave numbers unused."""
        return True

    @property
    def sums(self) -> Sums:
        """What a collector adds up."""
        return "outputs"

    @property
    def side_by_side(self) -> Sequence[Channel]:
        """The parts that report side by side; arrays of outputs are then tuples, one column for each. Else none."""
        return ()

    @property
    def unary(self) -> bool:
        """Is an output a string of bits, one for each value? Arrays of such outputs are rows of bytes."""
        return False

    @property
    def ones(self) -> int | None:
        """How many of its bits are 1 in every output, where that is part of the law."""
        return None

    def support(self) -> tuple[Fraction, Fraction] | None:
        """How likely a report supports its own value and any other one; None where values have no such set of outputs."""
        return None

    @property
    def draws(self) -> int:
        """How many random numbers a device draws for one report."""
        return 1

    @property
    def counters(self) -> int:
        """How many counters of a collector one report may touch: bits and hashes are looked at for every value."""
        return self.inputs if self.sums in ("bits", "values") else 1

    def check(self, index: int, output: int | None = None) -> None:
        """Refuse indices that are not the channel's own. Only ever sees public or encoded numbers."""
        if not 0 <= index < self.inputs:
            raise InvalidParameter(f"the channel has inputs 0 to {show_fraction(Fraction(self.inputs - 1))}")
        if output is not None and not 0 <= output < self.outputs:
            raise InvalidParameter(f"the channel has outputs 0 to {show_fraction(Fraction(self.outputs - 1))}")


def column_ratio(channel: Channel) -> Fraction | None:
    """max_ratio by looking at every weight: for small channels and for checking the faster ways."""
    worst = Fraction(1)
    for output in range(channel.outputs):
        column = [channel.weight(index, output) for index in range(channel.inputs)]
        if max(column) > 0:
            if min(column) == 0:
                return None
            worst = max(worst, Fraction(max(column), min(column)))
    return worst
