"""Events that could tell two inputs apart: reports are put into cells, and unions of cells are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Floats
from deniable.privacy.auditing.bounds import delta_below, epsilon_below
from deniable.privacy.auditing.fields import Table

Codes = NDArray[np.intp]

FEW_CELLS = 16


@dataclass(frozen=True)
class Feature:
    """A public way to look at a report: a cell number below `cells`.

    `trials` names the reports that are looked at, where it is not every report by itself.
    """

    name: str
    encode: Callable[[Table], Codes]
    cells: int
    trials: Callable[[Table], NDArray[np.intp]] | None = None

    def places(self, table: Table) -> NDArray[np.intp]:
        """The test value behind each code."""
        return table.places if self.trials is None else table.places[self.trials(table)]


@dataclass(frozen=True)
class Event:
    """A set of cells of one feature."""

    feature: Feature
    accepted: NDArray[np.bool_]

    def counts(self, table: Table, inputs: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For every test value, how many reports lie in the event, and how many there are."""
        return self.among(histograms(self.feature, table, inputs))

    def among(self, counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The same from reports per test value and cell."""
        return counts[:, self.accepted].sum(axis=1), counts.sum(axis=1)

    @property
    def words(self) -> str:
        """The feature, and how many of its cells are in the event."""
        return f"{self.feature.name}: {int(self.accepted.sum())} of {self.feature.cells} cells"


@dataclass(frozen=True)
class Candidate:
    """An event that is more likely from input number `likely` than from number `unlikely`, and how sure that looked."""

    likely: int
    unlikely: int
    event: Event
    score: float


def histograms(feature: Feature, table: Table, inputs: int) -> NDArray[np.int64]:
    """Reports per test value and cell."""
    codes = feature.places(table) * feature.cells + feature.encode(table)
    return np.bincount(codes, minlength=inputs * feature.cells).reshape(inputs, feature.cells)


def log_ratio(a: Any, b: Any) -> tuple[Floats, float]:
    """Smoothed log likelihood ratios of cells, and how much they tell."""
    p, q = (a + 0.5) / (a.sum() + 0.5 * len(a)), (b + 0.5) / (b.sum() + 0.5 * len(b))
    ratio = np.log(p / q)
    return ratio, float(((p - q) * ratio).sum())


def contrast(counts: NDArray[Any]) -> Floats:
    """How unlike the rows of each table are: chi-square in units of its spread by chance. Tables are the last two axes."""
    counts = np.asarray(counts, np.float64)
    cells, rows = counts.sum(axis=-2, keepdims=True), counts.sum(axis=-1, keepdims=True)
    expected = rows * cells / np.maximum(rows.sum(axis=-2, keepdims=True), 1)
    chi = np.where(expected > 0, (counts - expected) ** 2 / np.maximum(expected, 1e-9), 0.0).sum(axis=(-2, -1))
    freedom = np.maximum((counts.shape[-2] - 1) * ((cells > 0).sum(axis=(-2, -1)) - 1), 1)
    return np.asarray((chi - freedom) / np.sqrt(2 * freedom), np.float64)


def most_telling(features: list[Feature], fit: Table, inputs: int, most: int) -> list[Feature]:
    """The features in which the test values look least alike."""
    if len(features) <= most:
        return features
    scores = [float(contrast(histograms(feature, fit, inputs))) for feature in features]
    return [features[place] for place in np.argsort(scores)[::-1][:most]]


def best_union(
    a: Any, b: Any, *, delta: float, epsilon: float | None, ranked: Floats | None = None, draws: int = 0
) -> tuple[float, NDArray[np.bool_]]:
    """The union of cells that shows most: of epsilon, or of delta beside a given epsilon.

    Cells are added in the order of their likelihood ratio, so some prefix is the best union; one that holds every
    report shows nothing and is left out. With many cells the order should come from other draws (`ranked`): in its own counts,
    chance alone would put the luckiest cells first.

    The error of 1 in n draws serves this choice only, the test has its own and fresh draws. A fixed small one would prefer,
    of few draws, an event that surely shows nothing; a fixed large one, of many, the luckiest cells. `draws` is n where the
    counts are of fewer trials than others they are compared with.
    """
    order = np.argsort(-(log_ratio(a, b)[0] if ranked is None or len(a) <= FEW_CELLS else ranked), kind="stable")
    hits, other = np.cumsum(a[order]), np.cumsum(b[order])
    n, m = int(a.sum()), int(b.sum())
    counts, error = (hits, n, other, m), 1 / max(n, m, draws, 2)
    shown = epsilon_below(*counts, error, delta) if epsilon is None else delta_below(*counts, error, epsilon)
    shown[(hits == n) & (other == m)] = -np.inf
    best = int(np.argmax(shown))
    accepted = np.zeros(len(a), np.bool_)
    accepted[order[: best + 1]] = True
    return float(shown[best]), accepted
