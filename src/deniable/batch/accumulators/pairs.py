"""How often two fields of a record are supported together: the sums behind a two-way table."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deniable.batch.accumulators.base import HEADER, MAGIC, MOST, VERSION, check_head, narrowest, outputs_of, read_sums
from deniable.batch.accumulators.plain_kernels import GOLDEN
from deniable.core import Channel, Mechanism
from deniable.errors import InvalidParameter, Malformed, NotSupported, WrongRecipe

MOST_CELLS = 1 << 22
CHUNK_CELLS = 1 << 20
"""Reports are unfolded into rows of zeros and ones, so many cells at a time."""


class PairCounts:
    """For two fields of a `product`: C(u, v) reports that support u in the first and v in the second, C(u), C(v).

    As every accumulator: fold(a + b) == fold(a).merge(fold(b)).
    """

    def __init__(self, mechanism: Mechanism, first: str, second: str) -> None:
        if not mechanism.channel.side_by_side:
            raise NotSupported(
                f"{mechanism.name} never reports two fields of one person truthfully, so it has no two-way tables; use product"
            )
        names = list(mechanism.parts)
        if first not in names or second not in names or first == second:
            raise InvalidParameter(f"first and second must be two different fields out of {', '.join(names)}")
        self.mechanism = mechanism
        self.fields = (first, second)
        self.places = (names.index(first), names.index(second))
        self.channels = tuple(mechanism.channel.side_by_side[place] for place in self.places)
        self.shape = (self.channels[0].inputs, self.channels[1].inputs)
        for channel in self.channels:
            if channel.support() is None:
                raise NotSupported("a two-way table needs fields whose reports support values: categorical mechanisms")
        if self.shape[0] * self.shape[1] > MOST_CELLS:
            raise NotSupported(f"a two-way table has at most {MOST_CELLS} cells, this one {self.shape[0] * self.shape[1]}")
        self.n = 0
        self.sums: NDArray[np.int64] = np.zeros(self.shape[0] * self.shape[1] + sum(self.shape), np.int64)

    @property
    def pairs(self) -> NDArray[np.int64]:
        """C(u, v): how many reports support u in the first field and v in the second."""
        return self.sums[: self.shape[0] * self.shape[1]].reshape(self.shape)

    @property
    def margins(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """C(u) and C(v): how many reports support each value of either field."""
        rest = self.sums[self.shape[0] * self.shape[1] :]
        return rest[: self.shape[0]], rest[self.shape[0] :]

    def add(self, reports: Any) -> Self:
        """Add a batch (`Reports`), one `Report`, or a sequence of them; returns the accumulator itself."""
        columns = outputs_of(self.mechanism, reports)
        first, second = columns[self.places[0]], columns[self.places[1]]
        step = max(1, CHUNK_CELLS // sum(self.shape))
        for start in range(0, len(first), step):
            rows = support_rows(self.channels[0], first[start : start + step])
            others = support_rows(self.channels[1], second[start : start + step])
            # Doubles hold whole numbers up to 2**53 exactly, and multiply matrices faster than integers do.
            together = rows.T.astype(np.float64) @ others.astype(np.float64)
            sums = [together.ravel().astype(np.int64), rows.sum(axis=0, dtype=np.int64), others.sum(axis=0, dtype=np.int64)]
            self.sums += np.concatenate(sums)
        self.n += len(first)
        return self

    def merge(self, other: PairCounts) -> PairCounts:
        """A new accumulator with the reports of both."""
        same = isinstance(other, PairCounts) and other.fields == self.fields
        if not same or other.mechanism.fingerprint != self.mechanism.fingerprint:
            raise WrongRecipe("only sums of the same recipe and the same fields can be merged")
        if self.n + other.n > MOST:
            raise InvalidParameter("more than 2**63 reports cannot be summed")
        merged = PairCounts(self.mechanism, *self.fields)
        merged.n, merged.sums = self.n + other.n, self.sums + other.sums
        return merged

    def __len__(self) -> int:
        return self.n

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairCounts):
            return NotImplemented
        same = self.fields == other.fields and self.mechanism.fingerprint == other.mechanism.fingerprint
        return same and self.n == other.n and bool(np.array_equal(self.sums, other.sums))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"PairCounts(n={self.n}, fields={self.fields!r}, mechanism={self.mechanism!r})"

    def to_bytes(self) -> bytes:
        """Header, number of reports, the two fields' places, then the sums in the narrowest width that holds them."""
        head = MAGIC + bytes([VERSION]) + bytes.fromhex(self.mechanism.fingerprint) + self.n.to_bytes(8, "big")
        places = b"".join(place.to_bytes(2, "big") for place in self.places)
        width = narrowest(self.sums)
        return head + places + bytes([width]) + self.sums.astype(f"<u{width}").tobytes()

    @classmethod
    def from_bytes(cls, mechanism: Mechanism, data: bytes) -> PairCounts:
        """Sums written by `to_bytes` of the same recipe; anything else is refused."""
        n = check_head(mechanism, data)
        names = list(mechanism.parts)
        places = [int.from_bytes(data[HEADER + 2 * j : HEADER + 2 * j + 2], "big") for j in range(2)]
        if len(data) < HEADER + 5 or max(places) >= len(names) or places[0] == places[1]:
            raise Malformed("the bytes are not the pair counts of two fields of this recipe")
        counts = cls(mechanism, names[places[0]], names[places[1]])
        counts.n, counts.sums = n, read_sums(data[HEADER + 4 :], len(counts.sums))
        rows, columns = counts.margins
        if (counts.pairs > np.minimum(rows[:, None], columns[None])).any() or int(counts.sums.max(initial=0)) > n:
            raise Malformed("a pair counts more reports than there are")
        return counts


def support_rows(channel: Channel, outputs: NDArray[Any]) -> NDArray[np.bool_]:
    """Row i, column v: does report i support value v?"""
    if channel.unary:
        return np.unpackbits(outputs, axis=1, count=channel.inputs, bitorder="little").astype(np.bool_)
    if channel.buckets is not None:
        return _hashed_rows(channel.inputs, channel.buckets, outputs)
    different, where = np.unique(outputs, return_inverse=True)
    rows = [[channel.supports(value, output) for value in range(channel.inputs)] for output in different.tolist()]
    return np.array(rows, np.bool_).reshape(-1, channel.inputs)[where]


def _hashed_rows(size: int, buckets: int, outputs: NDArray[Any]) -> NDArray[np.bool_]:
    """The hash of deniable.core.channels.hashing on every report and value, in 32-bit arithmetic that wraps around."""
    seeds, reported = np.divmod(outputs.astype(np.uint64), np.uint64(buckets))
    spread = (np.arange(size, dtype=np.uint64) * np.uint64(GOLDEN)).astype(np.uint32)
    h = seeds.astype(np.uint32)[:, None] + spread
    h = (h ^ (h >> np.uint32(16))) * np.uint32(0x7FEB352D)
    h = (h ^ (h >> np.uint32(15))) * np.uint32(0x846CA68B)
    h ^= h >> np.uint32(16)
    return np.asarray((h.astype(np.uint64) * np.uint64(buckets) >> np.uint64(32)) == reported[:, None])
