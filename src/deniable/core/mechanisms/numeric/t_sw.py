"""The square wave, read within the domain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from deniable.core.mechanisms.numeric.sw import SquareWave
from deniable.core.mechanisms.reading import Affine


@dataclass(frozen=True, kw_only=True, repr=False)
class TruncatedSquareWave(SquareWave):
    """The square wave with reports beyond an end of the domain read as that end.

    Law: the square wave's own; only the reading differs, so the reports are as private.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Cost: one draw, 21 bits on the wire.
    Source: dissertation, section 5.6 (T-SW).

    >>> TruncatedSquareWave(epsilon=1).decode(0)
    0.0
    """

    name: ClassVar[str] = "t-sw"
    source: ClassVar[str] = "Zheng, Mishra, Hu 2025; dissertation, Section 5.6; SW is Li et al. 2020"
    tasks: ClassVar[tuple[str, ...]] = ("mean",)

    @cached_property
    def reading(self) -> Affine:
        """The square wave's line, clipped to the domain."""
        return replace(self.line, clip=True)
