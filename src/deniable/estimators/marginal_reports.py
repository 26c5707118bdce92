"""What the reports of one marginal say, and the law of a table's cell that several marginals tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.batch import Accumulator, Floats
from deniable.estimators.covariance import support_law
from deniable.estimators.estimate import Target
from deniable.estimators.interactions import Fields, interaction, others
from deniable.estimators.linear_law import ReportLaw, report_law
from deniable.estimators.score_intervals import Moments, ScoreQuestion, averaged
from deniable.estimators.supports import support_counts


@dataclass(frozen=True, eq=False)
class MarginalReports:
    """The reports of one marginal: its fields, their sums, and the noise of one report along contrasts of cells."""

    fields: Fields
    sizes: Sequence[int]
    """Of all fields of the record."""
    sums: Accumulator
    noise: float

    @property
    def n(self) -> int:
        """How many reports there are."""
        return self.sums.n

    @property
    def shape(self) -> list[int]:
        """Of its table."""
        return [self.sizes[field] for field in self.fields]

    @cached_property
    def law(self) -> ReportLaw:
        """What one report adds to a sum over cells with a weight for each."""
        return report_law(self.sums.mechanism)

    @cached_property
    def _table(self) -> Floats:
        law = support_law(self.sums.mechanism)
        return np.asarray((support_counts(self.sums) / self.n - law.q) / law.gap, np.float64).reshape(self.shape)

    def interaction(self, wanted: Fields) -> Floats:
        """Of some of its fields, by its own reports."""
        return interaction(self._table, self.fields, wanted)

    def information(self, wanted: Fields) -> float:
        """About an interaction of its fields: one over the variance of its contrasts."""
        return self.n / (self.noise * others(wanted, self.fields, self.sizes))

    def covariance(self, shares: Floats) -> Floats:
        """Of the unbiased shares of its cells, users drawn from a population with these shares."""
        noise = support_law(self.sums.mechanism).count_noise(shares, True)
        return np.asarray((noise + np.diag(shares) - np.outer(shares, shares)) / self.n)


@dataclass(frozen=True, eq=False)
class TableQuestion:
    """The share of one cell of a table, estimated by the reports of several marginals.

    A person is in the cell or not. What is known of those who are, and of those who are not, is how they lie in the cells
    of each marginal: in its cells that agree with the table's cell, or as its table says.
    """

    fields: Fields
    cell: int
    share: float
    pulls: Sequence[tuple[MarginalReports, Floats, Floats]]
    """Every marginal's reports, how much each of its cells moves the estimate, and the likely shares of its cells."""
    n: int
    target: Target

    def score(self, value: float) -> ScoreQuestion:
        """The question whose interval holds."""
        own = np.array([1.0, 0.0])
        likely = np.array([self.share, 1 - self.share])
        # Sums of several marginals lie closer together than those of one.
        step = self.pulls[0][0].law.step(self.pulls[0][1]) / self.n if len(self.pulls) == 1 else 0.0
        return ScoreQuestion(value, own, likely, lambda shares: self.moments(shares), self._enough(likely), step)

    def moments(self, shares: Floats) -> tuple[float, float]:
        """The variance and the third central moment of the estimate, for the shares inside and outside of the cell."""
        each = [law(shares @ sides) for law, sides in self._laws]
        second, third = sum(one for one, _ in each), sum(one for _, one in each)
        if self.target == "these users":
            # Who was asked for which marginal counts; which users there are does not.
            drawn = float(shares[0] * shares[1])
            second, third = second - drawn / self.n, third - drawn * float(shares[1] - shares[0]) / self.n**2
        return second, third

    def _enough(self, likely: Floats) -> float:
        """How many reports the spread is taken from: a marginal counts as much as it adds to the spread."""
        spreads = [law(likely @ sides)[0] for law, sides in self._laws]
        fewest = sum(spread / one.n for spread, (one, _, _) in zip(spreads, self.pulls, strict=True))
        return sum(spreads) / fewest if fewest > 0 else min(one.n for one, _, _ in self.pulls)

    @cached_property
    def _laws(self) -> list[tuple[Moments, Floats]]:
        return [
            (averaged(*one.law.moments(pull), one.n, 1.0), np.array(self._sides(one, likely))) for one, pull, likely in self.pulls
        ]

    def _sides(self, one: MarginalReports, likely: Floats) -> tuple[Floats, Floats]:
        """How people inside and outside of the table's cell lie in the cells of a marginal."""
        table = [one.sizes[field] for field in self.fields]
        values = dict(zip(self.fields, np.unravel_index(self.cell, table), strict=True))
        places = np.indices(one.shape).reshape(len(one.fields), -1)
        agree = np.ones(likely.size, np.bool_)
        for field, place in zip(one.fields, places, strict=True):
            agree &= place == values.get(field, place)
        inside = _smoothed(likely * agree, agree.astype(np.float64), one.n)
        rest = max(float(likely[agree].sum()) - self.share, 0.0)
        return inside, _smoothed(np.where(agree, rest * inside, likely), (~agree).astype(np.float64), one.n)


def _smoothed(shares: Floats, possible: Floats, n: int) -> Floats:
    """As if one more person had been asked, spread evenly: nobody seen is not nobody there."""
    whole = shares + (possible / possible.sum() / (n + 1) if possible.any() else 0.0)
    return np.asarray(whole / whole.sum())
