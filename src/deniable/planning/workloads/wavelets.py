"""Haar wavelets in the planner: the published ones, every level equally often, and those with the best shares of people.

For one person, every coefficient of level l has the variance g²/w_l, where g = (E + 1)/(E - 1) and w_l is the level's share of
the people. The error is Σ_l T_l g² / (b_l w_l) less what drawing the people adds: T_l is what the workload asks of the level's
contrasts, b_l the number of categories in one of its blocks. The best w_l are proportional to √(T_l / b_l). Both are exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from deniable.batch import Floats, Keystream
from deniable.core import Categories, Epsilon
from deniable.estimators import HaarHistogram, haar_coefficients
from deniable.planning.fakes import part_of
from deniable.planning.way import Prediction, Way, normal
from deniable.planning.workloads.workload import Workload
from deniable.privacy import Gain

SHARE_UNIT = 1 << 20
MOST_ENTRIES = 1 << 22


def wavelet_ways(questions: Workload, epsilon: Epsilon) -> Iterator[Way]:
    """Both."""
    for inner, haar in (("best shares", best_wavelets(questions, epsilon)), ("equal shares", _equal(questions, epsilon))):
        yield _way(inner, haar, questions)


def best_wavelets(questions: Workload, epsilon: Epsilon) -> HaarHistogram:
    """The shares of people at every level with the least error."""
    equal = _equal(questions, epsilon)
    wanted = np.sqrt(_asked_of_levels(questions, equal.levels) / _blocks(equal.levels))
    return HaarHistogram(equal.domain, epsilon, [max(round(float(one) * SHARE_UNIT), 1) for one in wanted / wanted.sum()])


def wavelet_error(questions: Workload, haar: HaarHistogram) -> float:
    """Squared errors of all answers added up, for one person beyond sampling, people spread evenly: exact."""
    traces = _asked_of_levels(questions, haar.levels)
    noise = haar.scale**2 / (_blocks(haar.levels) * haar.parts)
    return float(((noise - 1 / questions.size) * traces).sum())


def _equal(questions: Workload, epsilon: Epsilon) -> HaarHistogram:
    return HaarHistogram(Categories(questions.size), epsilon)


def _blocks(levels: int) -> Floats:
    """How many categories a node has, from the root on."""
    return np.asarray(2.0 ** np.arange(levels, 0, -1), np.float64)


def _asked_of_levels(questions: Workload, levels: int) -> Floats:
    """tr(P_l WᵀW), P_l projecting on the contrasts between the halves of the level's nodes."""
    whole = questions.products.astype(np.float64) * float(questions.unit) ** 2
    sums = [float(np.trace(whole))]
    for level in reversed(range(levels)):
        whole = whole.reshape(1 << level, 2, 1 << level, 2).sum(axis=(1, 3))
        sums.append(float(np.trace(whole)) / (1 << (levels - level)))
    return np.asarray((np.array(sums[:-1]) - np.array(sums[1:]))[::-1], np.float64)


def _way(inner: str, haar: HaarHistogram, questions: Workload) -> Way:
    once = wavelet_error(questions, haar) / questions.questions

    def predict(n: int) -> Prediction:
        return normal(math.sqrt(max(once, 0.0) / n))

    def losses(n: int, runs: int, stream: Keystream) -> Floats:
        people = np.arange(n) % questions.size
        truth, each = np.bincount(people, minlength=questions.size) / n, np.empty(runs)
        for run in range(runs):
            off = haar.accumulate(haar.randomize_many(people, stream)).leaves - truth
            each[run] = float(off @ questions.products @ off) * float(questions.unit) ** 2 / questions.questions
        return each

    def gain(n: int) -> Gain | None:
        if questions.questions * questions.size > MOST_ENTRIES:
            return None
        # A sign and a row move every coefficient of a level by g, up or down.
        reach = [
            haar.scale * float(np.abs(haar_coefficients(questions.answers, level, haar.levels)).sum(axis=1).max())
            for level in range(haar.levels)
        ]
        moved = max(part_of(n, 1 / float(part)) * one for part, one in zip(haar.parts, reach, strict=True))
        return Gain("one answer", moved, max(reach), False)

    return Way(
        name="haar-histogram",
        asked=haar,
        estimator="HaarHistogram.accumulate(reports).answers(questions)",
        predict=predict,
        losses=losses,
        inner=inner,
        gain=gain,
    )
