"""Events that could tell two inputs apart: reports are put into cells, and unions of cells are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.auditing.bounds import delta_below, epsilon_below

Reports = NDArray[Any]
Codes = NDArray[np.intp]
Support = Callable[[Reports, Any], NDArray[np.bool_]]

MOST_CELLS = 4096
BINS = 512
MOST_COLUMNS = 4096
FEW_COLUMNS = 8
MOST_COMPARED = 24
FEW_CELLS = 16


@dataclass(frozen=True)
class Feature:
    """A public way to look at a report: a cell number below `cells`."""

    name: str
    encode: Callable[[Reports], Codes]
    cells: int


@dataclass(frozen=True)
class Event:
    """A set of cells of one feature."""

    feature: Feature
    accepted: NDArray[np.bool_]

    def hits(self, reports: Reports) -> int:
        """How many reports lie in the event."""
        return int(np.count_nonzero(self.accepted[self.feature.encode(reports)]))

    @property
    def words(self) -> str:
        """The event, shortly."""
        return f"{self.feature.name}: {int(self.accepted.sum())} of {self.feature.cells} cells"


@dataclass(frozen=True)
class Candidate:
    """An event that is more likely from input number `likely` than from number `unlikely`, and how sure that looked."""

    likely: int
    unlikely: int
    event: Event
    score: float


def distinct(name: str, seen: Reports, column: int | None = None) -> Feature:
    """One cell per value seen, and one for everything else; ranges of values when there are too many."""
    values = np.unique(seen)
    if len(values) > MOST_CELLS and values.dtype.kind in "biuf":
        cuts = np.unique(np.quantile(seen.astype(np.float64), np.linspace(0, 1, BINS + 1)[1:-1]))
        return Feature(name, lambda reports: np.searchsorted(cuts, _column(reports, column), side="right"), len(cuts) + 1)
    values = values[:MOST_CELLS]
    if values.dtype.kind in "biu" and int(values[0]) >= 0 and int(values[-1]) < 1 << 16:
        table = np.full(int(values[-1]) + 2, len(values))
        table[values.astype(np.intp)] = np.arange(len(values))
        return Feature(
            name, lambda reports: table[np.clip(_column(reports, column).astype(np.intp), 0, len(table) - 1)], len(values) + 1
        )

    def encode(reports: Reports) -> Codes:
        found = _column(reports, column)
        place = np.searchsorted(values, found)
        inside = np.minimum(place, len(values) - 1)
        return np.where(values[inside] == found, inside, len(values))

    return Feature(name, encode, len(values) + 1)


def _ranges(name: str, seen: Reports) -> Iterator[Feature]:
    """A few ranges of ordered reports: unions of many small cells would be chosen by chance."""
    values = seen.astype(np.float64)
    for few in (4, 16, 64):
        cuts = np.unique(np.quantile(values, np.linspace(0, 1, few + 1)[1:-1]))
        yield Feature(f"{name}, in {len(cuts) + 1} ranges", partial(_above, cuts), len(cuts) + 1)


def _above(cuts: NDArray[np.float64], values: Reports) -> Codes:
    """How many of the cuts each value is not below."""
    return np.searchsorted(cuts, values, side="right")


def _column(reports: Reports, column: int | None) -> Reports:
    return reports if column is None else reports[:, column]


def lowest_bit(reports: Reports) -> Codes:
    """The exponent of a double's lowest set bit together with its size, as a code: floats from different sums differ here."""
    with np.errstate(all="ignore"):
        fraction, exponent = np.frexp(np.asarray(reports, np.float64))
    whole = np.abs(np.nan_to_num(fraction * 2.0**53, posinf=0, neginf=0)).astype(np.int64)
    trailing = np.where(whole > 0, np.log2(np.maximum(whole & -whole, 1)), 53).astype(np.intp)
    grid = np.clip(exponent - 53 + trailing + 80, 0, 95)  # the finest power of two the number is a multiple of
    size = np.clip(exponent + 12, 0, 15)
    return np.asarray(grid * 16 + size, np.intp)


def _lowest_bit_of(column: int, reports: Reports) -> Codes:
    return lowest_bit(reports[:, column])


def seen_only(name: str, first: Reports, second: Reports) -> Feature:
    """Was the report seen from the first input, from the second, from both or from neither?"""
    one, two = np.unique(first), np.unique(second)
    return Feature(name, lambda reports: (2 * np.isin(reports, one) + np.isin(reports, two)).astype(np.intp), 4)


def shared_features(pooled: Reports) -> Iterator[Feature]:
    """Features that do not depend on the pair of inputs."""
    if pooled.ndim == 1:
        yield distinct("the report", pooled)
        if pooled.dtype.kind in "biuf":
            yield from _ranges("the report", pooled)
        if pooled.dtype.kind == "f" and not np.array_equal(pooled, np.round(pooled)):
            yield Feature("the lowest bit of the report", lowest_bit, 96 * 16)
        return
    columns = pooled.shape[1]
    if columns <= MOST_COLUMNS:
        for column in range(columns):
            yield distinct(f"coordinate {column}", pooled[:, column], column)
            if pooled.dtype.kind == "f" and columns <= FEW_COLUMNS:
                yield Feature(f"the lowest bit of coordinate {column}", partial(_lowest_bit_of, column), 96 * 16)


