"""The reports of PEM, group by group: later groups are asked only once the earlier ones have answered."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch.accumulators.base import outputs_of
from deniable.core import PrefixExtendingMethod
from deniable.errors import InvalidParameter, Malformed, UnknownVersion, WrongRecipe

MAGIC = b"dp"
VERSION = 1
HEADER = 2 + 1 + 16 + 8


class PEMCollector:
    """Every report, 8 bytes each, sorted by group. Merging two is putting their reports together.

    Hashed reports over 2**48 words have no small sums: which words to count is known only when the
    shorter prefixes are. TreeHist has sums, and needs more users for the same words.

    >>> mechanism = PrefixExtendingMethod(epsilon=4)
    >>> collector = PEMCollector(mechanism).add(mechanism.randomize("hello"))
    >>> len(collector.merge(collector))
    2
    """

    def __init__(self, mechanism: PrefixExtendingMethod) -> None:
        if not isinstance(mechanism, PrefixExtendingMethod):
            raise InvalidParameter(f"mechanism must be PrefixExtendingMethod, got {type(mechanism).__name__}")
        self.mechanism = mechanism
        self._parts: list[list[NDArray[np.uint64]]] = [[] for _ in mechanism.channel.parts]

    def add(self, reports: Any) -> PEMCollector:
        """Add a batch (`Reports`), one `Report`, or a sequence of them; returns the collector itself."""
        self._put(np.asarray(outputs_of(self.mechanism, reports), np.uint64))
        return self

    def _put(self, outputs: NDArray[np.uint64]) -> None:
        channel = self.mechanism.channel
        if len(outputs) and int(outputs.max()) >= channel.outputs:
            raise Malformed("a report's output is not one this recipe can give")
        starts = np.array(channel.starts, np.uint64)
        group = np.searchsorted(starts, outputs, side="right") - 1
        for place, start in enumerate(starts):
            own = outputs[group == place]
            if len(own):
                self._parts[place].append(own - start)

    def outputs(self, group: int) -> NDArray[np.uint64]:
        """The outputs of one group's channel."""
        parts = self._parts[group]
        if len(parts) != 1:
            # Kept joined, so that asking again costs nothing.
            self._parts[group] = parts = [np.concatenate([np.empty(0, np.uint64), *parts])]
        return parts[0]

    @property
    def n(self) -> int:
        """The number of reports."""
        return sum(len(part) for parts in self._parts for part in parts)

    def __len__(self) -> int:
        return self.n

    def merge(self, other: PEMCollector) -> PEMCollector:
        """A new collector with the reports of both."""
        if not isinstance(other, PEMCollector) or other.mechanism.fingerprint != self.mechanism.fingerprint:
            raise WrongRecipe("only reports of the same recipe can be merged")
        merged = PEMCollector(self.mechanism)
        merged._parts = [mine + theirs for mine, theirs in zip(self._parts, other._parts, strict=True)]
        return merged

    def __repr__(self) -> str:
        return f"PEMCollector(n={self.n}, mechanism={self.mechanism!r})"

    def to_bytes(self) -> bytes:
        """Header, number of reports, then 8 bytes each, group by group."""
        head = MAGIC + bytes([VERSION]) + bytes.fromhex(self.mechanism.fingerprint) + self.n.to_bytes(8, "big")
        starts = self.mechanism.channel.starts
        body = [(self.outputs(group) + np.uint64(start)).astype("<u8").tobytes() for group, start in enumerate(starts)]
        return head + b"".join(body)

    @classmethod
    def from_bytes(cls, mechanism: PrefixExtendingMethod, data: bytes) -> PEMCollector:
        """Reports written by `to_bytes` of the same recipe; anything else is refused."""
        if not isinstance(data, bytes | bytearray | memoryview) or len(data) < HEADER or bytes(data[:2]) != MAGIC:
            raise Malformed("the bytes are not the reports of a PEM collector")
        if data[2] != VERSION:
            raise UnknownVersion(f"this release reads version {VERSION} of collectors, got version {data[2]}")
        collector = cls(mechanism)
        if bytes(data[3:19]).hex() != mechanism.fingerprint:
            raise WrongRecipe(f"the reports belong to another recipe than {mechanism.fingerprint} ({mechanism.name})")
        if len(data) != HEADER + 8 * int.from_bytes(data[19:HEADER], "big"):
            raise Malformed("the length does not fit the number of reports")
        collector._put(np.frombuffer(data, "<u8", offset=HEADER).astype(np.uint64))
        return collector
