"""Asking a model at random reports: one set of answers for all mechanisms and every epsilon.

counted      the whole lattice, when it has no more points than the model may be asked
strata       up to three sensitive features: draws in boxes of known probability (strata.py)
envelope     more features: draws from the settings' envelope; every setting keeps a draw by chance, in proportion to
             its own probability of it, so what it keeps are independent draws of that setting
drawn        reports of one setting itself, as the mechanism makes them: nothing shared, nothing moved
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Flags, Floats, Integers, Keystream, SystemKeystream, draw_many
from deniable.errors import InvalidParameter
from deniable.estimators import clopper_pearson
from deniable.studies.classifiers.intervals import Drawn, Evidence, Weighted
from deniable.studies.classifiers.perturbation import Perturbation
from deniable.studies.classifiers.strata import Answer, Strata, counted, points_of, uniforms
from deniable.studies.classifiers.weights import Group, Setting, groups

EVALUATIONS = 20_000
MOST_STRATIFIED = 3
"""Sensitive features up to which space is cut into boxes."""
BATCH = 1 << 14
ROWS = 1 << 13
"""Rows a model is given at once."""
TRIAL_ANSWERS = 2_000
"""How often a trial asks the model."""
RESERVE = 0.9
STEPS_PER_DOUBLING = 8
"""Sizes of samples are tried in steps of 2**(1/8)."""

Progress = Callable[[int], None]


def shared(
    answer: Answer,
    values: Sequence[Any],
    chosen: Sequence[Setting],
    *,
    evaluations: int = EVALUATIONS,
    width: float | None = None,
    error: float = 0.05,
    keystream: Keystream | None = None,
    repeatable: bool = True,
) -> list[Evidence]:
    """What one set of a model's answers says about every setting, in their order.

    `answer` takes one array per sensitive feature and says where the model keeps its answer. It is asked at most
    `evaluations` times for every group of mechanisms that share their numbers, and less often where a small trial
    promises that every interval(error) gets no wider than `width`. A model that answers at random is never counted.
    """
    if isinstance(evaluations, bool) or not isinstance(evaluations, int) or evaluations < 2:
        raise InvalidParameter("evaluations must be a whole number, at least 2")
    if width is not None and not 0 < width <= 1:
        raise InvalidParameter("width must be a number above 0, at most 1")
    stream = SystemKeystream() if keystream is None else keystream
    by_setting: dict[int, Evidence] = {}
    for group in groups(chosen, values):
        points = points_of(group) if repeatable else math.inf
        part: Sequence[Evidence]
        if points <= (evaluations if width is None else TRIAL_ANSWERS):
            part = counted(group, answer)
        else:
            strata = Strata(group) if len(values) <= MOST_STRATIFIED else None
            ask = strata.sample if strata is not None else Envelope(group).sample
            count, trial = evaluations, TRIAL_ANSWERS
            while width is not None and trial < count:
                count = min(_needed(ask(answer, trial, stream), width, error, len(values)), evaluations)
                # A second, larger trial where the first one had to guess far ahead.
                trial = count // 8 if count > 16 * trial else count
            if width is None and strata is not None and count >= TRIAL_ANSWERS:
                # One in eight answers finds out where the model's boundary runs.
                strata.sample(answer, count // 8, stream)
                count -= count // 8
            part = counted(group, answer) if points <= count else ask(answer, count, stream)
        by_setting.update(zip(group.members, part, strict=True))
    return [by_setting[i] for i in range(len(chosen))]


def _needed(trial: Sequence[Evidence], width: float, error: float, features: int) -> int:
    """How many answers make all intervals narrow enough, if the trial is anything to go by.

    The trial itself is thrown away: a sample whose size it chose says the truth about itself.
    """
    most = 1
    for part in trial:
        low, high = 0, 14 * STEPS_PER_DOUBLING
        while low < high:
            middle = (low + high) // 2
            enough = _width(part, 2 ** (middle / STEPS_PER_DOUBLING), error, features) <= RESERVE * width
            low, high = (low, middle) if enough else (middle + 1, high)
        most = max(most, math.ceil(part.evaluations * 2 ** (low / STEPS_PER_DOUBLING)))
    return most


def _width(part: Evidence, factor: float, error: float, features: int) -> float:
    """How wide the interval would be with so many times the answers."""
    if isinstance(part, Drawn):
        size = max(int(part.kept.size * factor), 1)
        kept = round(size * (part.estimate if part.kept.size else 0.5))
        ends = clopper_pearson(np.array([kept]), size, error / 2)
        return float(ends[1][0] - ends[0][0])
    assert isinstance(part, Weighted)
    # Boxes shrink as well: the share of them that the boundary crosses falls like their side.
    less = factor ** (1 + 1 / max(features, 2))
    a, b, c = (sums / less for sums in part.pairs)
    return 2 * Weighted(part.right, part.total, (a, b, c), part.largest / factor, part.evaluations).reach(error)


class Envelope:
    """A group of settings with many features: draws from the largest probability that any of them has."""

    def __init__(self, group: Group) -> None:
        self.group = group

    def sample(self, answer: Answer, evaluations: int, keystream: Keystream) -> list[Evidence]:
        """Each setting keeps its share of the draws, by chance: those are independent draws of that setting."""
        parts: list[tuple[Integers, Floats]] = []
        have = 0
        while have < evaluations:
            parts.append(self._batch(keystream))
            have += parts[-1][0].shape[1]
        picked = np.concatenate([part[0] for part in parts], axis=1)[:, :evaluations]
        ratios = np.concatenate([part[1] for part in parts], axis=1)[:, :evaluations]
        kept = answer([places.numbers[row] for places, row in zip(self.group.places, picked, strict=True)])
        return [Drawn(kept[uniforms(keystream, row.size) < row], row.size) for row in ratios]

    def _batch(self, keystream: Keystream) -> tuple[Integers, Floats]:
        """Places of some draws, and for every setting its probability of each beside the largest."""
        group, members = self.group, len(self.group.settings)
        who = np.minimum((uniforms(keystream, BATCH) * members).astype(np.int64), members - 1)
        picked = np.empty((len(group.places), BATCH), dtype=np.int64)
        for j, setting in enumerate(group.settings):
            mine = np.flatnonzero(who == j)
            for one, features in _alike(setting):
                inputs = np.repeat([group.indices[i][j] for i in features], mine.size)
                numbers = one.decode(draw_many(one.mechanism.channel, inputs, keystream).astype(np.int64))
                for i, reports in zip(features, numbers.reshape(len(features), mine.size), strict=True):
                    picked[i, mine] = group.places[i].index(reports)
        logs = np.zeros((members, BATCH))
        for i, row in enumerate(picked):
            logs += group.logarithms(i)[:, row]
        ratios = np.exp(logs - logs.max(axis=0))
        # The draws come from the mixture of all settings; 1/sum(ratios) of it, at least 1/members, is the envelope.
        inside = uniforms(keystream, BATCH) * ratios.sum(axis=0) < 1.0
        return picked[:, inside], ratios[:, inside]


def _alike(setting: Setting) -> list[tuple[Perturbation, list[int]]]:
    """The features that one and the same mechanism perturbs: drawn at once, its tables are built once."""
    by_mechanism: dict[int, tuple[Perturbation, list[int]]] = {}
    for i, one in enumerate(setting.perturbations):
        by_mechanism.setdefault(id(one), (one, []))[1].append(i)
    return list(by_mechanism.values())


def drawn(answer: Answer, values: Sequence[Any], setting: Setting, draws: int, keystream: Keystream | None = None) -> Drawn:
    """Independent reports of one setting, as its mechanism makes them."""
    stream = SystemKeystream() if keystream is None else keystream
    columns: list[Floats] = [np.empty(0)] * len(values)
    for one, features in _alike(setting):
        inputs = np.repeat([one.index(values[i]) for i in features], draws)
        numbers = one.decode(draw_many(one.mechanism.channel, inputs, stream).astype(np.int64))
        for i, row in zip(features, numbers.reshape(len(features), draws), strict=True):
            columns[i] = row
    return Drawn(answer(columns), draws)


def answering(
    labels: Callable[[Any], NDArray[Any]],
    record: Floats,
    columns: Sequence[int],
    label: Any,
    progress: Progress | None = None,
    same: Callable[[Any, Any], Any] = operator.eq,
) -> Answer:
    """Does a model keep `label` when the sensitive columns of a record change?"""

    def answer(numbers: list[Floats]) -> Flags:
        count = len(numbers[0])
        kept = np.empty(count, dtype=bool)
        for start in range(0, count, ROWS):
            end = min(start + ROWS, count)
            rows = np.repeat(record[None], end - start, axis=0)
            for column, values in zip(columns, numbers, strict=True):
                rows[:, column] = values[start:end]
            kept[start:end] = same(labels(rows), label)
            if progress is not None:
                progress(end - start)
        return kept

    return answer