def pair_features(first: Reports, second: Reports, histograms: list[tuple[Feature, Any, Any]]) -> Iterator[Feature]:
    """Features made for two inputs, from draws that are used for nothing else."""
    if first.ndim == 1:
        if first.dtype.kind in "iufU" and len(np.unique(first)) > MOST_CELLS:
            yield seen_only("reports seen before", first, second)
        return
    columns = [(feature, *_log_ratio(a, b)) for feature, a, b in histograms if feature.name.startswith("coordinate")]
    if not columns:
        return
    scores = [(feature.encode, ratio) for feature, ratio, _ in columns]
    order = np.argsort([-spread for _, _, spread in columns])[:FEW_COLUMNS]

    def total(reports: Reports) -> NDArray[np.float64]:
        found = np.zeros(len(reports))
        for encode, ratio in scores:
            found += ratio[encode(reports)]
        return np.round(found, 9)

    sums = distinct("all coordinates together", np.concatenate([total(first), total(second)]))
    yield Feature(sums.name, lambda reports: sums.encode(total(reports)), sums.cells)
    for few in (2, 4, FEW_COLUMNS):
        telling = [columns[int(j)][:2] for j in order[:few]]
        yield Feature(f"the {len(telling)} most telling coordinates", _pattern(telling), 1 << len(telling))


def _pattern(telling: list[tuple[Feature, NDArray[np.float64]]]) -> Callable[[Reports], Codes]:
    """Which of these coordinates speak for the first of two inputs, as binary digits."""

    def encode(reports: Reports) -> Codes:
        code = np.zeros(len(reports), np.intp)
        for feature, ratio in telling:
            code = 2 * code + (ratio > 0)[feature.encode(reports)]
        return code

    return encode


def _log_ratio(a: Any, b: Any) -> tuple[NDArray[np.float64], float]:
    """Smoothed log likelihood ratios of cells, and how much they tell."""
    p, q = (a + 0.5) / (a.sum() + 0.5 * len(a)), (b + 0.5) / (b.sum() + 0.5 * len(b))
    ratio = np.log(p / q)
    return ratio, float(((p - q) * ratio).sum())


def histogram(feature: Feature, reports: Reports) -> NDArray[np.int64]:
    """Reports per cell."""
    return np.bincount(feature.encode(reports), minlength=feature.cells)


def best_union(
    a: Any, b: Any, *, delta: float, epsilon: float | None, ranked: NDArray[np.float64] | None = None
) -> tuple[float, NDArray[np.bool_]]:
    """The union of cells that shows most: of epsilon, or of delta beside a given epsilon.

    Cells are added in the order of their likelihood ratio, so some prefix is the best union; one that holds every
    report shows nothing and is left out. With many cells the order should come from other draws (`ranked`): in its own counts,
    chance alone would put the luckiest cells first.

    The error of 1 in n draws serves this choice only, the test has its own and fresh draws. A fixed small one would prefer,
    of few draws, an event that surely shows nothing; a fixed large one, of many, the luckiest cells.
    """
    order = np.argsort(-(_log_ratio(a, b)[0] if ranked is None or len(a) <= FEW_CELLS else ranked), kind="stable")
    hits, other = np.cumsum(a[order]), np.cumsum(b[order])
    n, m = int(a.sum()), int(b.sum())
    counts, error = (hits, n, other, m), 1 / max(n, m, 2)
    shown = epsilon_below(*counts, error, delta) if epsilon is None else delta_below(*counts, error, epsilon)
    shown[(hits == n) & (other == m)] = -np.inf
    best = int(np.argmax(shown))
    accepted = np.zeros(len(a), np.bool_)
    accepted[order[: best + 1]] = True
    return float(shown[best]), accepted


def search(
    fit: list[Reports],
    select: list[Reports],
    inputs: list[Any],
    *,
    epsilon: float,
    delta: float,
    support: Support | None = None,
) -> tuple[Candidate, Candidate]:
    """The most telling pair and event for epsilon, and the one for delta. `fit` makes the features, `select` compares them."""
    shared = [
        (feature, [histogram(feature, reports) for reports in fit], [histogram(feature, reports) for reports in select])
        for feature in shared_features(np.concatenate(fit))
    ]
    best: list[Candidate | None] = [None, None]
    for i, j in combinations(range(len(inputs)), 2):
        # With many coordinates only those are compared that looked different in the other half.
        telling = sorted(shared, key=lambda found: -_log_ratio(found[1][i], found[1][j])[1])[:MOST_COMPARED]
        counts = [(feature, chosen[i], chosen[j], _log_ratio(made[i], made[j])[0]) for feature, made, chosen in telling]
        own = list(pair_features(fit[i], fit[j], [(feature, made[i], made[j]) for feature, made, _ in shared]))
        if support is not None:
            own.append(_supported(support, inputs[i], inputs[j]))
        for feature in own:
            ranked = _log_ratio(histogram(feature, fit[i]), histogram(feature, fit[j]))[0]
            counts.append((feature, histogram(feature, select[i]), histogram(feature, select[j]), ranked))
        for feature, a, b, ranked in counts:
            for likely, unlikely, one, other, order in ((i, j, a, b, ranked), (j, i, b, a, -ranked)):
                for goal, beside in enumerate((None, epsilon)):
                    score, accepted = best_union(one, other, delta=delta, epsilon=beside, ranked=order)
                    found = best[goal]
                    if found is None or score > found.score:
                        best[goal] = Candidate(likely, unlikely, Event(feature, accepted), score)
    assert best[0] is not None
    assert best[1] is not None
    return best[0], best[1]


def _supported(support: Support, first: Any, second: Any) -> Feature:
    """Which of the two inputs does the report speak for?"""
    return Feature(
        "the input a report speaks for",
        lambda reports: (2 * support(reports, first) + support(reports, second)).astype(np.intp),
        4,
    )
