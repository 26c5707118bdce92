"""Which mechanism, which epsilon, which feature: the questions ρ is for.

quantify            ρ of every mechanism at every epsilon: exact where the model allows, else from one shared sample
best_mechanism      the mechanism with the largest ρ at one epsilon, and whether that is certain
smallest_epsilon    the least epsilon at which ρ reaches a target, certainly
feature_costs       what hiding each feature costs
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deniable.batch import Keystream
from deniable.core import EpsilonLike
from deniable.errors import InvalidParameter, NotSupported
from deniable.studies.classifiers.exact_models import is_exact_model
from deniable.studies.classifiers.intervals import Evidence, average, worst
from deniable.studies.classifiers.report import UtilityReport, UtilityRow
from deniable.studies.classifiers.sampling import EVALUATIONS, Progress
from deniable.studies.classifiers.study import WIDEST_CERTIFIED, Effort, Study, as_evidence
from deniable.studies.classifiers.weights import Setting, is_fine, places_per_width, settings

RAW = (
    "with probability {0:g} the whole RAW record is published (privacy indicator): the rows promise "
    "(d epsilon, {0:g})-LDP of the worst kind, complete disclosure"
)

MOVED = (
    "sampled: reports of mechanisms with more than 131072 outputs are moved to the nearest of {} places per domain width before "
    "the model sees them, so that all of them share one sample; the empirical numbers leave them as they are"
)


def quantify(
    question: Study,
    mechanisms: Sequence[str],
    epsilons: Sequence[EpsilonLike],
    *,
    budget: str = "each",
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    indicator: float = 0.0,
    evaluations: int = EVALUATIONS,
    width: float | None = None,
    confidence: float = 0.95,
    simultaneous: bool = False,
    empirical: int = 0,
    sample: bool = False,
    prove: bool = True,
    keystream: Keystream | None = None,
    progress: Progress | None = None,
) -> UtilityReport:
    """ρ for every mechanism at every epsilon, averaged over the records.

    `budget` gives epsilon to "each" sensitive feature, or splits the "total". With `simultaneous`, all intervals of
    the report hold together with the stated confidence; else each of them does. `empirical` adds that many plain
    reports per row, for comparison. With `width`, a sampled model is asked only as often as every record's intervals
    need to get that narrow, and never more than `evaluations` times. `sample` asks the model at random even where ρ
    has an exact way; `prove` searches a box around each record in which a torch network provably keeps its answer.
    """
    if not 0 <= indicator < 1:
        raise InvalidParameter("indicator must be a number from 0 to below 1: the probability that the raw record is published")
    if not 0.5 <= confidence < 1:
        raise InvalidParameter("confidence must be a number from 0.5 to below 1, for example 0.95")
    chosen = settings(mechanisms, epsilons, question.features, budget=budget, **_keyed(parameters))
    notes = list(question.model.notes)
    error = (1 - confidence) / (len(chosen) if simultaneous else 1)
    effort = Effort(evaluations, width, error)
    parts = _evidence(question, chosen, effort, sample, keystream, progress, notes)
    proved = _proved(question, chosen) if prove else [None] * len(chosen)
    rows = []
    for j, setting in enumerate(chosen):
        plain = [question.drawn(i, setting, empirical, keystream) for i in range(len(question))] if empirical else []
        total = setting.level * (len(question.features) if budget == "each" else 1)
        rows.append(_row(setting, [part[j] for part in parts], proved[j], plain, total, error, indicator))
    if indicator:
        notes.append(RAW.format(indicator))
    notes += _privacy_notes(chosen, len(question.features), budget)
    return UtilityReport(tuple(rows), len(question), question.names, confidence, simultaneous, question.target, tuple(notes))


def _keyed(parameters: Mapping[str, Mapping[str, Any]] | None) -> dict[str, Mapping[str, Any]]:
    return {name.replace("-", "_"): given for name, given in (parameters or {}).items()}


def _evidence(
    question: Study,
    chosen: Sequence[Setting],
    effort: Effort,
    sample: bool,
    keystream: Keystream | None,
    progress: Progress | None,
    notes: list[str],
) -> list[list[Evidence]]:
    """Per record and setting what is known."""
    parts: list[list[Evidence]] = []
    if not sample and question.model.repeatable:
        try:
            parts = _exact(question, chosen, progress)
        except NotSupported as why:
            notes.append(f"sampled: {why}")
    if not parts:
        if any(is_fine(one) for setting in chosen for one in setting.perturbations):
            notes.append(MOVED.format(places_per_width(len(question.features))))
        parts = [question.sampled(i, chosen, effort, keystream, progress) for i in range(len(question))]
    return parts


def _proved(question: Study, chosen: Sequence[Setting]) -> Sequence[float | None]:
    """Per setting the mean of the records' proved lower bounds."""
    bounds: list[list[float]] = []
    for i in range(len(question)) if question.model.repeatable else ():
        one = question.proved(i, chosen)
        if one is None:
            return [None] * len(chosen)
        bounds.append(one)
    if not bounds:
        return [None] * len(chosen)
    return [math.fsum(bound[j] for bound in bounds) / len(bounds) for j in range(len(chosen))]


