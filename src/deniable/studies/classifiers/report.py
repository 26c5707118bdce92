"""What was found out: one row per mechanism and epsilon, ready for a table, a chart, JSON or a sentence."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Row:
    """ρ of one mechanism at one epsilon.

    `lower` never exceeds ρ: proved when `proved` says so, else with the report's confidence. `value` is ρ itself
    when `kind` is "exact", ρ of reports moved to places when it is "counted", the middle of two certified ends when
    it is "certified", else an estimate. Over several records all of them are averages, and `worst` holds the least
    ρ with its interval. `proved_lower` is a bound from a proved box around the record, where one was found.
    """

    mechanism: str
    epsilon: float
    epsilon_total: float
    delta: float
    lower: float
    value: float
    kind: str
    low: float
    high: float
    method: str
    evaluations: int
    proved: bool = False
    proved_lower: float | None = None
    empirical: float | None = None
    empirical_low: float | None = None
    empirical_high: float | None = None
    worst: float | None = None
    worst_low: float | None = None
    worst_high: float | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends."""
        return self.low, self.high

    def to_dict(self) -> dict[str, Any]:
        """For JSON; what was not asked for is left out."""
        written = {key: value for key, value in asdict(self).items() if value is not None}
        written["interval"] = [written.pop("low"), written.pop("high")]
        written["exact" if self.kind == "exact" else "estimate"] = written.pop("value")
        for name in ("empirical", "worst"):
            if f"{name}_low" in written:
                written[f"{name}_interval"] = [written.pop(f"{name}_low"), written.pop(f"{name}_high")]
        return written


@dataclass(frozen=True)
class Report:
    """A curve per mechanism, and everything a reader must know about it."""

    rows: tuple[Row, ...]
    records: int
    features: tuple[str, ...]
    confidence: float
    simultaneous: bool
    target: str
    notes: tuple[str, ...] = field(default=())

    def mechanisms(self) -> list[str]:
        """Names in the order they were asked for."""
        return list(dict.fromkeys(row.mechanism for row in self.rows))

    def curve(self, mechanism: str) -> list[Row]:
        """The rows of one mechanism, by rising epsilon."""
        return sorted((row for row in self.rows if row.mechanism == mechanism), key=lambda row: row.epsilon)

    def at(self, mechanism: str, epsilon: float) -> Row:
        """One row."""
        return next(row for row in self.rows if row.mechanism == mechanism and abs(row.epsilon - epsilon) < 1e-12)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "records": self.records,
            "sensitive": list(self.features),
            "confidence": self.confidence,
            "simultaneous": self.simultaneous,
            "target": self.target,
            "rows": [row.to_dict() for row in self.rows],
            "notes": list(self.notes),
        }
