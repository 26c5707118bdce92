"""Distributions and quantiles of numbers.

A distribution is judged by what will be shown (`shown`): the intervals of its bins, or its distance from the true one.
Quantile: the root mean squared error of the value, for people spread evenly over the domain, by `histogram` (linear inversion, so
that the error follows from the weights).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Literal

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from deniable.batch import Floats, Keystream, randomize_many, uniform_below
from deniable.core import Bins, Circle, Epsilon, Interval, Mechanism
from deniable.errors import DeniableError, NotSupported
from deniable.estimators import (
    MOST_CONDITION,
    HierarchicalHistogram,
    binned,
    checked_bins,
    consistent,
    count_covariance,
    gathered,
    influence,
    support_counts,
    support_law,
)
from deniable.planning.fakes import part_of, supported
from deniable.planning.frequency import each_way
from deniable.planning.question import Question
from deniable.planning.shown import by_distance, by_intervals, by_leaves, predicted_half_width
from deniable.planning.trials import each_sum, rounds
from deniable.planning.way import NORMAL, LeftOut, Prediction, Way
from deniable.privacy import Gain

FINE = 1 << 30
STRAIGHT = 0.02
"""Where a bin's share is known no better than this part of an even one, a quantile no longer errs as the share below it does."""
POINTS = 11
"""The logarithm of how many points stand for the normal law."""

Read = Literal["distribution", "circle", "quantile"]


@dataclass(frozen=True)
class Reading:
    """What is computed from the shares of the bins, and how its error follows from their covariance."""

    read: Read
    bins: int
    level: float
    width: float

    def prediction(self, covariance: Floats) -> Prediction:
        """From the covariance of the shares."""
        share = math.sqrt(float(np.trace(covariance)) / self.bins)
        if self.read == "circle":
            return Prediction(share, NORMAL * share)
        if self.read == "distribution":
            below = np.tril(np.ones((self.bins, self.bins)))[:-1]
            deviations = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", below, covariance, below), 0.0))
            # The mean of |z| is sqrt(2/pi) deviations.
            error = self.width * math.sqrt(2 / math.pi) * float(deviations.sum()) / self.bins
            return Prediction(error, NORMAL * share, {"share_error": share})
        question = self.below()
        # Spread evenly, the density is 1/width: the value errs as the share below it does.
        error = self.width * math.sqrt(max(float(question @ covariance @ question), 0.0))
        if share * self.bins > STRAIGHT:
            error = self._bent(covariance)
        return Prediction(error, NORMAL * error, {"share_error": share})

    def _bent(self, covariance: Floats) -> float:
        """The error where the estimated cdf may fall: making it rise bends the quantile. Over normal shares, at fixed points."""
        values, vectors = np.linalg.eigh(covariance)
        order = np.argsort(values)[::-1]
        spread = vectors[:, order] * np.sqrt(np.maximum(values[order], 0.0))
        moved = normal_points(self.bins) @ spread.T
        quantiles = self.quantiles(1 / self.bins + np.concatenate([moved, -moved]))
        return math.sqrt(float(((quantiles - self.level * self.width) ** 2).mean()))

    def below(self) -> Floats:
        """How much of each bin lies below the quantile."""
        return np.clip(self.level * self.bins - np.arange(self.bins), 0.0, 1.0)

    def questions(self) -> Floats:
        """The sums of shares that the error is about, one a row."""
        if self.read == "circle":
            return np.eye(self.bins)
        return np.tril(np.ones((self.bins, self.bins)))[:-1] if self.read == "distribution" else self.below()[None]

    def gain(self, part: float, moved: Floats, *, exact: bool) -> Gain:
        """What fakes add who make up this part of the reports; `moved` has a column for every report they could send."""
        away = moved - self.questions().mean(axis=1)[:, None]
        if self.read == "circle":
            each, what = float(away.max()), "the share of a bin"
        elif self.read == "distribution":
            each, what = self.width * float(np.abs(away).sum(axis=0).max()) / self.bins, "the cdf, by Wasserstein-1 distance"
        else:
            # To first order, where the density is that of people spread evenly.
            each, what = self.width * float(np.abs(away).max()), "the quantile, for few malicious users"
        return Gain(what, part * each, each, exact)

    def losses(self, shares: Floats, truth: Floats) -> Floats:
        """How far every row of estimated shares is from the true ones."""
        if self.read == "circle":
            return np.asarray(((shares - truth) ** 2).mean(axis=1))
        if self.read == "distribution":
            return np.asarray(self.width * np.abs(np.cumsum(shares - truth, axis=1)[:, :-1]).sum(axis=1) / self.bins)
        return np.asarray((self.quantiles(shares) - self.quantiles(truth[None])) ** 2)

    def quantiles(self, shares: Floats) -> Floats:
        """Where the cdf of every row, made to rise, reaches the level; linear within bins."""
        up = np.concatenate([np.zeros((len(shares), 1)), np.cumsum(shares, axis=1)], axis=1)
        up[:, -1] = 1.0
        highest, lowest = np.maximum.accumulate(up, axis=1), np.minimum.accumulate(up[:, ::-1], axis=1)[:, ::-1]
        rising = np.clip((highest + lowest) / 2, 0.0, 1.0) + 1e-12 * np.arange(self.bins + 1)
        after = np.clip((rising < self.level).sum(axis=1), 1, self.bins)
        rows = np.arange(len(rising))
        below, above = rising[rows, after - 1], rising[rows, after]
        within = np.clip((self.level - below) / (above - below), 0.0, 1.0)
        return np.asarray(self.width / self.bins * (after - 1 + within), np.float64)