def _exact(question: Study, chosen: Sequence[Setting], progress: Progress | None) -> list[list[Evidence]]:
    evidence: list[list[Evidence]] = []
    for i in range(len(question)):
        row = question.exact(i, chosen)
        if max(one.upper - one.lower for one in row) > WIDEST_CERTIFIED:
            raise NotSupported("too much of the space stays undecided for a certified number; fewer sensitive features would do")
        evidence.append([as_evidence(one) for one in row])
        if progress is not None:
            progress(1)
    return evidence


def _row(
    setting: Setting,
    parts: list[Evidence],
    proved: float | None,
    plain: list[Evidence],
    total: float,
    error: float,
    indicator: float,
) -> UtilityRow:
    def lifted(rho: float) -> float:
        return indicator + (1 - indicator) * rho  # the raw record keeps its answer

    one = average(parts)
    low, high = one.interval(error)
    kind = {"exact": "exact", "counted": "exact", "certified": "certified"}.get(one.method, "estimate")
    if one.method == "counted" and any(is_fine(each) for each in setting.perturbations):
        kind = "counted"  # every place was looked at, but reports were moved to places
    several: dict[str, float] = {}
    if len(parts) > 1:
        names = ("worst", "worst_low", "worst_high")
        several = {name: lifted(value) for name, value in zip(names, worst(parts, error), strict=True)}
    if plain:
        tried = average(plain)
        ends = tried.interval(error)
        several |= {"empirical": lifted(tried.estimate), "empirical_low": lifted(ends[0]), "empirical_high": lifted(ends[1])}
    better = proved is not None and proved >= low
    if proved is not None:
        several["proved_lower"] = lifted(proved)
    return UtilityRow(
        mechanism=setting.mechanism,
        epsilon=setting.level,
        epsilon_total=total,
        delta=_delta(setting, indicator),
        lower=lifted(proved if better and proved is not None else low),
        value=lifted(one.estimate),
        kind=kind,
        low=lifted(low),
        high=lifted(high),
        method=one.method,
        evaluations=one.evaluations,
        proved=kind in ("exact", "certified") or better,
        **several,
    )


def _delta(setting: Setting, indicator: float) -> float:
    """All deltas of one record, summed: that is a valid one."""
    return min(sum(float(one.mechanism.delta) for one in setting.perturbations) + indicator, 1.0)


def _privacy_notes(chosen: Sequence[Setting], features: int, budget: str) -> list[str]:
    notes = []
    if features > 1 and budget == "each":
        notes.append(
            f"epsilon is per sensitive feature: a record of {features} of them is protected by {features} epsilon in total"
        )
    loose = sorted({setting.mechanism for setting in chosen if _delta(setting, 0.0) > 0})
    if loose:
        notes.append(f"{', '.join(loose)}: (epsilon, delta) only, not pure epsilon-LDP; delta is in every row")
    return notes


@dataclass(frozen=True)
class Best:
    """The mechanism with the largest ρ at one epsilon. `certain` when no other interval reaches into its own."""

    row: UtilityRow
    certain: bool
    rivals: tuple[str, ...]


