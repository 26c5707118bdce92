"""Numbers on an interval and on a circle: bins, ranges, quantiles, means, spreads and directions, from one fit each."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from typing import Any

import numpy as np

from deniable.batch import randomize_many
from deniable.core import Circle, Interval, make_mechanism
from deniable.errors import NotSupported
from deniable.estimators import accumulated, direction, histogram, mean, shape, variance
from intervals.answers import (
    BOTH,
    LEVEL,
    Answer,
    Cell,
    Ends,
    Floats,
    Trial,
    at_once,
    bins,
    fixed,
    of_shares,
    one_by_one,
    quantiles_at,
    ranges,
    truth_of,
)
from intervals.shapes import NUMBERS, of_population

BINS, FEW_BINS, LEVELS, RANGES = 8, 4, (0.1, 0.5, 0.9), ((0.0, 0.2), (0.25, 0.7))
CELLS = 2400
"""Of the domains here: fine enough for all that is asked, and the same laws as finer ones, many times as fast."""
LINES = ("sw",), ("window", "pm")
"""The main mechanisms, and others."""
ASSUMED = ("sw, multiples",), ("sw, narrowest peak",)
"""Mechanisms and what is assumed."""
STEPS, PEAK = 24, 0.5
"""Values are multiples of one over this; or the density changes no faster than in a peak that wide."""
MEANS = ("hm", "duchi"), ("laplace", "three-outputs", "one-bit-mean", "pm-c")
CIRCLES = ("circular-window",), ("purkayastha",)


def line(cell: Cell) -> Trial:
    """Everything that can be asked of a number, from one fit."""
    mechanism: Any = make_mechanism(cell.mechanism, domain=Interval(0, 1, cells=CELLS), epsilon=cell.epsilon)
    target: Any = cell.target
    asked = cell.one_of(LEVELS)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        values = NUMBERS[cell.shape](draws, cell.n)
        sums = accumulated(randomize_many(mechanism, values, stream))
        middle, spread = truth_of(cell, target, values, np.mean), truth_of(cell, target, values, np.var)
        fitted, truth = shape(sums, target=target), truth_of(cell, target, values, bins(BINS))
        parts = fitted.bins(BINS)
        yield of_shares("distribution", target, truth, partial(parts.interval, LEVEL))
        yield at_once(of_shares("", target, truth, partial(parts.interval, LEVEL, together=True)), "distribution, together")
        with suppress(NotSupported):  # more bins than the reports tell apart
            yield of_shares("histogram", target, truth, partial(histogram(sums, BINS, target=target).interval, LEVEL))
        each = one_by_one([partial(fitted.range_share, low, high) for low, high in RANGES])
        yield of_shares("range_share", target, truth_of(cell, target, values, ranges(*RANGES)), each)
        levels = truth_of(cell, target, values, quantiles_at(*asked))
        yield of_shares("quantiles", target, levels, lambda: fitted.quantiles(asked).interval(LEVEL))
        yield of_shares("mean", target, middle, lambda: mean(sums, target=target).interval(LEVEL))
        yield of_shares("mean of the fit", target, middle, lambda: fitted.mean().interval(LEVEL))
        yield of_shares("variance", target, spread, lambda: variance(sums, target=target).interval(LEVEL))
        yield of_shares("variance of the fit", target, spread, lambda: fitted.variance().interval(LEVEL))

    return trial


def _made(assumption: str, values: Floats, draws: np.random.Generator) -> Floats:
    """The same people with values of which the assumption is true.

    Multiples; or closer together, and moved by a triangular noise that is `PEAK` wide: no density changes faster.
    """
    if assumption == "multiples":
        return np.asarray(np.floor(values * STEPS) / STEPS)
    return np.asarray((1 - PEAK) * values + PEAK * draws.random((2, len(values))).mean(axis=0))


@cache
def _of_made(assumption: str, question: Callable[[Floats], Any]) -> Callable[[Floats], Any]:
    """The question about the values of a population, made so that the assumption is true."""
    return lambda values: question(_made(assumption, values, np.random.default_rng(0)))


def assumed(cell: Cell) -> Trial:
    """What is asked of a number, with an assumption that is true."""
    name, _, assumption = cell.mechanism.partition(", ")
    mechanism: Any = make_mechanism(name, domain=Interval(0, 1, cells=CELLS), epsilon=cell.epsilon)
    target: Any = cell.target
    options: dict[str, Any] = {"multiples_of": 1 / STEPS} if assumption == "multiples" else {"narrowest_peak": PEAK}
    asked = cell.one_of(LEVELS)
    turn = zlib.crc32(cell.key.encode()) % 5  # what assumes a narrowest peak takes long: the questions take turns

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        values = _made(assumption, NUMBERS[cell.shape](draws, cell.n), draws)
        fitted = shape(randomize_many(mechanism, values, stream), target=target, **options)

        def answer(estimator: str, question: Callable[[Floats], Any], ends: Callable[[], Ends]) -> Answer:
            own = target == "these users"
            truth = question(values) if own else of_population("numbers", cell.shape, _of_made(assumption, question))
            return of_shares(f"{estimator}, {assumption}", target, truth, ends)

        each = one_by_one([partial(fitted.range_share, low, high) for low, high in RANGES])
        every = (
            answer("distribution", bins(FEW_BINS), lambda: fitted.bins(FEW_BINS).interval(LEVEL)),
            answer("range_share", ranges(*RANGES), each),
            answer("quantiles", quantiles_at(*asked), lambda: fitted.quantiles(asked).interval(LEVEL)),
            answer("mean of the fit", np.mean, lambda: fitted.mean().interval(LEVEL)),
            answer("variance of the fit", np.var, lambda: fitted.variance().interval(LEVEL)),
        )
        yield from every if assumption == "multiples" else every[turn :: len(every)]

    return trial


def means(cell: Cell) -> Trial:
    """Mean and variance from mechanisms that are made for means."""
    mechanism: Any = make_mechanism(cell.mechanism, domain=Interval(0, 1, cells=CELLS), epsilon=cell.epsilon)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        values = NUMBERS[cell.shape](draws, cell.n)
        sums = accumulated(randomize_many(mechanism, values, stream))
        for target in BOTH:
            middle = partial(mean(sums, target=target).interval, LEVEL)
            yield of_shares("mean", target, truth_of(cell, target, values, np.mean), middle)
            with suppress(NotSupported):  # reports that do not show the spread
                spread = partial(variance(sums, target=target).interval, LEVEL)
                yield of_shares("variance", target, truth_of(cell, target, values, np.var), spread)

    return trial


def _across(values: Floats) -> Any:
    return np.mean((values >= 0.9) | (values < 0.15))


def _resultant(values: Floats) -> complex:
    return complex(np.exp(2j * math.pi * values).mean())


def circle(cell: Cell) -> Trial:
    """Directions: the mean one, their concentration, bins and a range across zero."""
    mechanism: Any = make_mechanism(cell.mechanism, domain=Circle(1, cells=CELLS), epsilon=cell.epsilon)
    target: Any = cell.target

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        values = NUMBERS[cell.shape](draws, cell.n)
        sums = accumulated(randomize_many(mechanism, values, stream))
        fitted, truth = shape(sums, target=target), truth_of(cell, target, values, bins(BINS))
        yield of_shares("distribution", target, truth, lambda: fitted.bins(BINS).interval(LEVEL))
        across = truth_of(cell, target, values, _across)
        yield of_shares("range_share", target, across, lambda: fitted.range_share(0.9, 0.15).interval(LEVEL))
        for whose in BOTH:
            yield from directed(whose, direction(sums, target=whose), truth_of(cell, whose, values, _resultant))

    return trial


def directed(target: str, answer: Any, resultant: complex) -> Iterator[Answer]:
    """The mean direction, relative to the middle of its interval, and the concentration."""
    low, high = answer.interval(LEVEL)
    half = min((high - low) / 2, 0.5)
    turn = math.atan2(resultant.imag, resultant.real) / (2 * math.pi) - (low + high) / 2
    off = np.array([(turn + 0.5) % 1 - 0.5])
    if abs(resultant) > 2e-3:  # a uniform population has no mean direction
        yield Answer("direction", target, off, fixed(np.array([-half]), np.array([half])))
    yield of_shares("concentration", target, abs(resultant), partial(answer.concentration_interval, LEVEL))