@lru_cache(maxsize=4)
def normal_points(dimensions: int) -> Floats:
    """Points that stand for the normal law in so many dimensions: a Sobol sequence, the same every time."""
    even = qmc.Sobol(dimensions, scramble=False).random_base2(POINTS)
    return np.asarray(ndtri(even + 2.0 ** -(POINTS + 1)), np.float64)


def shape_ways(question: Question, epsilon: Epsilon, *, slow: bool = True) -> Iterator[Way | LeftOut]:
    """Every way to ask for a distribution or a quantile at this epsilon."""
    domain, each = question.domain, question.each(epsilon)
    assert isinstance(domain, Interval | Circle)
    read: Read = "circle" if isinstance(domain, Circle) else "quantile" if question.task == "quantile" else "distribution"
    reading = Reading(read, question.bins, question.level, float(domain.width))
    yield from each_way("distribution", domain, each, partial(_number, question, reading), slow=slow)
    bins = Bins.equal(domain.low, domain.low + domain.width, question.bins)
    yield from each_way("frequency", bins, each, partial(_bin, question, reading, domain))
    levels = round(math.log(question.bins, 4))
    if read != "circle" and 4**levels == question.bins and levels > 1:
        tree = _tree(HierarchicalHistogram(domain, each, 4, levels), reading)  # type: ignore[arg-type]
        yield by_leaves(tree) if read == "distribution" and question.metric == "half-width" else tree


def _number(question: Question, reading: Reading, mechanism: Mechanism) -> Way:
    """A quantile from the inverted shares; a distribution as it will be shown."""
    if reading.read == "quantile":
        return _inverted(reading, mechanism)
    if question.metric == "wasserstein":
        way = by_distance(mechanism, reading.bins, reading.width)
    else:
        way = by_intervals(mechanism, reading.bins)
    predicted_half_width(mechanism, reading.bins, 1000)  # refuses what cannot be shown
    return replace(way, gain=_linear_gain(reading, mechanism))


def _linear_gain(reading: Reading, mechanism: Mechanism) -> Callable[[int], Gain | None]:
    """By linear inversion, on as many bins as the reports tell apart: the fit itself bends no further."""
    bins = reading.bins
    while bins > 1:
        try:
            _, slope = inversion(mechanism, bins)
        except DeniableError:
            bins //= 2
            continue
        coarse = replace(reading, bins=bins)
        return lambda n: coarse.gain(part_of(n), coarse.questions() @ slope, exact=False)
    return lambda n: None


def _bin(question: Question, reading: Reading, domain: Interval | Circle, mechanism: Mechanism) -> Way:
    """The value's bin is asked for as a category."""
    way = _categories(reading, domain, mechanism)
    if reading.read == "quantile":
        return way
    if question.metric == "wasserstein":
        return replace(by_distance(mechanism, reading.bins, reading.width), gain=way.gain)
    return replace(by_intervals(mechanism, reading.bins), gain=way.gain)


def inversion(mechanism: Mechanism, bins: int) -> tuple[Floats, Floats]:
    """The matrix from bins to outputs, and the one `histogram` inverts it by."""
    laid = binned(mechanism, checked_bins(mechanism, bins, bins))
    matrix = laid.transition.matrix
    usual = matrix.mean(axis=0)
    usual = np.where(usual > 0, usual, 1.0)
    scaled = matrix / np.sqrt(usual)
    information = scaled @ scaled.T
    if np.linalg.cond(information) > MOST_CONDITION**2 or len(usual) < bins:
        raise NotSupported(f"{bins} bins are more than the reports of {mechanism.name} can distinguish")
    return matrix, np.asarray(np.linalg.solve(information, matrix / usual), np.float64)


def _inverted(reading: Reading, mechanism: Mechanism) -> Way:
    matrix, slope = inversion(mechanism, reading.bins)
    # For one user; people are spread evenly within their bins, too.
    once = count_covariance(slope, matrix, np.full(reading.bins, 1 / reading.bins), 1, "these users")

    def losses(n: int, runs: int, stream: Keystream) -> Floats:
        cuts, surveys = binned(mechanism, reading.bins).cuts, []
        for count in rounds(n, runs):
            values, truth = people(n, count, reading, mechanism.domain, stream)  # type: ignore[arg-type]
            counts = np.array([gathered(sums.sums, cuts) for sums in each_sum(randomize_many(mechanism, values, stream), n)])
            surveys.append(reading.losses(counts / n @ slope.T, truth))
        return np.concatenate(surveys)

    return Way(
        name=mechanism.name,
        asked=mechanism,
        estimator=f"histogram(reports, bins={reading.bins})",
        predict=lambda n: reading.prediction(once / n),
        losses=losses,
        root=reading.read != "distribution",
        gain=lambda n: reading.gain(part_of(n), reading.questions() @ slope, exact=True),
    )