def best_mechanism(report: UtilityReport, epsilon: float) -> Best:
    """Compare the mechanisms of a report at one epsilon; certain only if the report's intervals hold together."""
    rows = [row for row in report.rows if abs(row.epsilon - epsilon) < 1e-12]
    if not rows:
        raise InvalidParameter("epsilon must be one of those in the report")
    best = max(rows, key=lambda row: row.value)
    rivals = tuple(row.mechanism for row in rows if row is not best and row.high >= best.low)
    sure = report.simultaneous or all(row.kind != "estimate" for row in rows)
    return Best(best, sure and not rivals, rivals)


@dataclass(frozen=True)
class SmallestEpsilon:
    """The least epsilon of a grid at which ρ certainly reaches the target; None when none does."""

    epsilon: float | None
    row: UtilityRow | None
    below: UtilityRow | None
    step: float
    confidence: float


def smallest_epsilon(
    question: Study,
    mechanism: str,
    target: float,
    *,
    low: float = 0.1,
    high: float = 10.0,
    steps: int = 16,
    rounds: int = 2,
    confidence: float = 0.95,
    **options: Any,
) -> SmallestEpsilon:
    """Narrow down epsilon on ever finer grids; every number of the answer holds with the stated confidence.

    ρ need not rise with epsilon for every model, so the answer is about the grid: ρ reaches the target at
    `epsilon`, and is not shown to do so one `step` below. Each round spends its share of the allowed error.
    """
    if not 0 < target <= 1 or not 0 < low < high or steps < 2 or rounds < 1:
        raise InvalidParameter("target must lie in (0, 1], low below high, and there must be at least 2 steps and 1 round")
    if not options.get("sample") and question.model.repeatable and is_exact_model(question.model.source):
        return _bisected(question, mechanism, target, low, high, (high - low) / steps**rounds, options)
    error = (1 - confidence) / rounds
    answer: SmallestEpsilon | None = None
    for _ in range(rounds):
        width = (high - low) / steps
        grid = [round(low + width * i, 9) for i in range(steps + 1)]
        rows = quantify(question, [mechanism], grid, confidence=1 - error, simultaneous=True, prove=False, **options).curve(
            mechanism
        )
        first = next((i for i, row in enumerate(rows) if row.lower >= target), None)
        if first is None:
            return answer or SmallestEpsilon(None, None, rows[-1], width, confidence)
        answer = SmallestEpsilon(rows[first].epsilon, rows[first], rows[first - 1] if first else None, width, confidence)
        if not first:
            break
        low, high = grid[first - 1], grid[first]
    assert answer is not None
    return answer


def _bisected(
    question: Study, mechanism: str, target: float, low: float, high: float, step: float, options: dict[str, Any]
) -> SmallestEpsilon:
    """Halve the range: ρ is computed, so both ends are certain."""

    def at(epsilon: float) -> UtilityRow:
        return quantify(question, [mechanism], [round(epsilon, 9)], **options).rows[0]

    top, bottom = at(high), at(low)
    if top.lower < target:
        return SmallestEpsilon(None, None, top, step, 1.0)
    if bottom.lower >= target:
        return SmallestEpsilon(low, bottom, None, step, 1.0)
    while high - low > step:
        middle = (low + high) / 2
        row = at(middle)
        if row.lower >= target:
            high, top = middle, row
        else:
            low, bottom = middle, row
    return SmallestEpsilon(top.epsilon, top, bottom, step, 1.0)


@dataclass(frozen=True)
class FeatureCost:
    """ρ when only this feature is hidden, and when all the others are."""

    feature: str
    alone: UtilityRow
    without: UtilityRow | None

    @property
    def cost(self) -> float:
        """How often hiding this feature alone changes the answer."""
        return 1 - self.alone.value


def feature_costs(question: Study, mechanism: str, epsilon: EpsilonLike, **options: Any) -> list[FeatureCost]:
    """What each sensitive feature costs, the most expensive first. `epsilon` is that of every feature."""
    costs = []
    count = len(question.features)
    for i in range(count):
        alone = quantify(question.only([i]), [mechanism], [epsilon], prove=False, **options).rows[0]
        others = [j for j in range(count) if j != i]
        without = quantify(question.only(others), [mechanism], [epsilon], prove=False, **options).rows[0] if others else None
        costs.append(FeatureCost(question.names[i], alone, without))
    return sorted(costs, key=lambda cost: -cost.cost)
