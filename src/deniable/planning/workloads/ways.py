"""Linear questions in the planner: the designed table beside the mechanisms and trees that people use for them.

The error is the root of the mean squared error of an answer, given the users' data, for people spread evenly. Everything
follows from the covariance C of unbiased shares: the squared errors add up to tr(C WᵀW).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from deniable.batch import Accumulator, Floats, Keystream, randomize_many
from deniable.core import Categories, Epsilon, Interval, Mechanism, Record, make_mechanism, mechanisms_for
from deniable.errors import NotSupported
from deniable.estimators import (
    HierarchicalHistogram,
    consistent,
    influence,
    support_counts,
    support_law,
    tree_sums,
)
from deniable.planning.fakes import part_of, supported
from deniable.planning.frequency import attempt
from deniable.planning.question import Question
from deniable.planning.trials import each_sum, rounds
from deniable.planning.way import LeftOut, Prediction, Way, normal
from deniable.planning.workloads.design import WorkloadDesign, columns, design_workload
from deniable.planning.workloads.marginal_ways import bits, marginal_ways, ways_of
from deniable.planning.workloads.rows import MOST_ENUMERATED
from deniable.planning.workloads.structured import best_hierarchy, hierarchy_covariance, level_variances
from deniable.planning.workloads.wavelets import wavelet_ways
from deniable.planning.workloads.workload import Workload, workload
from deniable.privacy import Gain

FAN_OUTS = (2, 4, 8, 16, 32)
FEWEST_LEAVES = 8
ORACLES = ("hadamard", "oue")
QUICK = 10
"""Up to this many values a design takes a moment; more are designed only where the answer is wanted."""
MOST_DESIGNED = 64
"""Up to this many values a design without a bound takes seconds."""
PLANNED, SEARCHED = 1e-4, 5e-2
MOST_ENTRIES = 1 << 22
Losses = Callable[[int, int, Keystream], Floats]


@lru_cache(maxsize=32)
def asked(name: str, size: int, attributes: tuple[int, ...] | None = None) -> Workload:
    """The workload of a question."""
    return workload(name, size, attributes=attributes)


@lru_cache(maxsize=64)
def designed(name: str, size: int, epsilon: Epsilon, attributes: tuple[int, ...] | None = None) -> WorkloadDesign:
    """The design, kept: a plan asks for the mechanism and for the bound, which few values have."""
    few = size <= MOST_ENUMERATED
    return design_workload(asked(name, size, attributes), epsilon, tolerance=PLANNED if few else SEARCHED, bounded=few)


def designable(questions: Workload, slow: bool) -> str:
    """Why no table is designed for a plan; nothing where one is.

    >>> designable(workload("histogram", 64), slow=True)
    'for histograms the best table is that of subsets'
    """
    most = MOST_DESIGNED if slow else QUICK
    if questions.size <= min(most, MOST_ENUMERATED):
        return ""
    if questions.size > most:
        return f"plans design for at most {most} values; see `deniable design --workload`"
    if questions.attributes is not None:
        return f"sets of attributes are searched instead where there are more than {MOST_ENUMERATED} values"
    if questions.name == "histogram":
        return "for histograms the best table is that of subsets"
    return ""


def workload_ways(question: Question, epsilon: Epsilon, *, slow: bool = True) -> Iterator[Way | LeftOut]:
    """Every way to ask for the answers at this epsilon, with the names that the values have."""
    for way in _numbered_ways(question, epsilon, slow):
        if isinstance(way, Way) and isinstance(way.asked, Mechanism) and isinstance(way.asked.domain, Categories):
            yield replace(way, asked=replace(way.asked, domain=question.domain))
        else:
            yield way


def _numbered_ways(question: Question, epsilon: Epsilon, slow: bool) -> Iterator[Way | LeftOut]:
    """The same for values with numbers: what is worked out does not depend on their names."""
    each = question.each(epsilon)
    if question.record is not None:
        yield from marginal_ways(question.record, ways_of(str(question.workload), len(question.record.fields)), each)
        return
    questions = _read(question)
    size = questions.size
    why_not = designable(questions, slow)
    yield LeftOut("extremal", why_not) if why_not else _design(questions, designed(questions.name, size, each))
    for name in (kind.name for kind in mechanisms_for("frequency", Categories(size))):
        make = partial(make_mechanism, name, domain=Categories(size), epsilon=each)
        yield attempt(name, make, partial(_categories, questions))
    record = None if questions.attributes is None or questions.name == "marginals:all" else bits(size)
    if record is not None:
        yield from marginal_ways(record, ways_of(questions.name, len(record.fields)), each)
    if size > FEWEST_LEAVES:
        yield from _hierarchy(questions, each)
    if size > 2 and size & (size - 1) == 0:
        yield from wavelet_ways(questions, each)
    for fan_out in FAN_OUTS:
        levels = round(math.log(size, fan_out))
        if levels > 1 and fan_out**levels == size:
            for oracle in ORACLES:
                yield _tree(HierarchicalHistogram(Interval(0, size), each, fan_out, levels, oracle), questions)  # type: ignore[arg-type]


def least_error(question: Question, epsilon: Epsilon, n: int) -> float | None:
    """What no mechanism can beat, in the planner's units; None where it is not worked out."""
    record = question.record
    if (question.domain if record is None else record).size > MOST_ENUMERATED:
        return None
    questions = _read(question) if record is None else asked(str(question.workload), record.size, _sizes(record))
    bound = designed(questions.name, questions.size, epsilon, None if record is None else _sizes(record)).lower_bound
    return None if bound is None else math.sqrt(bound / questions.questions / n)


