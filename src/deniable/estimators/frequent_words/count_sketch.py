"""A Count-Sketch read from noisy Hadamard coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit, uint64
from numpy.typing import NDArray
from scipy import special

from deniable.batch import Floats, wide_mix
from deniable.core import SketchSigns, TwoLevel
from deniable.errors import NotSupported
from deniable.estimators.frequent_words.candidates import Prefixes
from deniable.estimators.walsh_hadamard import walsh_hadamard

CHUNK = 1 << 16
LUCKY = 10
"""How many prefixes that nobody has may come through the median on average; the mean sorts them out."""


@njit(nogil=True, cache=True)
def _read(table, keys, width_bits, prefixes, out):  # type: ignore[no-untyped-def]
    for i in range(prefixes.size):
        for row in range(keys.size):
            mixed = wide_mix(keys[row], prefixes[i])
            value = table[row, uint64(mixed) >> (uint64(32) - width_bits)]
            out[i, row] = -value if mixed & 1 else value


@dataclass(frozen=True, eq=False)
class CountSketch:
    """The sketch of one group. Every row gives each prefix an unbiased share: its own, and by chance signs some others'."""

    channel: TwoLevel
    sums: NDArray[np.int64]
    """How often each output of the group's channel was reported."""

    @property
    def sets(self) -> SketchSigns:
        """The sets of the channel: which outputs stand for which cells and signs."""
        assert isinstance(self.channel.sets, SketchSigns)
        return self.channel.sets

    @cached_property
    def kept_mean(self) -> float:
        """c = (high - low)/(high + low) = tanh(epsilon/2): what is left of a sign's mean."""
        return (self.channel.high - self.channel.low) / (self.channel.high + self.channel.low)

    @cached_property
    def by_row(self) -> NDArray[np.int64]:
        """How many reports each row has."""
        reports: NDArray[np.int64] = self.sums.reshape(1 << self.sets.row_bits, -1).sum(axis=1)
        return reports

    @property
    def reports(self) -> int:
        """How many reports the group has."""
        return int(self.by_row.sum())

    @cached_property
    def table(self) -> Floats:
        """The signed share of every cell in every row, unbiased; rows without reports are 0."""
        pairs = self.sums.reshape(1 << self.sets.row_bits, -1, 2)
        signed = pairs[:, :, 0] - pairs[:, :, 1]
        cells = np.stack([walsh_hadamard(np.ascontiguousarray(row)) for row in signed])
        return cells / (self.kept_mean * np.maximum(self.by_row, 1)[:, None])

    @cached_property
    def second_moment(self) -> float:
        """The sum of squared shares, estimated: what collisions are made of. Between 0 and 1."""
        used = self.by_row > 0
        noise = self.table.shape[1] / (self.kept_mean**2 * self.by_row[used])
        return float(np.clip(((self.table[used] ** 2).sum(axis=1) - noise).mean(), 0, 1))

    def rows(self, prefixes: Prefixes) -> Floats:
        """What every row says about every prefix."""
        readings = np.empty((len(prefixes), len(self.table)))
        _read(self.table, np.array(self.sets.keys, np.uint32), np.uint64(self.sets.width_bits), prefixes, readings)
        return readings

    def screened(self, prefixes: Prefixes, least: float) -> tuple[NDArray[np.intp], Floats]:
        """Prefixes whose median over the rows is large: a collision spoils a row, rarely half of them.

        The median of R rows exceeds t only when R/2 of them do; t makes that happen to 10 of the prefixes
        tested, on average, if nobody had any. Returns their places and medians.
        """
        used = self.by_row > 0
        count = int(used.sum())
        half = -(-count // 2)
        chance = (LUCKY / len(prefixes) / math.comb(count, half)) ** (1 / half)
        spread = math.sqrt(1 / (self.kept_mean**2 * self.by_row[used].mean()) + self.second_moment / self.table.shape[1])
        needed = max(spread * float(special.ndtri(1 - min(0.5, chance))), least)
        places, medians = [], []
        for start in range(0, len(prefixes), CHUNK):
            median = np.median(self.rows(prefixes[start : start + CHUNK])[:, used], axis=1)
            places.append(np.flatnonzero(median >= needed) + start)
            medians.append(median[places[-1] - start])
        return np.concatenate(places), np.concatenate(medians)

    def solved(self, prefixes: Prefixes) -> tuple[Floats, Floats]:
        """Shares of these prefixes, by the mean over all reports, without their collisions with each other; and variances.

        The mean of v is its share plus those of the others in its cell, with public signs: a linear system
        whose matrix also is the covariance of the noise. Collisions with all other words remain: their
        squared shares, spread over the cells, are added to the variance.
        """
        if len(prefixes) == 0:
            return np.zeros(0), np.zeros(0)
        share = self.by_row / self.reports
        places = [[self.sets.place(row, prefix) for row in range(len(share))] for prefix in prefixes.tolist()]
        cells, negative = np.moveaxis(np.array(places), 2, 0)
        signs = 1 - 2 * negative
        together = np.zeros((len(prefixes), len(prefixes)))
        for row, part in enumerate(share):
            same = cells[:, None, row] == cells[None, :, row]
            together += part * same * np.outer(signs[:, row], signs[:, row])
        if np.linalg.cond(together) > 1e6:
            raise NotSupported("the sketch is too small to tell the words found apart; give it more rows or wider ones")
        inverse = np.linalg.inv(together)
        value = inverse @ (self.rows(prefixes) @ share)
        others = max(0.0, self.second_moment - float((value**2).sum()))
        collisions = others / self.table.shape[1] * float((share**2).sum())
        noise = np.diagonal(inverse) / self.kept_mean**2 - np.clip(value, 0, 1) ** 2
        return value, noise / self.reports + collisions
