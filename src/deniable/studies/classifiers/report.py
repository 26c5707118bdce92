"""What was found out: one row per mechanism and epsilon, ready for a table, a chart, JSON or a sentence."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from deniable._results import Result


@dataclass(frozen=True)
class UtilityRow:
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
        """The interval of ρ, lower and upper end."""
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


@dataclass(frozen=True, repr=False)
class UtilityReport(Result):
    """A curve per mechanism, and everything a reader must know about it."""

    rows: tuple[UtilityRow, ...]
    records: int
    features: tuple[str, ...]
    confidence: float
    simultaneous: bool
    target: str
    notes: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        best = max(self.rows, key=lambda row: row.value)
        where = "1 record" if self.records == 1 else f"{self.records:,} records"
        reached = f"up to {best.value:.3f} by {best.mechanism} at epsilon {best.epsilon:g}"
        return f"<UtilityReport {where}: {', '.join(self.mechanisms())}; {reached}>"

    def _caption(self) -> str:
        kept = {"answer": "gives the same answer", "truth": "gives the true label"}.get(self.target, f"predicts {self.target}")
        over = "at one record" if self.records == 1 else f"on average over {self.records:,} records"
        return f"probability that the model {kept}, {over}; perturbed: {', '.join(self.features)}"

    def _rows(self) -> list[dict[str, Any]]:
        names = ("mechanism", "epsilon", "value", "low", "high", "kind")
        return [{name: getattr(row, name) for name in names} for row in self.rows]

    def mechanisms(self) -> list[str]:
        """Names in the order they were asked for."""
        return list(dict.fromkeys(row.mechanism for row in self.rows))

    def curve(self, mechanism: str) -> list[UtilityRow]:
        """The rows of one mechanism, by rising epsilon."""
        return sorted((row for row in self.rows if row.mechanism == mechanism), key=lambda row: row.epsilon)

    def at(self, mechanism: str, epsilon: float) -> UtilityRow:
        """The row of a mechanism at an epsilon."""
        return next(row for row in self.rows if row.mechanism == mechanism and abs(row.epsilon - epsilon) < 1e-12)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "records": self.records,
            "sensitive": list(self.features),
            "confidence": self.confidence,
            "simultaneous": self.simultaneous,
            "target": self.target,
            "rows": [row.to_dict() for row in self.rows],
            "notes": list(self.notes),
        }
