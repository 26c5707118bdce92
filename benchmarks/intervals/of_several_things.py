"""Sets of items, keys with values, linear questions, people with epsilons of their own, vectors and days of a trend."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from deniable.batch import accumulator_for, randomize_many
from deniable.core import Ball, Categories, Interval, ItemSet, KeyValue, Mechanism, make_mechanism
from deniable.estimators import (
    HaarHistogram,
    answers,
    combined_shares,
    item_shares,
    key_distributions,
    key_means,
    key_shares,
    mean,
    size_shares,
    trend,
)
from intervals.answers import BOTH, LEVEL, Answer, Cell, Floats, Trial, at_once, bins, of_parts, of_shares, parts_of, truth_of
from intervals.shapes import NUMBERS

SETS = ("padding-sampling", "set-selection"), ("padding-oue", "priv-set")
"""The main mechanisms, and others."""
KEYS = ("pckv-grr", "pckv-ue", "pair-set")
WORKLOADS = ("hadamard", "hierarchy"), ("k-rr", "subset", "oue", "olh", "extremal")
VECTORS = ("nearest-codes",)
ITEMS, MOST, SIZE, DAYS = 4, 2, 8, 3
QUESTIONS = np.concatenate([np.tri(SIZE)[:-1], [np.arange(SIZE) / (SIZE - 1), np.where(np.arange(SIZE) % 3, 0.0, 1.0)]])
"""All prefixes of eight categories, and some weighted sums."""
STEPS = 4
"""Between the numbers that reports of pairs name."""


def _held(values: Floats) -> Floats:
    """Which of four items a person has, a row each: the quarter of the value, and the last one too above a half of the quarter."""
    rows = np.zeros((len(values), ITEMS))
    rows[np.arange(len(values)), parts_of(values, ITEMS)] = 1.0
    rows[(values * ITEMS) % 1 > 0.5, ITEMS - 1] = 1.0
    rows[values < 0.05] = 0.0
    return rows


def _how_many(values: Floats) -> Floats:
    return np.bincount(_held(values).sum(axis=1).astype(int), minlength=MOST + 1) / len(values)


def sets(cell: Cell) -> Trial:
    """The shares of four items, of which people have two at most, and of how many they have."""
    mechanism: Any = make_mechanism(cell.mechanism, domain=ItemSet(ITEMS, at_most=MOST), epsilon=cell.epsilon)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        values = NUMBERS[cell.shape](draws, cell.n)
        sums = accumulator_for(mechanism).add(randomize_many(mechanism, _held(values) > 0, stream))
        for target in BOTH:
            items = truth_of(cell, target, values, _item_shares)
            yield of_shares("item_shares", target, items, partial(item_shares(sums, target=target).interval, LEVEL))
            sizes = truth_of(cell, target, values, _how_many)
            yield of_shares("size_shares", target, sizes, partial(size_shares(sums, target=target).interval, LEVEL))

    return trial


def _item_shares(values: Floats) -> Floats:
    return np.asarray(_held(values).mean(axis=0))


def _key_means(values: Floats) -> Floats:
    """The mean value of those who have each key; half where nobody does, which every interval of such a key holds."""
    held = _held(values)
    return np.asarray([values[own > 0].mean() if own.any() else 0.5 for own in held.T])


def _stepped(values: Floats) -> Floats:
    """The nearest of the numbers that reports of pairs name."""
    return np.asarray(np.round(values * STEPS) / STEPS)


def _stepped_means(values: Floats) -> Floats:
    """The same of the nearest numbers."""
    held, numbers = _held(values), _stepped(values)
    return np.asarray([numbers[own > 0].mean() if own.any() else 0.5 for own in held.T])


def _key_distributions(values: Floats) -> Floats:
    """Key after key, the share of every number among those who have it; even ones where nobody does."""
    held, numbers = _held(values), (_stepped(values) * STEPS).astype(int)
    counts = [np.bincount(numbers[own > 0], minlength=STEPS + 1) for own in held.T]
    return np.concatenate([one / one.sum() if one.any() else np.full(STEPS + 1, 1 / (STEPS + 1)) for one in counts])


def keys(cell: Cell) -> Trial:
    """The shares of four keys, and the means of the numbers that go with them; with reports of pairs also their distributions."""
    of_pairs = cell.mechanism == "pair-set"
    domain = KeyValue(ITEMS, Interval(0, 1, cells=STEPS if of_pairs else 240), at_most=MOST)
    mechanism: Any = make_mechanism(cell.mechanism, domain=domain, epsilon=cell.epsilon)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        values = NUMBERS[cell.shape](draws, cell.n)
        numbers = np.where(_held(values) > 0, (_stepped(values) if of_pairs else values)[:, None], np.nan)
        sums = accumulator_for(mechanism).add(randomize_many(mechanism, numbers, stream))
        for target in BOTH:
            having = truth_of(cell, target, values, _item_shares)
            yield of_shares("key_shares", target, having, partial(key_shares(sums, target=target).interval, LEVEL))
            middles = truth_of(cell, target, values, _stepped_means if of_pairs else _key_means)
            yield of_shares("key_means", target, middles, partial(key_means(sums, target=target).interval, LEVEL))
            if of_pairs:
                every = truth_of(cell, target, values, _key_distributions)
                ends = partial(key_distributions(sums, target=target).interval, LEVEL)
                yield of_shares("key_distributions", target, every, ends)

    return trial


def workloads(cell: Cell) -> Trial:
    """All prefixes of eight categories, and some weighted sums, as answers to linear questions."""
    mechanism = of_parts(cell, SIZE)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        values = NUMBERS[cell.shape](draws, cell.n)
        sums = accumulator_for(mechanism).add(randomize_many(mechanism, parts_of(values, SIZE), stream))
        for target in BOTH if cell.mechanism != "hierarchy" else BOTH[1:]:  # a tree asks everyone at one level only
            truth = QUESTIONS @ truth_of(cell, target, values, bins(SIZE))
            yield of_shares("answers", target, truth, partial(answers(sums, QUESTIONS, target=target).interval, LEVEL))

    return trial


def wavelets(cell: Cell) -> Trial:
    """The same linear questions, answered by Haar wavelets."""
    haar = HaarHistogram(Categories(SIZE), epsilon=cell.epsilon)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        values = NUMBERS[cell.shape](draws, cell.n)
        sums = haar.accumulate(haar.randomize_many(parts_of(values, SIZE), stream))
        for target in BOTH:
            truth = QUESTIONS @ truth_of(cell, target, values, bins(SIZE))
            yield of_shares("wavelets: answers", target, truth, partial(sums.answers(QUESTIONS, target=target).interval, LEVEL))

    return trial


def levels(cell: Cell) -> Trial:
    """Shares from two groups of people, of whom one has half of the epsilon."""
    domain = Categories(SIZE)
    mechanisms: list[Mechanism] = [make_mechanism(cell.mechanism, domain=domain, epsilon=cell.epsilon / k) for k in (1, 2)]

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        values = parts_of(NUMBERS[cell.shape](draws, cell.n), SIZE)
        groups = [randomize_many(one, values[start::2], stream) for start, one in enumerate(mechanisms)]
        truth = truth_of(cell, "population", np.empty(0), bins(SIZE))
        yield of_shares("combined_shares", "population", truth, partial(combined_shares(groups).interval, LEVEL))

    return trial


def vectors(cell: Cell) -> Trial:
    """The mean of vectors of eight coordinates: a coordinate of the value's own, and half of its neighbour."""
    mechanism: Any = make_mechanism(cell.mechanism, domain=Ball(SIZE), epsilon=cell.epsilon)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        values = NUMBERS[cell.shape](draws, cell.n)
        sums: Any = accumulator_for(mechanism).add(randomize_many(mechanism, _pointing(values), stream))
        for target in BOTH:
            truth, estimated = truth_of(cell, target, values, _mean_vector), mean(sums, target=target)
            yield Answer("mean of vectors", target, truth, partial(estimated.interval, LEVEL))
            off = np.array([np.linalg.norm(np.asarray(estimated.value) - truth)])
            reach = np.array([estimated.distance(LEVEL)])  # type: ignore[attr-defined]
            yield Answer("distance of mean vectors", target, off, lambda reach=reach: (-reach, reach))

    return trial


def _pointing(values: Floats) -> Floats:
    pointing, own = np.zeros((len(values), SIZE)), parts_of(values, SIZE)
    pointing[np.arange(len(values)), own] = 0.8
    pointing[np.arange(len(values)), (own + 1) % SIZE] = -0.4
    return pointing


def _mean_vector(values: Floats) -> Floats:
    return np.asarray(_pointing(values).mean(axis=0))


def trends(cell: Cell) -> Trial:
    """Three days of four categories: a band that holds for all of them together, and days on which nothing changed."""
    mechanism = of_parts(cell, 4)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        people = [parts_of(NUMBERS[cell.shape](draws, cell.n), 4) for _ in range(DAYS)]
        days = trend([randomize_many(mechanism, values, stream) for values in people])
        truth = np.tile(truth_of(cell, "population", np.empty(0), bins(4)), DAYS)
        low, high = days.band(LEVEL)
        band = of_shares("", "population", truth, lambda: (low.ravel(), high.ravel()))
        yield at_once(band, "trend: band")
        named = np.array([float(bool(days.changes(1 - LEVEL)))])
        yield Answer("trend: no change named", "population", named, lambda: (np.zeros(1), np.zeros(1)))

    return trial
