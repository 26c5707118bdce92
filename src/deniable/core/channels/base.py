"""The contract of every channel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from deniable.core.exact.numbers import show_fraction
from deniable.core.randomness.coins import Coins
from deniable.errors import InvalidParameter, NotSupported

if TYPE_CHECKING:
    from deniable.core.channels.padded import Padding
    from deniable.core.channels.profile import Profile
    from deniable.core.channels.sets import Layers, SetSystem
    from deniable.core.channels.two_level import TwoLevel

Sums = Literal["outputs", "bits", "values", "parts", "picked", "vector", "searched"]
"""What a collector adds up: the reports of every output, or bit, or that support a value; a sum for each part, of everyone or of
those whose part was picked; what reports read as vectors add up to; or nothing, because reports are searched."""
MOST_ENUMERATED = 1 << 17
"""So many weights are added up one by one, no more."""


class Alternative(NamedTuple):
    """A channel that a public coin may choose: where its outputs begin, its share of all, and the channel."""

    start: int
    share: Fraction
    channel: Channel


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

    def ratio_bound(self) -> Fraction | None:
        """What no ratio exceeds, also after any reports before this one; None when there is no bound."""
        return self.max_ratio()

    @abstractmethod
    def compiled(self) -> dict[str, Any]:
        """Kind and integers: everything a sampler or a verifier in any language needs."""

    def row(self, index: int) -> Iterator[int]:
        """All weights of one input, in the order of outputs."""
        return (self.weight(index, output) for output in range(self.outputs))

    def mass(self, index: int, start: int, stop: int) -> int:
        """The weight of outputs start … stop-1 for an input; one by one where the channel knows no better."""
        layers = self.layers()
        if layers is not None:
            return layers.mass(index, start, stop)
        if stop - start > MOST_ENUMERATED:
            raise NotSupported(f"{type(self).__name__} has too many outputs to add up one by one")
        return sum(self.weight(index, output) for output in range(start, stop))

    def layers(self) -> Layers | None:
        """The rows as windows that move with the input, one above another; None where they have no such form."""
        return None

    @property
    def wraps(self) -> bool:
        """Do rows of neighbouring inputs differ by one step around a circle of outputs?"""
        return False

    @property
    def two_level(self) -> TwoLevel | None:
        """The channel itself, where outputs have two levels."""
        return None

    @property
    def set_system(self) -> SetSystem | None:
        """The favoured outputs of every input, where outputs have two levels."""
        return None if self.two_level is None else self.two_level.sets

    @property
    def added_noise(self) -> Profile | None:
        """The channel itself, where it adds one and the same noise to every input of a line."""
        return None

    @property
    def between(self) -> tuple[Channel, int] | None:
        """The channel whose neighbouring rows this one mixes, and in how many steps; None when its rows are its own."""
        return None

    @property
    def alternatives(self) -> Sequence[Alternative]:
        """The channels that a public coin chooses between; none where there is no such coin."""
        return ()

    def split_input(self, index: int) -> Sequence[int]:
        """The inputs of the parts that one input stands for."""
        return (index,)

    def split_output(self, output: int) -> Sequence[int]:
        """The outputs of the parts that one output stands for."""
        return (output,)

    def after(self, output: int) -> Channel:
        """The channel of the next report; another one only where a report is seen from the report before it."""
        return self

    @property
    def chained(self) -> bool:
        """Is a report seen from the report before it?"""
        return False

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
        """Is an output a string of bits, one for each value or for each part of one? Arrays of such outputs are rows of bytes."""
        return False

    @property
    def in_bytes(self) -> bool:
        """Are arrays of outputs rows of bytes, the lowest first, whatever the bytes stand for?"""
        return self.unary

    @property
    def ones(self) -> int | None:
        """How many of its bits are 1 in every output, where that is part of the law."""
        return None

    @property
    def free_bits(self) -> bool:
        """May an output be any string of bits?"""
        return self.unary and self.ones is None

    @property
    def exclusive(self) -> bool:
        """Do bits come in pairs, 0 and 1, 2 and 3, …, of which at most one is 1?"""
        return False

    @property
    def padded(self) -> Padding | None:
        """How its inputs are sets, filled up with dummies; None where they are single values."""
        return None

    def naming(self, held: int, named: int) -> Fraction | None:
        """How likely a report names all of `named` places, `held` of which are in the padded set; None where inputs are no sets."""
        return None

    def signs(self) -> tuple[Fraction, Fraction, Fraction] | None:
        """How likely a key is shown with its own sign, with the opposite one, and with either when it is another key; else None."""
        return None

    @property
    def buckets(self) -> int | None:
        """How many buckets the hash of a report has, where reports are hashes; outputs are then seed * buckets + bucket."""
        return None

    @property
    def occurring(self) -> int:
        """How many outputs occur at all."""
        return self.outputs

    def support(self) -> tuple[Fraction, Fraction] | None:
        """How likely a report supports its own value and any other one; None where values have no such set of outputs."""
        return None

    def joint_support(self) -> tuple[Fraction, Fraction]:
        """How likely a report supports two values together: its own and another one, and two others in general."""
        raise NotSupported(f"reports of {type(self).__name__} do not support values")

    def supports(self, index: int, output: int) -> bool:
        """Does the output support the input?"""
        raise NotSupported(f"reports of {type(self).__name__} do not support values")

    @property
    def draws(self) -> int:
        """How many random numbers a device draws for one report."""
        return 1

    @property
    def effort(self) -> int:
        """Roughly how much longer a draw takes than the simplest one."""
        return self.draws

    @property
    def counters(self) -> int:
        """How many counters of a collector one report may touch: bits and hashes are looked at for every value."""
        if self.sums == "bits":
            return (self.outputs - 1).bit_length()
        return self.inputs if self.sums == "values" else 1

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
