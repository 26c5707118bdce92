"""Distributions judged by what will be shown: the intervals of the bins, or the distance of the fitted distribution.

half-width    the mean half-width of the 95 % intervals printed with a histogram of so many bins: of numbers those that hold
              for every shape of the distribution (`estimators.plausible`), of bins asked for as categories those of shares.
              Predicted from the law of the reports, for people spread evenly.
wasserstein   the expected Wasserstein-1 distance of the distribution, in the domain's units, averaged over people spread
              evenly, on one hill and on two. Of a fit it is measured with fixed coins: no formula is known for it.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
from scipy import stats
from scipy.special import ndtri

from deniable.batch import Floats, Keystream, randomize_many, uniform_below
from deniable.core import Bins, Circle, Interval, Mechanism
from deniable.errors import NotSupported
from deniable.estimators import STOP, binned, checked_bins, penalized_fit, shape, shares, simplex, support_law, valid_half_width
from deniable.planning.way import NORMAL, Prediction, Way
from deniable.privacy import FixedKeystream

LEVEL = 0.95
HILLS: tuple[tuple[tuple[float, float, float], ...], ...] = ((), ((1.0, 0.35, 0.1),), ((0.5, 0.2, 0.05), (0.5, 0.7, 0.08)))
"""Three made-up crowds: spread evenly, one hill, two hills; every hill has a weight, a middle and a width."""
TRIALS, DRAWS = 64, 32
"""Measured with fixed coins, of every crowd: fits, and pairs of draws of shares."""
CELLS, GROUPS = 256, 96
"""A fit that is only measured has fewer cells and tells fewer outputs apart: it is as far away, and done sooner."""
ONE_BY_ONE = 20_000
"""Of more people than this the counts are taken as normal."""
TRIED, MOST_TRIED = 8, 100_000
"""Surveys of a tree that are tried, and how many people they have at most; more of them err less by the square root."""
FEW_PEOPLE = 2_000
"""Surveys of bins by so many people are tried, too, where a bin's interval is wider than its share."""
FINE = 1 << 30
GRID = 512


def predicted_half_width(mechanism: Mechanism, bins: int, n: int) -> float:
    """Of the intervals of equal bins, from n people spread evenly.

    >>> from deniable.core import make_mechanism
    >>> round(predicted_half_width(make_mechanism("sw", epsilon=1), 12, 5000), 2)
    0.14
    """
    domain = mechanism.domain
    if isinstance(domain, Bins):
        noise = support_law(mechanism).count_noise(np.full(domain.size, n / domain.size), False)
        return float(shown_half(1 / domain.size, np.sqrt(noise) / n).mean())
    return valid_half_width(mechanism, bins, n)


def shown_half(share: float, deviation: Floats) -> Floats:
    """The mean half-width of a normal interval for a share: what lies below 0 or above 1 is not shown."""
    half = NORMAL * deviation
    beyond = np.zeros(len(deviation))
    for distance in (share, 1 - share):  # how far the end is
        away = (half - distance) / deviation
        beyond += deviation * (away * stats.norm.cdf(away) + stats.norm.pdf(away))
    return np.asarray(half - beyond / 2)


def simulated_half_width(mechanism: Mechanism, bins: int, values: Floats, stream: Keystream) -> float:
    """Of the intervals that are printed after people with these values have answered."""
    domain = mechanism.domain
    if isinstance(domain, Bins):
        low, high = shares(randomize_many(mechanism, numbers_of(domain, values), stream)).interval(LEVEL)
    else:
        assert isinstance(domain, Interval | Circle)
        place = float(domain.low) + float(domain.width) * values
        low, high = shape(randomize_many(mechanism, place, stream)).bins(bins).interval(LEVEL)
    return float((high - low).mean()) / 2


def numbers_of(domain: Bins, values: Floats) -> Floats:
    """Parts of the whole as numbers."""
    low, high = float(domain.edges[0]), float(domain.edges[-1])
    return np.clip(low + (high - low) * values, low, high)


