"""The search: families propose events on one half of the draws, the other half compares them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.privacy.auditing.events import Candidate, Event, Feature, best_union, histograms, log_ratio
from deniable.privacy.auditing.families import (
    conditions,
    digests,
    orders,
    parities,
    relations,
    residues,
    sequence,
    sums,
    units,
    values,
    windows,
)
from deniable.privacy.auditing.families import learned as classifier
from deniable.privacy.auditing.fields import Table
from deniable.privacy.auditing.measures import measures
from deniable.privacy.auditing.verdict import UNSEEN, unseen

Support = Callable[[NDArray[Any], Any], NDArray[np.bool_]]
Family = Callable[[Table, int], Iterator[Feature]]
Levels = Sequence[Sequence[float | None]]
"""What is claimed for every ordered pair of inputs."""
Counted = tuple[Feature, NDArray[np.int64], NDArray[np.int64]]

MOST_COMPARED = 24
MOST_PAIRS = 15
SURELY = 1.1
MOST_ROWS = 1 << 15
"""Reports from which the families for long reports propose: more of them cost time and propose nothing better."""
SINGLE: tuple[Family, ...] = (units.propose, parities.propose)
SEVERAL: tuple[Family, ...] = (residues.propose, sums.propose, relations.propose, orders.propose, conditions.propose)
IN_A_ROW: tuple[Family, ...] = (sequence.propose, windows.propose)


@dataclass
class Best:
    """The best candidates so far: for epsilon, and for delta beside the claimed epsilon."""

    epsilon: float
    delta: float
    levels: Levels | None = None
    goals: list[Candidate | None] = field(default_factory=lambda: [None, None])

    def claim(self, likely: int, unlikely: int) -> float | None:
        """What is claimed for a pair of inputs; None where nothing is."""
        return self.epsilon if self.levels is None else self.levels[likely][unlikely]

    def offer(self, pair: tuple[int, int], counted: Counted, draws: int) -> None:
        """Compare the best unions of cells of a feature, in both directions, with what is held."""
        (i, j), (feature, fitted, compared) = pair, counted
        ranked = log_ratio(fitted[i], fitted[j])[0]
        for likely, unlikely, order in ((i, j, ranked), (j, i, -ranked)):
            claim = self.claim(likely, unlikely)
            if claim is None:
                continue
            for goal, beside in enumerate((None, claim)):
                score, accepted = best_union(
                    compared[likely], compared[unlikely], delta=self.delta, epsilon=beside, ranked=order, draws=draws
                )
                held = self.goals[goal]
                # Pairs with levels of their own are compared by what lies beyond them.
                over = (
                    0.0 if held is None or goal or self.levels is None else claim - (self.claim(held.likely, held.unlikely) or 0.0)
                )
                if held is None or score - over > held.score:
                    self.goals[goal] = Candidate(likely, unlikely, Event(feature, accepted), score)

    @property
    def pair(self) -> tuple[Candidate, Candidate]:
        """Both, once something was offered."""
        first, second = self.goals
        assert first is not None
        assert second is not None
        return first, second

    @property
    def enough(self) -> bool:
        """Do the draws of the search already contradict the claim, by more than chance would?"""
        first, second = self.pair
        claim = self.claim(first.likely, first.unlikely) or 0.0
        return first.score > SURELY * claim or second.score > self.delta + SURELY - 1


def search(
    fit: Table,
    select: Table,
    inputs: list[Any],
    *,
    epsilon: float,
    delta: float,
    support: Support | None = None,
    learned: bool = True,
    levels: Levels | None = None,
) -> tuple[Candidate, Candidate]:
    """The most telling pair and event for epsilon, and the one for delta. `fit` proposes events, `select` compares them."""
    count, draws = len(inputs), len(select) // len(inputs)
    single_fields = values.alone(fit) or [values.of_measure(values.WHOLE, fit)]  # where nothing varies, something is tested
    alone = [_counted(feature, fit, select, count) for feature in single_fields]
    shared = [*alone, *(_counted(feature, fit, select, count) for feature in values.propose(fit, count))]
    part = fit.rows(slice(0, MOST_ROWS)) if len(fit) > MOST_ROWS else fit
    more = needs_more(part)
    single = [feature for family in SINGLE for feature in family(part, count)] if more else []
    several = (
        [feature for family in SEVERAL for feature in family(part, count)] if more else [*conditions.propose_phases(fit, count)]
    )
    in_a_row = [feature for family in IN_A_ROW for feature in family(part, count)]
    inside = [_counted(feature, fit, select, count) for feature in single]
    others = [*inside, *(_counted(feature, fit, select, count) for feature in (*several, *in_a_row))]
    best = Best(epsilon, delta, levels)
    every = levels is not None
    worth = {id(one): _pairs(one[1], every=every) for one in (*shared, *others)}
    overall = _pairs(*(fitted for _, fitted, _ in (*alone, *inside)), every=every)
    for i, j in combinations(range(count), 2):
        # With many fields only those are compared that looked different in the other half.
        telling = sorted((one for one in shared if (i, j) in worth[id(one)]), key=lambda one: -log_ratio(one[1][i], one[1][j])[1])
        for_two: list[Feature] = []
        if (i, j) in overall:
            own = [(feature, fitted[i], fitted[j]) for feature, fitted, _ in (*alone, *inside)]
            for_two += values.for_pair(fit.rows(fit.places == i), fit.rows(fit.places == j), own)
        if support is not None:
            for_two.append(_supported(support, inputs[i], inputs[j]))
        compared = [*telling[:MOST_COMPARED], *(one for one in others if (i, j) in worth[id(one)])]
        for counted in (*compared, *(_counted(feature, fit, select, count) for feature in for_two)):
            best.offer((i, j), counted, draws)
    if more and not best.enough and unseen(part.whole()) > UNSEEN:
        proposed = list(digests.propose(part, inputs))
        if learned and classifier.available():
            proposed += classifier.propose(part, count)
        for feature in proposed:
            counted = _counted(feature, fit, select, count)
            for pair in _pairs(counted[1]):
                best.offer(pair, counted, draws)
    return best.pair


def needs_more(fit: Table) -> bool:
    """Is there anything that single values do not show? One field of few values has nothing else, if it is not a float."""
    if len(measures(fit)) == 0:
        return False
    if any(isinstance(column, np.ndarray) and column.dtype.kind == "f" for column in fit.columns.values()):
        return True  # the sign of zero, and what is not a number
    return len(measures(fit)) > 1 or len(np.unique(fit.whole())) > values.FEW_VALUES


def _pairs(*counts: NDArray[np.int64], every: bool = False) -> set[tuple[int, int]]:
    """The pairs of test values that look least alike; all of them when there are not many."""
    inputs = len(counts[0]) if counts else 0
    pairs = list(combinations(range(inputs), 2))
    if every or len(pairs) <= MOST_PAIRS:
        return set(pairs)
    total = np.zeros((inputs, inputs))
    for table in counts:
        shares = (table + 0.5) / (table.sum(axis=1, keepdims=True) + 0.5 * table.shape[1])
        logs = np.log(shares)
        own, mixed = (shares * logs).sum(axis=1), shares @ logs.T
        total += own[:, None] + own - mixed - mixed.T
    return set(sorted(pairs, key=lambda pair: -total[pair])[:MOST_PAIRS])


def _counted(feature: Feature, fit: Table, select: Table, inputs: int) -> Counted:
    return feature, histograms(feature, fit, inputs), histograms(feature, select, inputs)


def _supported(support: Support, first: Any, second: Any) -> Feature:
    """Which of the two inputs does the report speak for?"""

    def encode(table: Table) -> NDArray[np.intp]:
        reports = table.given if table.given is not None else table.numbers()
        return (2 * support(reports, first) + support(reports, second)).astype(np.intp)

    return Feature("the input a report speaks for", encode, 4)
