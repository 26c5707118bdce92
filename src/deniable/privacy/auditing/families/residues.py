"""Remainders of whole numbers of any size, by small moduli."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from deniable.privacy.auditing.events import Codes, Feature, contrast
from deniable.privacy.auditing.fields import Table
from deniable.privacy.auditing.words import Words, readings

MODULI = (*range(3, 130), 251, 255, 257, 360, 365, 509, 997, 1000)
MOST = 6
FROM = 4
"""The same number may be tested as little-endian bytes when it has so many of them."""


def propose(fit: Table, inputs: int) -> Iterator[Feature]:
    """The moduli under which the test values look least alike."""
    found = []
    for words in readings(fit):
        if words.names or words.unit == "character":
            continue
        for backwards in (False, True) if words.radix == 256 and words.width >= FROM else (False,):
            sums = words.read(fit).astype(np.float64) @ _weights(words, MODULI, backwards)
            for column, modulus in enumerate(MODULI):
                codes = fit.places * modulus + _below(sums[:, column], modulus)
                counts = np.bincount(codes, minlength=inputs * modulus).reshape(inputs, modulus)
                found.append((float(contrast(counts)), words, modulus, backwards))
    for _, words, modulus, backwards in sorted(found, key=lambda one: -one[0])[:MOST]:
        yield _residue(words, modulus, backwards)


def _weights(words: Words, moduli: tuple[int, ...], backwards: bool) -> NDArray[np.float64]:
    """Powers of the radix below each modulus: products and sums stay exact in doubles."""
    powers = [[pow(words.radix, words.width - 1 - place, modulus) for modulus in moduli] for place in range(words.width)]
    return np.array(powers[::-1] if backwards else powers, np.float64)


def _below(sums: NDArray[np.float64], modulus: int) -> Codes:
    return (sums.astype(np.int64) % modulus).astype(np.intp)


def _residue(words: Words, modulus: int, backwards: bool) -> Feature:
    weights = _weights(words, (modulus,), backwards)[:, 0]

    def encode(table: Table) -> Codes:
        return _below(words.read(table).astype(np.float64) @ weights, modulus)

    return Feature(f"{words.name} modulo {modulus}{', lowest byte first' if backwards else ''}", encode, modulus)