def crowd(cells: int, hills: tuple[tuple[float, float, float], ...]) -> Floats:
    """The share of every cell."""
    if not hills:
        return np.full(cells, 1 / cells)
    at = (np.arange(cells) + 0.5) / cells
    heights = sum(weight / width * np.exp(-(((at - middle) / width) ** 2) / 2) for weight, middle, width in hills)
    return np.asarray(heights / np.sum(heights), np.float64)


def people_like(hills: tuple[tuple[float, float, float], ...], n: int, stream: Keystream) -> Floats:
    """n values in parts of the domain, spread as the crowd is."""
    below = np.concatenate([[0.0], np.cumsum(crowd(GRID, hills))])
    even = (np.arange(n) + (uniform_below(FINE, n, stream) + 0.5) / FINE) / n
    return np.asarray(np.interp(even, below, np.arange(GRID + 1) / GRID))


def distance(mechanism: Mechanism, values: Floats, stream: Keystream) -> float:
    """The Wasserstein-1 distance, in parts of the domain, of what is estimated from people with these values."""
    places = np.arange(GRID + 1) / GRID
    truth = np.searchsorted(np.sort(values), places, "right") / len(values)
    domain = mechanism.domain
    if isinstance(domain, Bins):
        estimated = shares(randomize_many(mechanism, numbers_of(domain, values), stream)).projected("simplex").value
        below = np.interp(places, np.arange(domain.size + 1) / domain.size, np.concatenate([[0.0], np.cumsum(estimated)]))
    else:
        assert isinstance(domain, Interval)
        reports = randomize_many(mechanism, float(domain.low) + float(domain.width) * values, stream)
        below = shape(reports).below(float(domain.low) + float(domain.width) * places)
    return float(np.abs(below - truth).mean())


def even_points(count: int, trial: int) -> Floats:
    """Numbers between 0 and 1, always the same: a plan is the same every time, and mechanisms are tried on the same crowds."""
    digest = hashlib.shake_128(f"trial {trial}".encode()).digest(8 * count)
    return np.asarray((np.frombuffer(digest, np.uint64).astype(np.float64) + 0.5) / 2.0**64)


@lru_cache(maxsize=256)
def fitted_distance(mechanism: Mechanism, n: int) -> float:
    """The distance of the fitted distribution, in parts of the domain: the mean over fixed coins and the three crowds."""
    if not isinstance(mechanism.domain, Interval):
        raise NotSupported("the Wasserstein distance is planned for intervals; on a circle use the half-widths of the bins")
    matrix = binned(mechanism, checked_bins(mechanism, None, CELLS)).transition.matrix
    starts = np.arange(GROUPS) * matrix.shape[1] // GROUPS if matrix.shape[1] > GROUPS else np.arange(matrix.shape[1])
    matrix = np.add.reduceat(matrix, starts, axis=1)
    tolerance = STOP * math.exp(min(float(mechanism.privacy), 50.0))
    away = []
    for crowd_number, hills in enumerate(HILLS):
        truth = crowd(len(matrix), hills)
        for trial in range(crowd_number * TRIALS, (crowd_number + 1) * TRIALS):
            fit = penalized_fit(matrix, _counted(matrix, truth, n, trial), circular=False, tolerance=tolerance)
            away.append(float(np.abs(np.cumsum(fit.shares - truth)).mean()))
    return float(np.mean(away))


def _counted(matrix: Floats, truth: Floats, n: int, trial: int) -> Floats:
    """How often every group of outputs occurs when people with these shares of the cells have answered, with fixed coins."""
    size, groups = matrix.shape
    if n <= ONE_BY_ONE:
        cells = np.minimum(np.searchsorted(np.cumsum(truth), (np.arange(n) + 0.5) / n), size - 1)
        # Every cell's distribution function above that of the cell before.
        below = np.minimum(np.cumsum(matrix, axis=1), 1.0) + np.arange(size)[:, None]
        below[:, -1] = np.arange(1, size + 1)
        answers = np.searchsorted(below.ravel(), cells + even_points(n, trial)) - groups * cells
        return np.bincount(answers, minlength=groups).astype(np.float64)
    # Only the answers are noise; who takes part is given.
    spread = np.diag(truth @ matrix) - (matrix.T * truth) @ matrix
    values, vectors = np.linalg.eigh(n * spread)
    noise = vectors @ (np.sqrt(np.maximum(values, 0.0)) * ndtri(even_points(groups, trial)))
    return np.asarray(np.maximum(n * (truth @ matrix) + noise, 0.0))


