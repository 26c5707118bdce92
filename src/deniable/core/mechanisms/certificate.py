"""Why a mechanism is private: integers and one inequality, which anyone can check again."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from deniable._results import Result
from deniable.core.exact.epsilon import Epsilon
from deniable.core.exact.exponential import exp_bounds, log_float
from deniable.core.exact.numbers import show_fraction

if TYPE_CHECKING:
    from deniable.core.mechanisms.privacy import Privacy, ValuePair


@dataclass(frozen=True)
class Certificate(Result):
    """The largest ratio of weights any output has between two inputs, beside e**epsilon.

    `ratio` is None when it is unbounded; then only a claim with `delta` > 0 can hold, and
    `delta_exact` is what the weights really give at this epsilon (rounded up). With a `promise` the claim is about its pairs of
    values, each at its own level, and `pair` is the one that comes nearest to breaking it.
    """

    mechanism: str
    fingerprint: str
    epsilon: Epsilon
    ratio: Fraction | None
    delta: Fraction = Fraction(0)
    delta_exact: Fraction = Fraction(0)
    promise: Privacy | None = None
    pair: ValuePair | None = None

    @property
    def holds(self) -> bool:
        """Does the inequality hold, exactly?"""
        if self.promise is not None:
            return self.pair is not None and self.pair.holds
        if self.delta == 0:
            return self.ratio is not None and self.epsilon.allows(self.ratio)
        return self.delta_exact <= self.delta

    @property
    def epsilon_exact(self) -> float:
        """ln(ratio): what the weights really spend (infinite when the ratio is unbounded)."""
        return float("inf") if self.ratio is None else log_float(self.ratio)

    @property
    def inequality(self) -> str:
        """The claim in one line."""
        if self.pair is not None:
            return _of_pair(self.pair)
        if self.delta:
            return f"delta at epsilon={self.epsilon} is {float(self.delta_exact):.6g} <= {show_fraction(self.delta)}"
        if self.ratio is None:
            return "the ratio is unbounded"
        low = exp_bounds(self.epsilon.exact)[0]
        power = f"({self.epsilon})" if "/" in str(self.epsilon) else str(self.epsilon)
        return f"{self.ratio.numerator}/{self.ratio.denominator} = {float(self.ratio):.12g} <= e^{power} = {float(low):.12g}…"

    def __repr__(self) -> str:
        """What rebuilds it, without what is left at its default."""
        said = [field for field in fields(self) if field.default is MISSING or getattr(self, field.name) != field.default]
        return f"Certificate({', '.join(f'{field.name}={getattr(self, field.name)!r}' for field in said)})"

    def _rows(self) -> list[dict[str, Any]]:
        return [{"what": what, "value": str(value)} for what, value in self.to_dict().items() if what != "inequality"]

    def _caption(self) -> str:
        return f"{self.mechanism}: privacy {'holds' if self.holds else 'DOES NOT HOLD'}, {self.inequality}"

    def to_dict(self) -> dict[str, Any]:
        """The claim and its integers as plain values, for JSON."""
        return {
            "mechanism": self.mechanism,
            "fingerprint": self.fingerprint,
            "epsilon": float(self.epsilon),
            "epsilon_requested": str(self.epsilon),
            "epsilon_exact": self.epsilon_exact if self.ratio is not None else None,
            "ratio": None if self.ratio is None else str(self.ratio),
            "delta": float(self.delta),
            "delta_exact": float(self.delta_exact),
            "holds": self.holds,
            "inequality": self.inequality,
            **({} if self.promise is None else {"promise": self.promise.written()}),
        }


def _of_pair(pair: ValuePair) -> str:
    """The claim about the pair that comes nearest to breaking it."""
    values = f"for value {pair.value} against {pair.other}, of all pairs nearest to its level"
    power = f"e^{pair.level}" if "/" not in str(pair.level) else f"e^({pair.level})"
    if pair.ratio is None:
        return f"the ratio is unbounded, {power} was promised {values}"
    low = exp_bounds(pair.level.exact)[0]
    ratio, sign = pair.ratio, "<=" if pair.holds else ">"
    return f"{ratio.numerator}/{ratio.denominator} = {float(ratio):.12g} {sign} {power} = {float(low):.12g}… {values}"
