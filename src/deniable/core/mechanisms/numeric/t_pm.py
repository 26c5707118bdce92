"""The piecewise mechanism, read within the domain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from deniable.core.mechanisms.numeric._unbiased_window import unbiased_reading
from deniable.core.mechanisms.numeric.pm import PiecewiseMechanism
from deniable.core.mechanisms.reading import Affine


@dataclass(frozen=True, kw_only=True, repr=False)
class TruncatedPiecewiseMechanism(PiecewiseMechanism):
    """PM with reports beyond an end of the domain read as that end: a better single guess, a biased mean.

    Law: PM's own; only the reading differs, so the reports are as private.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Cost: two draws, 21 bits on the wire.
    Source: dissertation, section 5.6 (T-PM).

    >>> TruncatedPiecewiseMechanism(epsilon=1).decode(0)
    0.0
    """

    name: ClassVar[str] = "t-pm"
    source: ClassVar[str] = "Zheng, Mishra, Hu 2025; dissertation, Section 5.6; PM is Wang et al. 2019"
    tasks: ClassVar[tuple[str, ...]] = ("mean",)
    unbiased: ClassVar[bool] = False

    @cached_property
    def reading(self) -> Affine:
        """PM's line, clipped to the domain."""
        return replace(unbiased_reading(self.window), clip=True)