@lru_cache(maxsize=256)
def projected_distance(mechanism: Mechanism, n: int) -> float:
    """The same for bins asked for as categories: their shares are taken as normal, and projected on the simplex."""
    size = mechanism.domain.size
    law, finer = support_law(mechanism), max(1, GRID // size)
    away = []
    for hills in HILLS:
        cells = crowd(size * finer, hills)
        truth = cells.reshape(size, finer).sum(axis=1)
        values, vectors = np.linalg.eigh(law.count_noise(n * truth, True) / n**2)
        spread = vectors * np.sqrt(np.maximum(values, 0.0))
        for trial in range(DRAWS):
            drawn = ndtri(even_points(size, trial))
            for sign in (1, -1):
                projected = simplex(truth + sign * (spread @ drawn), 1.0)
                away.append(float(np.abs(np.cumsum(np.repeat(projected / finer, finer) - cells)).mean()))
    return float(np.mean(away))


def by_intervals(mechanism: Mechanism, bins: int) -> Way:
    """Judged by the half-widths of the intervals of the bins."""
    categories = isinstance(mechanism.domain, Bins)

    @lru_cache(maxsize=64)
    def predict(n: int) -> Prediction:
        half = predicted_half_width(mechanism, bins, n)
        if categories and n <= FEW_PEOPLE and half > 1 / bins:
            # Estimates far below 0 are usual then, and how wide their intervals are has no formula.
            half = float(losses(n, TRIALS, FixedKeystream("bins")).mean())
        return Prediction(half, half)

    def losses(n: int, runs: int, stream: Keystream) -> Floats:
        return np.array([simulated_half_width(mechanism, bins, people_like((), n, stream), stream) for _ in range(runs)])

    return Way(
        name=mechanism.name,
        inner=f"{bins} bins" if categories else None,
        asked=mechanism,
        estimator="shares(reports) of bins" if categories else f"distribution(reports, bins={bins})",
        predict=predict,
        losses=losses,
        root=False,
    )


def by_distance(mechanism: Mechanism, bins: int, width: float) -> Way:
    """Judged by the Wasserstein distance of the fitted distribution."""

    categories = isinstance(mechanism.domain, Bins)

    def predict(n: int) -> Prediction:
        away = projected_distance(mechanism, n) if categories else fitted_distance(mechanism, n)
        return Prediction(width * away, predicted_half_width(mechanism, bins, n))

    return Way(
        name=mechanism.name,
        inner=f"{bins} bins" if categories else None,
        asked=mechanism,
        estimator='shares(reports).projected("simplex")' if categories else f"distribution(reports, bins={bins})",
        predict=predict,
        losses=partial(distances, mechanism, width),
        root=False,
    )


def distances(mechanism: Mechanism, width: float, n: int, runs: int, stream: Keystream) -> Floats:
    """Measured: the crowds take turns."""
    crowds = (HILLS[run % len(HILLS)] for run in range(runs))
    return width * np.array([distance(mechanism, people_like(hills, n, stream), stream) for hills in crowds])


def by_leaves(way: Way) -> Way:
    """A hierarchical histogram judged by the intervals of its leaves, measured with fixed coins: they end at 0 and 1."""

    @lru_cache(maxsize=64)
    def predict(n: int) -> Prediction:
        few = min(n, MOST_TRIED)
        half = float(losses(few, TRIED, FixedKeystream("leaves")).mean()) * math.sqrt(few / n)
        return Prediction(half, half)

    def losses(n: int, runs: int, stream: Keystream) -> Floats:
        widths = []
        for _ in range(runs):
            values = float(way.asked.domain.low) + float(way.asked.domain.width) * people_like((), n, stream)
            low, high = way.asked.accumulate(way.asked.randomize_many(values, stream)).shares().interval()
            widths.append(float((high - low).mean()) / 2)
        return np.array(widths)

    return replace(way, predict=predict, losses=losses)