def _categories(reading: Reading, domain: Interval | Circle, mechanism: Mechanism) -> Way:
    """The value's bin is asked for as a category."""
    law = support_law(mechanism)
    bins = reading.bins
    # Shares must add up to 1: what is missing is spread evenly, which keeps them unbiased.
    even = np.eye(bins) - 1 / bins
    once = even @ law.count_noise(np.full(bins, 1 / bins), True) @ even
    moved, reached = supported(reading.questions() @ even, law, mechanism)
    moved = moved + reading.questions().mean(axis=1)[:, None]

    def losses(n: int, runs: int, stream: Keystream) -> Floats:
        surveys = []
        for count in rounds(n, runs):
            values, truth = people(n, count, reading, domain, stream)
            reports = randomize_many(mechanism, values, stream)
            shares = (np.array([support_counts(sums) for sums in each_sum(reports, n)]) / n - law.q) / law.gap
            surveys.append(reading.losses(shares + (1 - shares.sum(axis=1, keepdims=True)) / bins, truth))
        return np.concatenate(surveys)

    return Way(
        name=mechanism.name,
        inner=f"{bins} bins",
        asked=mechanism,
        estimator="shares(reports) of bins, made to add up to 1",
        predict=lambda n: reading.prediction(once / n),
        losses=losses,
        root=reading.read != "distribution",
        gain=lambda n: reading.gain(part_of(n), moved, exact=reached),
    )


def _tree(tree: HierarchicalHistogram, reading: Reading) -> Way:
    bins, chances, spreads = reading.bins, [], []
    for mechanism in tree.mechanisms:
        law, nodes = support_law(mechanism), mechanism.domain.size
        chance = law.q + law.gap / nodes
        chances.append(tree.levels * chance * (1 - chance) / law.gap**2)
        even = np.full(nodes, 1 / nodes)
        spreads.append(tree.levels * (law.count_noise(even, True) + np.diag(even) - 1 / nodes**2))
    pulls = [influence(unit, chances, tree.fan_out) for unit in np.eye(bins)]
    # Who was asked at a level is part of it; which users there are is not.
    once = 1 / bins**2 - np.eye(bins) / bins
    for level, spread in enumerate(spreads):
        rows = np.array([pull[level] for pull in pulls])
        once = once + rows @ spread @ rows.T

    def losses(n: int, runs: int, stream: Keystream) -> Floats:
        rows = np.empty((runs, bins))
        for run in range(runs):
            values, truth = people(n, 1, reading, tree.domain, stream)
            sums = tree.accumulate(tree.randomize_many(values, stream))
            rows[run] = consistent(sums.node_shares(), sums.node_variances(), tree.fan_out)[-1]
        return reading.losses(rows, truth)

    return Way(
        name="hierarchical-histogram",
        inner=f"{tree.oracle}, fan-out {tree.fan_out}, {tree.levels} levels",
        asked=tree,
        estimator="HierarchicalHistogram.accumulate(reports).shares()",
        predict=lambda n: reading.prediction(once / n),
        losses=losses,
        root=reading.read != "distribution",
        gain=lambda n: _tree_gain(tree, reading, chances, n),
    )


def _tree_gain(tree: HierarchicalHistogram, reading: Reading, chances: list[float], n: int) -> Gain:
    """Fakes all pick one level, the one where it helps most."""
    pulls = [influence(question, chances, tree.fan_out) for question in reading.questions()]
    gains = []
    for level, mechanism in enumerate(tree.mechanisms):
        rows = np.array([pull[level] for pull in pulls])
        moved, _ = supported(rows, support_law(mechanism), mechanism)
        # Pulls add up to nothing over evenly spread people: what they hold counts from there.
        moved = moved + reading.questions().mean(axis=1)[:, None]
        gains.append(reading.gain(part_of(n, tree.levels), moved, exact=False))
    return max(gains, key=lambda gain: gain.gain)


def people(n: int, surveys: int, reading: Reading, domain: Interval | Circle, stream: Keystream) -> tuple[Floats, Floats]:
    """The n values of each survey, as many in every bin as can be, anywhere within it; and the share of every bin."""
    inside = np.arange(n) % reading.bins
    place = (np.tile(inside, surveys) + (uniform_below(FINE, n * surveys, stream) + 0.5) / FINE) / reading.bins
    values = np.clip(float(domain.low) + float(domain.width) * place, float(domain.low), float(domain.low + domain.width))
    return values, np.bincount(inside, minlength=reading.bins) / n
