"""The law of what one report adds to a linear question about the shares of categories, and intervals from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deniable.batch import Floats
from deniable.core import Mechanism
from deniable.estimators.covariance import support_law
from deniable.estimators.node_moments import independent_third, node_moments
from deniable.estimators.score_intervals import Moments, ScoreIntervals, ScoreQuestion, averaged
from deniable.estimators.supports import counts_outputs, sums_over_values
from deniable.estimators.table_decoder import TableDecoder

FEW_VALUES = 3
"""Sums of numbers that are one of so few lie on a lattice that is coarse enough to matter."""


class ReportLaw(NamedTuple):
    """What one report adds to the unbiased shares of all categories, summed with a weight for each."""

    moments: Callable[[Floats], tuple[Floats, Floats, Floats]]
    """Mean, variance and third central moment, for a person of each category."""
    reads: Callable[[Floats], Floats] | None = None
    """The number itself, for every output, where outputs are counted."""

    def step(self, weights: Floats) -> float:
        """How far apart two possible sums are; 0 where they lie close together, or that is not known."""
        values = np.unique(self.reads(weights).round(9)) if self.reads is not None else np.empty(0)
        return float(np.diff(values).min()) if 1 < len(values) <= FEW_VALUES else 0.0


def report_law(mechanism: Mechanism) -> ReportLaw:
    """From the integers of the channel."""
    channel = mechanism.channel
    if channel.support() is None:
        decoder = TableDecoder(mechanism)

        def of_outputs(weights: Floats) -> tuple[Floats, Floats, Floats]:
            read = weights @ decoder.inverse
            first, square, cube = (decoder.law @ read**power for power in (1, 2, 3))
            second = square - first**2
            return first, second, cube - 3 * first * second - first**3

        return ReportLaw(of_outputs, lambda weights: weights @ decoder.inverse)
    law = support_law(mechanism)
    levels = channel.two_level if counts_outputs(channel) else None
    if levels is not None:
        sets = levels.sets
        return ReportLaw(
            lambda weights: node_moments(channel, weights, law.p, law.q), lambda weights: sums_over_values(sets, weights) / law.gap
        )
    if channel.free_bits:
        return ReportLaw(lambda weights: node_moments(channel, weights, law.p, law.q))
    own, other = law.pair - law.p * law.q, law.triple - law.q**2

    def of_pairs(weights: Floats) -> tuple[Floats, Floats, Floats]:
        rest, squares = weights.sum() - weights, weights @ weights - weights**2
        second = weights**2 * law.p * (1 - law.p) + squares * law.q * (1 - law.q)
        second += 2 * weights * rest * own + (rest**2 - squares) * other
        # Of a hash or a list of several categories, whether it supports one says next to nothing of a third one.
        return weights, second / law.gap**2, independent_third(weights, law.p, law.q) / law.gap**3

    return ReportLaw(of_pairs)


@dataclass(frozen=True, eq=False)
class ReportGroup:
    """Reports of one mechanism: their law, how many there are, and a row of weights for every question."""

    law: ReportLaw
    n: int
    weights: Floats


def linear_intervals(
    value: Floats, questions: Floats, likely: Floats, groups: Sequence[ReportGroup], sampled: float
) -> ScoreIntervals:
    """Score intervals of answers: a row of `questions` is asked of the shares, which groups of reports tell together."""
    asked, span, least = on_unit_scale(questions)
    people = sum(group.n for group in groups)
    # Sums of several groups lie closer together than those of one.
    steps = [groups[0].law.step(weights) / people if len(groups) == 1 else 0.0 for weights in groups[0].weights / _unit(span)]
    each = tuple(
        ScoreQuestion(share, counts, likely, _moments(groups, row, unit, sampled), people, step)
        for row, (share, counts, unit, step) in enumerate(
            zip(((value - least) / _unit(span)[:, 0]).tolist(), asked, _unit(span)[:, 0].tolist(), steps, strict=True)
        )
    )
    return ScoreIntervals(each, span, offset=least)


def on_unit_scale(questions: Floats) -> tuple[Floats, Floats, Floats]:
    """Questions whose weights go from 0 to 1, and what their answers are to be multiplied with and added to."""
    least, span = questions.min(axis=1), np.ptp(questions, axis=1)
    return np.asarray((questions - least[:, None]) / _unit(span)), np.asarray(span), np.asarray(least)


def _unit(span: Floats) -> Floats:
    """A question with the same weight for everybody has an answer that is known."""
    return np.asarray(np.where(span > 0, span, 1.0)[:, None])


def _moments(groups: Sequence[ReportGroup], row: int, unit: float, sampled: float) -> Moments:
    each = [averaged(*group.law.moments(group.weights[row] / unit), group.n, sampled) for group in groups]

    def moments(shares: Floats) -> tuple[float, float]:
        parts = [part(shares) for part in each]
        return sum(second for second, _ in parts), sum(third for _, third in parts)

    return moments
