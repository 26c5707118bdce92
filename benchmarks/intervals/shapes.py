"""Twelve shapes of numbers, and twelve of places: published, real-looking and ugly ones."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from deniable.batch import Floats

Draw = Callable[[np.random.Generator, int], Floats]
POPULATION = 1_000_000


def _inside(values: Floats) -> Floats:
    return np.clip(values, 0.0, 1 - 1e-9)


def _two_peaks(draws: np.random.Generator, n: int) -> Floats:
    return _inside(np.where(draws.random(n) < 0.5, draws.normal(0.25, 0.05, n), draws.normal(0.7, 0.08, n)))


def _taxi(draws: np.random.Generator, n: int) -> Floats:
    """Times of the day: a morning and an evening peak over a broad base."""
    kind = draws.random(n)
    peaks = np.where(kind < 0.55, draws.normal(0.78, 0.09, n), draws.normal(0.36, 0.06, n))
    return _inside(np.where(kind < 0.85, peaks, draws.random(n)) % 1.0)


NUMBERS: dict[str, Draw] = {
    "uniform": lambda draws, n: draws.random(n),
    "beta(2,5)": lambda draws, n: draws.beta(2, 5, n),
    "beta(.5,.5)": lambda draws, n: _inside(draws.beta(0.5, 0.5, n)),
    "exponential": lambda draws, n: _inside(draws.exponential(0.15, n)),
    "two peaks": _two_peaks,
    "multiples of 5 minutes": lambda draws, n: _inside(np.round(24 * draws.beta(2, 4, n)) / 24),
    "zero-inflated": lambda draws, n: np.where(draws.random(n) < 0.6, 0.0, draws.beta(2, 3, n)),
    "taxi-like": _taxi,
    "income-like": lambda draws, n: _inside(draws.lognormal(-2.0, 0.7, n)),
    "all at one end": lambda draws, n: np.zeros(n),
    "gamma": lambda draws, n: _inside(draws.gamma(2.0, 0.1, n)),
    "three spikes": lambda draws, n: draws.choice([0.2, 0.21, 0.8], n, p=[0.3, 0.3, 0.4]),
}


def _both(first: Floats, second: Floats) -> Floats:
    return np.stack([_inside(first), _inside(second)], axis=1)


def _cluster(draws: np.random.Generator, n: int, x: float, y: float, spread: float) -> Floats:
    return _both(draws.normal(x, spread, n), draws.normal(y, spread, n))


def _one_of(draws: np.random.Generator, parts: list[Floats], chances: list[float]) -> Floats:
    kind = draws.choice(len(parts), len(parts[0]), p=chances)
    return np.asarray(np.stack(parts)[kind, np.arange(len(kind))])


def _check_ins(draws: np.random.Generator, n: int) -> Floats:
    """Forty places of a city, the most visited ones far ahead."""
    places = np.random.default_rng(40).random((40, 2))
    chances = 1 / np.arange(1, 41)
    return np.asarray(places[draws.choice(40, n, p=chances / chances.sum())])


PLACES: dict[str, Draw] = {
    "uniform": lambda draws, n: draws.random((n, 2)),
    "one cluster": lambda draws, n: _cluster(draws, n, 0.3, 0.6, 0.08),
    "two clusters": lambda draws, n: _one_of(
        draws, [_cluster(draws, n, 0.25, 0.25, 0.05), _cluster(draws, n, 0.7, 0.8, 0.1)], [0.6, 0.4]
    ),
    "wide": lambda draws, n: _cluster(draws, n, 0.5, 0.5, 0.25),
    "one point": lambda draws, n: np.tile([0.3, 0.8], (n, 1)),
    "a corner": lambda draws, n: np.zeros((n, 2)),
    "where cells meet": lambda draws, n: np.tile([0.5, 0.5], (n, 1)),
    "a street": lambda draws, n: _both(draws.random(n), np.full(n, 0.25)),
    "two corners": lambda draws, n: np.where(draws.random((n, 1)) < 0.5, 0.0, 1 - 1e-9) * np.ones((1, 2)),
    "crossings": lambda draws, n: np.round(draws.random((n, 2)) * 5) / 5.0001,
    "half of them at home": lambda draws, n: _one_of(draws, [np.full((n, 2), 0.62), draws.random((n, 2))], [0.5, 0.5]),
    "check-ins": _check_ins,
}


@lru_cache(maxsize=2)
def population(kind: str, shape: str) -> Floats:
    """A large population of one shape, the same in every process."""
    draw = (PLACES if kind == "places" else NUMBERS)[shape]
    return draw(np.random.default_rng(zlib.crc32(shape.encode())), POPULATION)


@lru_cache(maxsize=256)
def of_population(kind: str, shape: str, question: Callable[[Floats], Any]) -> Any:
    """The true answer for the population, worked out once."""
    return question(population(kind, shape))
