"""Records: one accumulator per field, fed together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from deniable.accumulators.base import HEADER, Accumulator, check_head
from deniable.errors import Malformed
from deniable.mechanisms import Mechanism


class Joined(Accumulator):
    """The accumulators of a record's fields. `parts[name]` is the one of a field."""

    def __init__(self, mechanism: Mechanism) -> None:
        from deniable.accumulators.choose import accumulator_for

        super().__init__(mechanism)
        fields: Mapping[str, Mechanism] = mechanism.parts  # type: ignore[attr-defined]
        self.parts = {name: accumulator_for(part) for name, part in fields.items()}

    @staticmethod
    def width(mechanism: Mechanism) -> int:
        """None of its own."""
        return 0

    def fold(self, outputs: tuple[Any, ...]) -> None:
        """Every field folds its own column."""
        for part, column in zip(self.parts.values(), outputs, strict=True):
            part.fold(column)
            part.n += len(column[0]) if isinstance(column, tuple) else len(column)

    def merge(self, other: Accumulator) -> Self:
        """Field by field."""
        merged = super().merge(other)
        assert isinstance(other, Joined)
        merged.parts = {name: part.merge(other.parts[name]) for name, part in self.parts.items()}
        return merged

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
        found = cls(mechanism)
        found.n = check_head(mechanism, data)
        rest = data[HEADER + 1 :]
        if data[HEADER] != 1:
            raise Malformed("a record's own sums are empty")
        for name, part in found.parts.items():
            size = int.from_bytes(rest[:8], "big")
            if len(rest) < 8 + size:
                raise Malformed("the sums of a record's field are cut short")
            found.parts[name] = type(part).from_bytes(part.mechanism, rest[8 : 8 + size])
            rest = rest[8 + size :]
        if rest or any(part.n != found.n for part in found.parts.values()):
            raise Malformed("the fields of a record do not fit together")
        return found
