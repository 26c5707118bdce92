"""The contract of an accumulator: a commutative monoid over reports of one recipe."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deniable.batch.packing import outputs_from_ints
from deniable.batch.reports import Reports
from deniable.core import Mechanism, Report
from deniable.errors import InvalidParameter, Malformed, UnknownVersion, WrongRecipe

MAGIC = b"da"
VERSION = 1
HEADER = 2 + 1 + 16 + 8
MOST = (1 << 63) - 1


class Accumulator(ABC):
    """The number of reports and integer sums over them.

    fold(a + b) == fold(a).merge(fold(b)), whatever the order and the grouping: a laptop, a server, a
    database row and a cluster's workers all do the same thing, and nobody needs the reports twice.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.n = 0
        self.sums: NDArray[np.int64] = np.zeros(self.width(mechanism), np.int64)

    @staticmethod
    @abstractmethod
    def width(mechanism: Mechanism) -> int:
        """How many sums there are; depends on the recipe only."""

    @abstractmethod
    def fold(self, outputs: Any) -> None:
        """Add an array of outputs, already checked, to the sums."""

    def add(self, reports: Any) -> Self:
        """Add a batch (`Reports`), one `Report`, or a sequence of them; returns the accumulator itself."""
        outputs = outputs_of(self.mechanism, reports)
        self.fold(outputs)
        self.n += _length(outputs)
        return self

    def merge(self, other: Accumulator) -> Self:
        """A new accumulator with the reports of both."""
        if type(other) is not type(self) or other.mechanism.fingerprint != self.mechanism.fingerprint:
            raise WrongRecipe("only sums of the same recipe can be merged")
        if self.n + other.n > MOST:
            raise InvalidParameter("more than 2**63 reports cannot be summed")
        merged = type(self)(self.mechanism)
        merged.n = self.n + other.n
        merged.sums = self.sums + other.sums
        return merged

    def fewer(self, share: Fraction) -> Self:
        """Sums of this share of the reports, in the same proportions: for reports that repeat what others said."""
        less = type(self)(self.mechanism)
        less.n = math.ceil(self.n * share)
        less.sums = self._in_proportion(less.n / max(self.n, 1))
        return less

    def _in_proportion(self, ratio: float) -> NDArray[np.int64]:
        return np.asarray(np.rint(self.sums * ratio), np.int64)

    def __add__(self, other: Accumulator) -> Self:
        return self.merge(other)

    def __len__(self) -> int:
        return self.n

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Accumulator):
            return NotImplemented
        same = type(self) is type(other) and self.mechanism.fingerprint == other.mechanism.fingerprint
        return same and self.n == other.n and bool(np.array_equal(self.sums, other.sums))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={self.n}, mechanism={self.mechanism!r})"

    def to_bytes(self) -> bytes:
        """Header, number of reports, then the sums in the narrowest of 1, 2, 4 or 8 bytes each."""
        head = MAGIC + bytes([VERSION]) + bytes.fromhex(self.mechanism.fingerprint) + self.n.to_bytes(8, "big")
        width = narrowest(self.sums)
        return head + bytes([width]) + self.sums.astype(f"<u{width}").tobytes()

    @classmethod
    def from_bytes(cls, mechanism: Mechanism, data: bytes) -> Self:
        """Sums written by `to_bytes` of the same recipe; anything else is refused."""
        accumulator = cls(mechanism)
        accumulator.n = check_head(mechanism, data)
        sums = read_sums(data[HEADER:], len(accumulator.sums))
        if int(sums.max(initial=0)) > accumulator.n:
            raise Malformed("a sum counts more reports than there are")
        accumulator.sums = sums
        return accumulator


def check_head(mechanism: Mechanism, data: bytes) -> int:
    """The number of reports in a header of this recipe."""
    if not isinstance(data, bytes | bytearray | memoryview) or len(data) < HEADER + 1 or bytes(data[:2]) != MAGIC:
        raise Malformed("the bytes are not the sums of an accumulator")
    if data[2] != VERSION:
        raise UnknownVersion(f"this release reads version {VERSION} of accumulators, got version {data[2]}")
    if bytes(data[3:19]).hex() != mechanism.fingerprint:
        raise WrongRecipe(f"the sums belong to another recipe than {mechanism.fingerprint} ({mechanism.name})")
    n = int.from_bytes(data[19:HEADER], "big")
    if n > MOST:
        raise Malformed("the number of reports is beyond 2**63")
    return n


def read_sums(body: bytes, count: int) -> NDArray[np.int64]:
    """`count` sums from a width byte and that many little-endian numbers; exactly one encoding is accepted."""
    width = body[0]
    if width not in (1, 2, 4, 8) or len(body) != 1 + count * width:
        raise Malformed(f"the sums of this recipe are {count} numbers of 1, 2, 4 or 8 bytes")
    unsigned = np.frombuffer(body, f"<u{width}", offset=1)
    if len(unsigned) and int(unsigned.max()) > MOST:
        raise Malformed("a sum is beyond 2**63")
    sums = unsigned.astype(np.int64)
    if narrowest(sums) != width:
        raise Malformed("the sums are written wider than they need to be")
    return sums


def narrowest(sums: NDArray[np.int64]) -> int:
    """How many bytes the largest sum takes: 1, 2, 4 or 8."""
    largest = int(sums.max(initial=0))
    return next(width for width in (1, 2, 4, 8) if largest < 1 << 8 * width)


def outputs_of(mechanism: Mechanism, reports: Any) -> Any:
    """The outputs of a batch or of reports one by one, after checking that they are of this recipe."""
    if isinstance(reports, Reports):
        if reports.mechanism.fingerprint != mechanism.fingerprint:
            raise WrongRecipe("the reports were made by another recipe")
        return reports.outputs
    several = [reports] if isinstance(reports, Report) else list(reports)
    for report in several:
        if not isinstance(report, Report):
            raise InvalidParameter(f"reports are a batch or a sequence of Report, got {type(report).__name__}")
        if report.recipe != mechanism.fingerprint:
            raise WrongRecipe("the reports were made by another recipe")
    return outputs_from_ints(mechanism.channel, [report.output for report in several])


def _length(outputs: Any) -> int:
    return _length(outputs[0]) if isinstance(outputs, tuple) else len(outputs)
