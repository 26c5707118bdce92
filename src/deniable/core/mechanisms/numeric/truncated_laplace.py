"""Laplace noise, clipped to the domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from deniable.core.mechanisms.numeric.laplace import Laplace


@dataclass(frozen=True, kw_only=True, repr=False)
class TruncatedLaplace(Laplace):
    """Laplace noise whose reports beyond an end of the domain become that end.

    Law: distance d from the true point weighs e**(-epsilon d/points); the ends also take what lies beyond.
    Guarantee: epsilon-LDP, exactly the largest ratio of weights one domain width apart.
    Cost: one draw, 11 bits on the wire.
    Source: dissertation, section 5.6 (T-Laplace).

    >>> TruncatedLaplace(epsilon=1, points=16).certificate().holds
    True
    """

    name: ClassVar[str] = "truncated-laplace"
    source: ClassVar[str] = "Laplace noise with clipping; Dwork, McSherry, Nissim, Smith 2006"
    tasks: ClassVar[tuple[str, ...]] = ("distribution",)
    slow: ClassVar[bool] = True

    @property
    def widths(self) -> int:
        """Nothing outside the domain."""
        return 0
