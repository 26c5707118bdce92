"""Shares over many periods: with bands that hold for all of them together, and the periods in which something changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable._results import Result
from deniable.batch import Floats
from deniable.errors import InvalidParameter, WrongRecipe
from deniable.estimators.estimate import Estimate, half_width
from deniable.estimators.frequency import shares
from deniable.estimators.local_lines import local_lines
from deniable.estimators.source import Source, accumulated


@dataclass(frozen=True, eq=False, repr=False)
class Trend(Result):
    """Unbiased shares period by period; every period has reports of its own.

    Periods without a report have no estimate, and are left out of everything.
    """

    periods: tuple[int, ...]
    """The numbers of the periods that have reports, in order."""
    estimates: tuple[Estimate, ...]
    labels: Sequence[Any]

    @property
    def value(self) -> Floats:
        """One row per period, one column per value."""
        return np.array([estimate.value for estimate in self.estimates])

    def band(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends that hold for all periods and values together, at this level (Bonferroni)."""
        each = 1 - (1 - level) / self.value.size
        ends = [estimate.interval(each) for estimate in self.estimates]
        return np.array([low for low, _ in ends]), np.array([high for _, high in ends])

    def smoothed(self, reach: float | None = None, *, ahead: bool = True) -> Floats:
        """Local lines through the unbiased shares: `reach` is how many periods away a share still counts.

        Without `reach` the data choose it, by an unbiased estimate of the error. With `ahead=False` a period's line sees no later
        one, so what was published once stays as it is. It is biased where a trend bends, so bands and changes keep to the
        unbiased shares.
        """
        variances = self._variances() if reach is None else np.zeros_like(self.value)
        return local_lines(np.array(self.periods, np.float64), self.value, variances, reach, ahead=ahead)

    def _variances(self) -> Floats:
        return np.array([estimate.variance for estimate in self.estimates])

    def changes(self, error_rate: float = 0.05) -> list[dict[str, Any]]:
        """Steps from one period to the next that chance does not explain, largest first.

        If nothing ever changes, some step is named with at most this probability in all (Bonferroni). A step is named when 0 lies
        outside of its interval, `low` to `high`. That is put together from the intervals of the two periods (Zou and Donner,
        2008), and holds for few reports too. Different reports have independent noise. Where the same people are asked again,
        what drawing them adds to two periods is alike and falls out of the difference; it is counted here, so the interval is
        not too short.
        """
        if not 0 < error_rate < 1:
            raise InvalidParameter("error_rate must lie between 0 and 1, for example 0.05")
        if len(self.periods) < 2:
            return []
        value = self.value
        step = np.diff(value, axis=0)
        level = 1 - error_rate / step.size
        ends = [estimate.interval(level) for estimate in self.estimates]
        # Intervals end where shares do. Unbiased shares do not: what they may be off by is at least their noise.
        noise = half_width(level) * np.array([estimate.standard_error for estimate in self.estimates])
        below = np.maximum(value - [low for low, _ in ends], noise)
        above = np.maximum([high for _, high in ends] - value, noise)
        low, high = step - np.hypot(below[1:], above[:-1]), step + np.hypot(above[1:], below[:-1])
        named = [
            {
                "from": self.periods[row],
                "to": self.periods[row + 1],
                "label": str(self.labels[column]),
                "step": float(step[row, column]),
                "low": float(low[row, column]),
                "high": float(high[row, column]),
            }
            for row, column in zip(*np.nonzero((low > 0) | (high < 0)), strict=True)
        ]
        return sorted(named, key=lambda one: -max(one["low"], -one["high"]))

    def _rows(self) -> list[dict[str, Any]]:
        low, high = self.band()
        return [
            {
                "period": period,
                "label": str(label),
                "value": float(self.value[row, column]),
                "low": float(low[row, column]),
                "high": float(high[row, column]),
            }
            for row, period in enumerate(self.periods)
            for column, label in enumerate(self.labels)
        ]

    def _caption(self) -> str:
        return f"shares in {len(self.periods)} periods, 95 % bands that hold together"

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {"periods": list(self.periods), "level": 0.95, "rows": self._rows(), "changes": self.changes()}

    def __repr__(self) -> str:
        return f"<Trend of {len(self.periods)} periods, {len(self.labels)} values>"


def trend(rounds: Sequence[Source | None]) -> Trend:
    """Shares of the population, period by period, from the reports of each period; None where a period has none.

    All periods have one recipe. For streams that report afresh (`FreshReports`, `TakingTurns`, `RandomPeriod`).

    >>> from deniable.core import Categories, make_mechanism
    >>> mechanism = make_mechanism("k-rr", domain=Categories(["no", "yes"]), epsilon=2)
    >>> days = [mechanism.randomize_many(["yes"] * yes + ["no"] * (4000 - yes)) for yes in (400, 400, 2800)]
    >>> found = trend(days)
    >>> [(step["from"], step["to"]) for step in found.changes(1e-6)][:1]
    [(1, 2)]
    """
    sums = [(number, accumulated(one)) for number, one in enumerate(rounds) if one is not None]
    if not sums:
        raise InvalidParameter("rounds must hold at least one period with reports")
    if len({one.mechanism.fingerprint for _, one in sums}) > 1:
        raise WrongRecipe("all periods must be of one recipe")
    estimates = tuple(shares(one, target="population") for _, one in sums)
    return Trend(tuple(number for number, _ in sums), estimates, estimates[0].labels or range(estimates[0].value.size))
