"""The piecewise mechanism with the window that suits more budgets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from deniable.core.mechanisms.numeric.pm import PiecewiseMechanism


@dataclass(frozen=True, kw_only=True, repr=False)
class SuboptimalPiecewiseMechanism(PiecewiseMechanism):
    """PM with a window 1/e**(epsilon/3) as long as its path: less variance than PM at the ends of the domain.

    Law: as PM, with K = cells/e**(epsilon/3).
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Worst variance on [0, 1]: 0.2761 against PM's 0.3069 at epsilon = 2, 0.0416 against 0.0603 at 4.
    Cost: two draws, 21 bits on the wire.
    Source: Zhao et al., "Local differential privacy-based federated learning for IoT", 2021.

    >>> SuboptimalPiecewiseMechanism(epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "pm-sub"
    source: ClassVar[str] = "Zhao et al. 2021"
    tasks: ClassVar[tuple[str, ...]] = ("mean", "distribution", "field")

    @property
    def path(self) -> float:
        """How many window lengths the window moves from one end of the domain to the other."""
        return math.exp(float(self.privacy) / 3)
