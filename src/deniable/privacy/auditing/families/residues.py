"""Remainders of whole numbers of any size, by small moduli: of fields, of sums and differences of two, and of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from deniable.privacy.auditing.events import Codes, Feature, contrast
from deniable.privacy.auditing.families.sequence import trials
from deniable.privacy.auditing.field_readings import Words, readings
from deniable.privacy.auditing.fields import Table

MODULI = (2, *range(3, 130), 251, 255, 257, 360, 365, 509, 997, 1000)
MOST_FEATURES = 6
MOST_STEPS = 2
FROM = 4
"""The same number may be tested as little-endian bytes when it has so many of them."""
MOST_PAIRED = 6
MOST_ROWS = 1 << 14
Numbers = NDArray[np.float64]


def propose(fit: Table, inputs: int) -> Iterator[Feature]:
    """The moduli under which the test values look least alike."""
    fields = [words for words in readings(fit) if not words.names and words.unit != "character"]
    scored: list[tuple[float, Callable[[], Feature]]] = []
    for words in fields:
        for backwards in (False, True) if words.radix == 256 and words.width >= FROM else (False,):
            sums = words.read(fit).astype(np.float64) @ _weights(words, MODULI, backwards)
            for column, modulus in enumerate(MODULI):
                score = _score(_below(sums[:, column], modulus), fit.places, modulus, inputs)
                scored.append((score, partial(_residue, words, modulus, backwards)))
    part = fit.rows(slice(0, MOST_ROWS)) if len(fit) > MOST_ROWS else fit
    scored += _of_two(fields, part, inputs)
    for _, make in sorted(scored, key=lambda one: -one[0])[:MOST_FEATURES]:
        yield make()
    for _, make in sorted(_of_steps(fields, part, inputs), key=lambda one: -one[0])[:MOST_STEPS]:
        yield make()


def _score(codes: Codes, places: Codes, modulus: int, inputs: int) -> float:
    return float(contrast(np.bincount(places * modulus + codes, minlength=inputs * modulus).reshape(inputs, modulus)))


def _of_two(fields: list[Words], fit: Table, inputs: int) -> Iterator[tuple[float, Callable[[], Feature]]]:
    """Sums and differences of two fields."""
    few = [words for words in fields if words.main][:MOST_PAIRED]
    sums = [words.read(fit).astype(np.float64) @ _weights(words, MODULI, False) for words in few]
    for (one, first), (other, second) in combinations(zip(few, sums, strict=True), 2):
        for sign in (1, -1):
            for column, modulus in enumerate(MODULI):
                codes = _below(first[:, column] + sign * second[:, column], modulus)
                yield _score(codes, fit.places, modulus, inputs), partial(_residue_of_two, one, other, sign, modulus)


def _of_steps(fields: list[Words], fit: Table, inputs: int) -> Iterator[tuple[float, Callable[[], Feature]]]:
    """How far a field moved since the report before."""
    rows = trials(fit)
    for words in [words for words in fields if words.main][:MOST_PAIRED] if len(rows) else ():
        sums = words.read(fit).astype(np.float64) @ _weights(words, MODULI, False)
        for column, modulus in enumerate(MODULI):
            codes = _below(sums[rows, column] - sums[rows - 1, column], modulus)
            yield _score(codes, fit.places[rows], modulus, inputs), partial(_residue_of_step, words, modulus)


def _weights(words: Words, moduli: tuple[int, ...], backwards: bool) -> Numbers:
    """Powers of the radix below each modulus: products and sums stay exact in doubles."""
    powers = [[pow(words.radix, words.width - 1 - place, modulus) for modulus in moduli] for place in range(words.width)]
    return np.array(powers[::-1] if backwards else powers, np.float64)


def _below(sums: Numbers, modulus: int) -> Codes:
    return (sums.astype(np.int64) % modulus).astype(np.intp)


def _total(words: Words, modulus: int, backwards: bool, table: Table) -> Numbers:
    return np.asarray(words.read(table).astype(np.float64) @ _weights(words, (modulus,), backwards)[:, 0], np.float64)


def _residue(words: Words, modulus: int, backwards: bool) -> Feature:
    def encode(table: Table) -> Codes:
        return _below(_total(words, modulus, backwards, table), modulus)

    return Feature(f"{words.name} modulo {modulus}{', lowest byte first' if backwards else ''}", encode, modulus)


def _residue_of_two(one: Words, other: Words, sign: int, modulus: int) -> Feature:
    def encode(table: Table) -> Codes:
        return _below(_total(one, modulus, False, table) + sign * _total(other, modulus, False, table), modulus)

    return Feature(f"{one.name} {'plus' if sign > 0 else 'minus'} {other.name}, modulo {modulus}", encode, modulus)


def _residue_of_step(words: Words, modulus: int) -> Feature:
    def encode(table: Table) -> Codes:
        total, rows = _total(words, modulus, False, table), trials(table)
        return _below(total[rows] - total[rows - 1], modulus)

    return Feature(f"the step of {words.name} from the report before, modulo {modulus}", encode, modulus, trials)
