"""The square wave, squeezed into the domain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from deniable.core.mechanisms.numeric.sw import SquareWave
from deniable.core.mechanisms.reading import Affine, middles


@dataclass(frozen=True, kw_only=True, repr=False)
class CompressedSquareWave(SquareWave):
    """The square wave with its outputs squeezed linearly onto the domain.

    Law: the square wave's own; only the reading differs, so the reports are as private.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Cost: one draw, 21 bits on the wire.
    Source: dissertation, section 5.6 (SW-C).

    >>> 0 < CompressedSquareWave(epsilon=1).decode(0) < 1e-6
    True
    """

    name: ClassVar[str] = "sw-c"
    source: ClassVar[str] = "Zheng, Mishra, Hu 2025; dissertation, Section 5.6; SW is Li et al. 2020"
    tasks: ClassVar[tuple[str, ...]] = ("mean", "distribution")

    @cached_property
    def reading(self) -> Affine:
        """All outputs as equal cells of the domain."""
        return middles(self.channel.outputs)
