"""The piecewise mechanism, read within the domain."""

from __future__ import annotations

from functools import cached_property

from deniable.frozen import TYPE_CHECKING, dataclass, replace
from deniable.mechanisms.numeric.pm import PM
from deniable.mechanisms.numeric.unbiased_window import unbiased_reading
from deniable.mechanisms.reading import Affine

if TYPE_CHECKING:
    from typing import ClassVar


@dataclass(frozen=True, kw_only=True, repr=False)
class TruncatedPM(PM):
    """PM with reports beyond an end of the domain read as that end: a better single guess, a biased mean.

    Law: PM's own; only the reading differs, so the reports are as private.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Cost: two draws, 21 bits on the wire.
    Source: dissertation, section 5.6 (T-PM).

    >>> TruncatedPM(epsilon=1).decode(0)
    0.0
    """

    name: ClassVar[str] = "t-pm"
    source: ClassVar[str] = "dissertation, section 5.6; PM is Wang et al. 2019"
    unbiased: ClassVar[bool] = False

    @cached_property
    def reading(self) -> Affine:
        """PM's line, clipped to the domain."""
        return replace(unbiased_reading(self.window), clip=True)
