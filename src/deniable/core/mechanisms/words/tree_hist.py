"""TreeHist: every group's prefix as one sign of a Count-Sketch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.sketch_signs import SketchSigns
from deniable.core.domains.words import Whole
from deniable.core.mechanisms.words._prefixes import PrefixMechanism, whole_parameter


@dataclass(frozen=True, kw_only=True, repr=False)
class TreeHist(PrefixMechanism):
    """Send one sign: that of the prefix's cell in a random row and Hadamard coordinate of a Count-Sketch.

    Law: group, row and coordinate do not depend on the word; the true sign weighs `high`, the other `low`.
    Guarantee: epsilon-LDP, exactly ln(high/low); the sign keeps c = tanh(epsilon/2) of its mean.
    Variance of a share in a group of m users: about 1/(m c**2), whatever the share is.
    Cost: one draw, one bit beyond what is public. The collector keeps sums only, as many as the sketch has cells.
    `salt` is public and chooses the hash functions of the sketch; it has no part in the privacy.
    Source: Bassily, Nissim, Stemmer and Thakurta, "Practical locally private heavy hitters", 2017.

    >>> mechanism = TreeHist(epsilon=4)      # texts of up to 6 bytes
    >>> mechanism.levels, mechanism.channel.outputs, mechanism.certificate().holds
    ((12, 24, 36, 48), 655360, True)
    """

    step_bits: int = 12
    row_bits: int = 3
    width_bits: int = 13
    salt: int = 0

    name: ClassVar[str] = "tree-hist"
    source: ClassVar[str] = "Bassily, Nissim, Stemmer, Thakurta 2017"
    tasks: ClassVar[tuple[str, ...]] = ("heavy-hitters",)

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_parameter("row_bits", self.row_bits, 0, 6)
        whole_parameter("width_bits", self.width_bits, 1, 24)
        whole_parameter("salt", self.salt, 0, (1 << 32) - 1)

    def sets(self, kept: int) -> SketchSigns:
        """(row, coordinate, bit) triples."""
        return SketchSigns(self.domain.bits, kept, self.row_bits, self.width_bits, self.salt)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Tiny sketches, of short words and of long ones."""
        yield cls(domain=Whole(6), epsilon=1, step_bits=3, row_bits=1, width_bits=2)
        yield cls(domain=Whole(48), epsilon=4, width_bits=5)