def _sizes(record: Record) -> tuple[int, ...]:
    return tuple(domain.size for domain in record.fields.values())


def _read(question: Question) -> Workload:
    assert question.workload is not None
    assert isinstance(question.domain, Categories)
    return asked(question.workload, question.domain.size)


def _added(questions: Workload, covariance: Floats) -> float:
    """tr(C WᵀW) over the number of questions."""
    return float((covariance * questions.products).sum()) * float(questions.unit) ** 2 / questions.questions


def _way(
    name: str, inner: str | None, mechanism: object, estimator: str, once: float, losses: Losses, gain: Callable[[int], Gain]
) -> Way:
    def predict(n: int) -> Prediction:
        return normal(math.sqrt(max(once, 0.0) / n))

    return Way(name=name, inner=inner, asked=mechanism, estimator=estimator, predict=predict, losses=losses, gain=gain)


def _design(questions: Workload, design: WorkloadDesign) -> Way:
    mechanism = design.mechanism
    assert mechanism is not None
    law = np.array(columns(design.channel), np.float64).T
    law /= law.sum(axis=1, keepdims=True)
    weighed = law / law.mean(axis=0)
    inverse = np.linalg.solve(weighed @ law.T, weighed)

    def losses(n: int, runs: int, stream: Keystream) -> Floats:
        return _measured(questions, mechanism, n, runs, stream, lambda sums: inverse @ sums.sums / n)

    once = design.exact.mean / questions.questions
    gain = partial(_gain, questions, inverse)
    return _way(mechanism.name, "designed", mechanism, "answers(reports, questions)", once, losses, gain)


def _categories(questions: Workload, mechanism: Mechanism) -> Way:
    law, size = support_law(mechanism), questions.size
    # Shares must add up to 1: what is missing is spread evenly, which keeps them unbiased.
    even = np.eye(size) - 1 / size
    covariance = even @ law.count_noise(np.full(size, 1 / size), True) @ even

    def shares(sums: Accumulator) -> Floats:
        raw = (support_counts(sums) / sums.n - law.q) / law.gap
        return np.asarray(raw + (1 - raw.sum()) / size)

    def losses(n: int, runs: int, stream: Keystream) -> Floats:
        return _measured(questions, mechanism, n, runs, stream, shares)

    def gain(n: int) -> Gain:
        matrix, exact = _shown(questions)
        moved, reached = supported(matrix @ even, law, mechanism)
        return Gain("one answer", part_of(n) * float(np.abs(moved).max()), float(np.abs(moved).max()), exact and reached)

    estimator = "answers(reports, questions)"
    return _way(mechanism.name, None, mechanism, estimator, _added(questions, covariance), losses, gain)


