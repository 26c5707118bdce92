"""Samplers with the known faults of the field, and their correct siblings. Repeatable; never for real reports."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Sampler = Callable[[Array], Array]


def generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def k_ary(k: int, epsilon: float, seed: int, *, forgets_others: bool = False) -> Sampler:
    """Randomized response; the fault divides by e + 1 instead of e + k - 1: the truth is off by a factor of k - 1."""
    rng = generator(seed)
    truth = math.exp(epsilon) / (math.exp(epsilon) + (1 if forgets_others else k - 1))

    def draw(values: Array) -> Array:
        others = rng.integers(0, k - 1, len(values))
        others += others >= values
        return np.where(rng.random(len(values)) < truth, values, others)

    return draw


def unary(k: int, epsilon: float, seed: int, *, skips_last: bool = False, shares_words: bool = False) -> Sampler:
    """Optimized unary reports; faults: the last bit is the truth, or neighbouring bits use the same random word."""
    rng = generator(seed)
    other = 1 / (math.exp(epsilon) + 1)

    def draw(values: Array) -> Array:
        words = rng.random((len(values), k // 2 if shares_words else k))
        words = np.repeat(words, 2, axis=1) if shares_words else words
        own = np.arange(k) == values[:, None]
        bits = words < np.where(own, 0.5, other)
        if skips_last:
            bits[:, -1] = own[:, -1]
        return bits.astype(np.uint8)

    return draw


def laplace(epsilon: float, seed: int) -> Sampler:
    """The textbook float sampler: value plus scale times a logarithm."""
    rng = generator(seed)
    return lambda values: values + rng.laplace(0.0, 1 / epsilon, len(values))


def bloom(bits: int, hashes: int, epsilon: float, seed: int, *, counts_one_hash: bool = False) -> Sampler:
    """A RAPPOR-like filter of values below bits / hashes; the fault computes epsilon for one hash function."""
    rng = generator(seed)
    counted = 1 if counts_one_hash else hashes
    truth = math.exp(epsilon / (2 * counted)) / (1 + math.exp(epsilon / (2 * counted)))

    def draw(values: Array) -> Array:
        own = np.arange(bits) // hashes == values[:, None]
        return (rng.random((len(values), bits)) < np.where(own, truth, 1 - truth)).astype(np.uint8)

    return draw


def reusing(k: int, epsilon: float, seed: int, pool: int) -> Sampler:
    """Randomized response whose random words are drawn once and used again and again: right law, wrong randomness."""
    words = generator(seed).random((2, pool))
    truth = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    position = 0

    def draw(values: Array) -> Array:
        nonlocal position
        at = (position + np.arange(len(values))) % pool
        position = (position + len(values)) % pool
        others = (words[1, at] * (k - 1)).astype(np.int64)
        others += others >= values
        return np.where(words[0, at] < truth, values, others)

    return draw


def seeded_per_call(epsilon: float) -> Sampler:
    """Every call starts the same generator again."""

    def draw(values: Array) -> Array:
        return np.where(generator(7).random(len(values)) < math.exp(epsilon) / (math.exp(epsilon) + 1), values, 1 - values)

    return draw
