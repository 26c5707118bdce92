"""Outputs that only one input can give: what the low-order bits of a float sampler betray."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.privacy.auditing.bounds import epsilon_below
from deniable.privacy.auditing.events import Event, Feature, best_union, histograms
from deniable.privacy.auditing.families.values import lowest_bit_of_report, seen_only
from deniable.privacy.auditing.targets import Target, draw_same

ERROR = 1e-4


@dataclass(frozen=True)
class FloatSupport:
    """What the bits of a report, rather than its size, show about the input."""

    epsilon: float
    lower: float
    chance: tuple[float, float]
    pair: tuple[Any, Any]
    what: str
    reports: int

    @property
    def violated(self) -> bool:
        """Do the bits show more than the claim allows?"""
        return self.lower > self.epsilon

    @property
    def words(self) -> str:
        """The finding in a sentence."""
        if not self.violated:
            return f"the bits of the reports show no more than epsilon {self.epsilon:g}"
        p, q = self.chance
        return (
            f"VIOLATED by {self.what}: {100 * p:.3g} % of one input's reports, {100 * q:.3g} % of the other's; "
            f"epsilon is at least {self.lower:.3f}, claimed was {self.epsilon:g}"
        )


def float_support_test(
    target: Target, inputs: tuple[Any, Any], *, epsilon: float, samples: int = 200_000, error: float = ERROR
) -> FloatSupport:
    """Compare the finest power of two that reports are multiples of, and which exact reports come back.

    A double made as value + noise has the rounding of that sum: some doubles near 0 cannot be reached from 1. Half
    of the draws choose the event, the other half test it, both directions.
    """
    runs = [draw_same(target, value, samples // 2).reports for value in inputs]
    if len(runs) != 2 or any(run.numbers().ndim != 1 or len(run) < 400 for run in runs):
        raise InvalidParameter("the test needs two inputs and reports that are single numbers")
    parts = [
        (run.rows(slice(0, len(run) // 4)), run.rows(slice(len(run) // 4, len(run) // 2)), run.rows(slice(len(run) // 2, None)))
        for run in runs
    ]
    fit, select, test = ([part[k] for part in parts] for k in range(3))
    features: Sequence[Feature] = [lowest_bit_of_report(), seen_only("reports that come back", fit[0], fit[1])]
    worst: tuple[float, tuple[float, float], tuple[Any, Any], str] = (-np.inf, (0.0, 0.0), (inputs[0], inputs[1]), "nothing")
    for feature in features:
        chosen = [histograms(feature, reports, 1)[0] for reports in select]
        for i, j in ((0, 1), (1, 0)):
            event = Event(feature, best_union(chosen[i], chosen[j], delta=0.0, epsilon=None)[1])
            hits, other = (int(event.counts(test[k], 1)[0][0]) for k in (i, j))
            lower = float(epsilon_below(hits, len(test[i]), other, len(test[j]), error / (2 * len(features))))
            if lower > worst[0]:
                worst = lower, (hits / len(test[i]), other / len(test[j])), (inputs[i], inputs[j]), feature.name
    return FloatSupport(epsilon, *worst, sum(map(len, runs)))