def _hierarchy(questions: Workload, epsilon: Epsilon) -> Iterator[Way | LeftOut]:
    """The tree with the best fan-outs and shares of people."""
    try:
        mechanism = best_hierarchy(questions, epsilon).mechanism
    except NotSupported as why:
        yield LeftOut("hierarchy", str(why))
        return
    covariance = hierarchy_covariance(mechanism)

    def losses(n: int, runs: int, stream: Keystream) -> Floats:
        people, truth = _people(n, questions.size)
        each = np.empty(runs)
        for run in range(runs):
            sums = tree_sums(randomize_many(mechanism, people, stream))
            leaves = consistent(sums.node_shares(), sums.node_variances(), mechanism.fan_outs)[-1]
            each[run] = _loss(questions, leaves - truth)
        return each

    def gain(n: int) -> Gain:
        assert mechanism.shares is not None
        matrix, _ = _shown(questions)
        most, moved = 0.0, 0.0
        parts = list(mechanism.parts.values())
        asked = [share / sum(mechanism.shares) for share in mechanism.shares]
        pulls = influence(np.eye(questions.size), level_variances(mechanism), mechanism.fan_outs)
        for part, share, pull in zip(parts, asked, pulls, strict=True):
            reach = float(np.abs(supported(matrix @ pull, support_law(part), part)[0]).max())
            most, moved = max(most, reach), max(moved, part_of(n, 1 / share) * reach)
        return Gain("one answer", moved, most, False)

    inner = f"fan-outs {', '.join(map(str, mechanism.fan_outs))}"
    estimator = "tree_sums(reports).shares()"
    yield _way(mechanism.name, inner, mechanism, estimator, _added(questions, covariance), losses, gain)


def _tree(tree: HierarchicalHistogram, questions: Workload) -> Way:
    size, chances, covariance = questions.size, [], np.zeros((questions.size, questions.size))
    for mechanism in tree.mechanisms:
        law, nodes = support_law(mechanism), mechanism.domain.size
        chance = law.q + law.gap / nodes
        chances.append(tree.levels * chance * (1 - chance) / law.gap**2)
    pulls = influence(np.eye(size), chances, tree.fan_out)
    for mechanism, rows in zip(tree.mechanisms, pulls, strict=True):
        law, nodes = support_law(mechanism), mechanism.domain.size
        even = np.full(nodes, 1 / nodes)
        covariance += tree.levels * rows @ (law.count_noise(even, True) + np.diag(even) - 1 / nodes**2) @ rows.T
    # Who was asked at a level is part of it; which users there are is not.
    covariance -= np.eye(size) / size - 1 / size**2

    def losses(n: int, runs: int, stream: Keystream) -> Floats:
        people, truth = _people(n, size)
        each = np.empty(runs)
        for run in range(runs):
            sums = tree.accumulate(tree.randomize_many(people + 0.5, stream))
            leaves = consistent(sums.node_shares(), sums.node_variances(), tree.fan_out)[-1]
            each[run] = _loss(questions, leaves - truth)
        return each

    def gain(n: int) -> Gain:
        matrix, _ = _shown(questions)
        most = 0.0
        for mechanism, rows in zip(tree.mechanisms, pulls, strict=True):
            most = max(most, float(np.abs(supported(matrix @ rows, support_law(mechanism), mechanism)[0]).max()))
        return Gain("one answer", part_of(n, tree.levels) * most, most, False)

    inner = f"{tree.oracle}, fan-out {tree.fan_out}, {tree.levels} levels"
    estimator = "HierarchicalHistogram.accumulate(reports).shares()"
    return _way("hierarchical-histogram", inner, tree, estimator, _added(questions, covariance), losses, gain)


def _people(n: int, size: int) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], Floats]:
    people = np.arange(n) % size
    return people, np.bincount(people, minlength=size) / n


def _loss(questions: Workload, off: Floats) -> float:
    """The mean squared error of the answers, from that of the shares."""
    return float(off @ questions.products @ off) * float(questions.unit) ** 2 / questions.questions


def _measured(
    questions: Workload, mechanism: Mechanism, n: int, runs: int, stream: Keystream, shares: Callable[[Accumulator], Floats]
) -> Floats:
    people, truth = _people(n, questions.size)
    losses = []
    for count in rounds(n, runs):
        reports = randomize_many(mechanism, np.tile(people, count), stream)
        losses += [_loss(questions, shares(sums) - truth) for sums in each_sum(reports, n)]
    return np.array(losses)


def _shown(questions: Workload) -> tuple[Floats, bool]:
    """The questions themselves; of very many ranges the prefixes, two of which make a range."""
    if questions.questions * questions.size <= MOST_ENTRIES:
        return questions.answers, True
    if questions.name != "ranges":
        raise NotSupported("there are too many questions to work out what malicious users could do")
    return 2 * np.tril(np.ones((questions.size, questions.size))), False


def _gain(questions: Workload, inverse: Floats, n: int) -> Gain:
    matrix, exact = _shown(questions)
    moved = matrix @ inverse - matrix.mean(axis=1)[:, None]
    most = float(np.abs(moved).max())
    return Gain("one answer", part_of(n) * most, most, exact)
