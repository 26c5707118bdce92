"""What an audit says: violated, no violation found, or no verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deniable._results import Result
from deniable.privacy.auditing.fields import ROOT, Table
from deniable.privacy.auditing.octets import identities

UNSEEN = 0.05
"""Reports repeat when at most this share of them is new after half of the run."""
NOT_FIELDS = ("the text", "the headers")


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """What the draws prove. `violated` is None when they say nothing; `reason` tells why."""

    epsilon: float
    delta: float
    confidence: float
    samples: int
    violated: bool | None = None
    epsilon_lower: float = -math.inf
    delta_lower: float = 0.0
    pair: tuple[Any, Any] | None = None
    event: str = ""
    hits: tuple[int, int] = (0, 0)
    trials: tuple[int, int] = (0, 0)
    visible: float = math.inf
    reason: str = ""
    blind: tuple[str, ...] = ()
    failures: dict[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The finding in a sentence."""
        if self.violated is None:
            return f"no verdict: {self.reason}"
        sure = f"with confidence {self.confidence:g}"
        if self.violated:
            shown = [f"epsilon is at least {self.epsilon_lower:.4f}"] if self.epsilon_lower > self.epsilon else []
            if self.delta_lower > self.delta:
                shown.append(f"delta is at least {self.delta_lower:.3g} beside epsilon {self.epsilon:g}")
            return f"VIOLATED: {' and '.join(shown)}, {sure}; claimed was {self._claim}"
        return f"no violation found: epsilon is at least {max(self.epsilon_lower, 0.0):.4f} ({sure}); claimed was {self._claim}"

    def __repr__(self) -> str:
        return f"<Audit {self.words}; {self.samples:,} samples>"

    def _rows(self) -> list[dict[str, Any]]:
        return [{"what": what, "value": str(value)} for what, value in self.to_dict().items() if what not in ("words", "power")]

    def _caption(self) -> str:
        return self.words

    @property
    def _claim(self) -> str:
        return f"epsilon {self.epsilon:g}" + (f" with delta {self.delta:g}" if self.delta else "")

    @property
    def power(self) -> str:
        """What the tested event would have shown. Nothing is said about other events."""
        if self.violated is None:
            return "nothing can be said about what would have been seen"
        if not math.isfinite(self.visible):
            return f"with {self.samples:,} samples, this event would not have shown any violation with probability .99"
        percent = 100 * self.visible / self.epsilon
        share = f"{percent:.0f}" if percent >= 10 else f"{percent:.2g}"
        return (
            f"with {self.samples:,} samples, this event would show a violation of {share} % "
            f"(epsilon {self.epsilon + self.visible:.4g} instead of {self.epsilon:g}) with probability at least .99"
        )

    @property
    def limits(self) -> list[str]:
        """Where the search cannot see to the bottom, a sentence for it."""
        if self.violated or not self.blind:
            return []
        shown = ", ".join(self.blind[:4]) + (f" and {len(self.blind) - 4} more" if len(self.blind) > 4 else "")
        return [f"never the same twice: {shown}; what is encrypted there cannot be found by draws"]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values, the verdict in words included."""
        return {
            "verdict": {True: "violated", False: "no violation found", None: "no verdict"}[self.violated],
            "violated": self.violated,
            "reason": self.reason,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "epsilon_lower": self.epsilon_lower,
            "delta_lower": max(self.delta_lower, 0.0),
            "confidence": self.confidence,
            "pair": None if self.pair is None else list(self.pair),
            "event": self.event,
            "hits": list(self.hits),
            "trials": list(self.trials),
            "samples": self.samples,
            "visible_violation": self.visible,
            "never_repeating": list(self.blind),
            "failures": self.failures,
            "warnings": list(self.warnings),
            "words": self.words,
            "power": self.power,
        }


def never_repeating(reports: Table) -> list[str]:
    """The fields that hardly ever repeat; the report as a whole, where only its fields together do."""
    fields = [name for name, column in reports.columns.items() if name not in NOT_FIELDS and unseen(identities(column)) > UNSEEN]
    if fields:
        return ["the report" if name == ROOT else name for name in fields]
    return ["the report as a whole"] if unseen(reports.whole()) > UNSEEN else []


def unseen(values: np.ndarray[Any, Any]) -> float:
    """The share of values in the second half of a run that were not in the first: clocks never go back, so their share is 1."""
    half = len(values) // 2
    return float(1 - np.isin(values[half:], values[:half]).mean()) if half else 0.0
