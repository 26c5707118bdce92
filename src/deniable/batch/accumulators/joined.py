"""Records: one accumulator per field, fed together or one at a time."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deniable.batch.accumulators.base import HEADER, Accumulator, check_head
from deniable.batch.digits import digit_columns
from deniable.batch.packing import outputs_from_ints
from deniable.core import Mechanism, Record
from deniable.errors import Malformed


def field_sums(whole: Accumulator, name: str) -> Accumulator:
    """The sums of a record's field; of anything that is not a record, all of them."""
    record = isinstance(whole, Joined) and isinstance(whole.mechanism.domain, Record)
    return whole.parts.get(name, whole) if record else whole  # type: ignore[attr-defined]  # a table has several fields


class Joined(Accumulator):
    """The accumulators of a record's fields, or of a tree's levels. `parts[name]` is the one of a field."""

    def __init__(self, mechanism: Mechanism) -> None:
        from deniable.batch.accumulators.choose import accumulator_for

        super().__init__(mechanism)
        self.parts = {name: accumulator_for(part) for name, part in mechanism.parts.items()}

    @staticmethod
    def width(mechanism: Mechanism) -> int:
        return 0

    def fold(self, outputs: Any) -> None:
        """Every field folds its own column."""
        for part, column in zip(self.parts.values(), self._columns(outputs), strict=True):
            part.fold(column)
            part.n += len(column[0]) if isinstance(column, tuple) else len(column)

    def _columns(self, outputs: Any) -> Any:
        """One column per field, from columns or from mixed-radix numbers."""
        channel = self.mechanism.channel
        if channel.side_by_side:
            return outputs
        if _outside(outputs, channel.outputs):
            raise Malformed("a report's output is not one this recipe can give")
        sizes = tuple(part.mechanism.channel.outputs for part in self.parts.values())
        return [digits.astype(np.uint64) for digits in digit_columns(outputs, sizes)]

    def fits(self) -> bool:
        """Have all fields been told by everyone?"""
        return all(part.n == self.n for part in self.parts.values())

    def merge(self, other: Accumulator) -> Self:
        merged = super().merge(other)
        assert isinstance(other, Joined)
        merged.parts = {name: part.merge(other.parts[name]) for name, part in self.parts.items()}
        return merged

    def fewer(self, share: Fraction) -> Self:
        less = super().fewer(share)
        less.parts = {name: part.fewer(share) for name, part in self.parts.items()}
        less.n = less._counted()
        return less

    def _counted(self) -> int:
        """How many reports the parts hold."""
        return next(iter(self.parts.values())).n

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Joined) and super().__eq__(other) and self.parts == other.parts

    __hash__ = None

    def to_bytes(self) -> bytes:
        """The header, then every field's own bytes with their length."""
        inner = b"".join(len(data).to_bytes(8, "big") + data for data in (part.to_bytes() for part in self.parts.values()))
        return super().to_bytes() + inner

    @classmethod
    def from_bytes(cls, mechanism: Mechanism, data: bytes) -> Self:
        """Sums written by `to_bytes` of the same recipe; anything else is refused."""
        accumulator = cls(mechanism)
        accumulator.n = check_head(mechanism, data)
        rest = data[HEADER + 1 :]
        if data[HEADER] != 1:
            raise Malformed("a record's own sums are empty")
        for name, part in accumulator.parts.items():
            size = int.from_bytes(rest[:8], "big")
            if len(rest) < 8 + size:
                raise Malformed("the sums of a record's field are cut short")
            accumulator.parts[name] = type(part).from_bytes(part.mechanism, rest[8 : 8 + size])
            rest = rest[8 + size :]
        if rest or not accumulator.fits():
            raise Malformed("the fields of a record do not fit together")
        return accumulator


class Sampled(Joined):
    """The same for records of which every report answers one field: `parts[name].n` people answered that one."""

    def fold(self, outputs: NDArray[Any]) -> None:
        """Every field folds the reports that answer it."""
        channel = self.mechanism.channel
        if _outside(outputs, channel.outputs):
            raise Malformed("a report's output is not one this recipe can give")
        for (start, _, inner), part in zip(channel.alternatives, self.parts.values(), strict=True):
            mine = outputs[(outputs >= start) & (outputs - start < inner.outputs)] if start else outputs[outputs < inner.outputs]
            part.fold(_own(part.mechanism, mine - start if start else mine))
            part.n += len(mine)

    def _counted(self) -> int:
        return sum(part.n for part in self.parts.values())

    def fits(self) -> bool:
        return self._counted() == self.n


def _own(part: Mechanism, outputs: NDArray[Any]) -> Any:
    """Numbers of a mixture as the arrays the part's own reports have."""
    channel = part.channel
    rows = channel.unary or channel.side_by_side
    if rows or outputs.dtype == object:
        return outputs_from_ints(channel, [int(output) for output in outputs.tolist()])
    return outputs


def _outside(outputs: NDArray[Any], size: int) -> bool:
    return bool(len(outputs)) and (int(outputs.max()) >= size or int(outputs.min()) < 0)
