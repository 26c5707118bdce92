"""Yes or no."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from deniable.core.domains.base import Domain
from deniable.core.exact.numbers import as_index


@dataclass(frozen=True)
class Binary(Domain):
    """A bit: 0, 1, False or True.

    >>> Binary().encode(True), Binary().decode(0)
    (1, 0)
    """

    kind: ClassVar[str] = "binary"

    @property
    def size(self) -> int:
        return 2

    def encode(self, value: Any) -> int:
        """0 for 0 and False, 1 for 1 and True."""
        whole = int(value) if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_") else as_index(value)
        if whole in (0, 1):
            return whole
        raise self.refuse("the value must be 0, 1, False or True to belong to")

    def decode(self, index: int) -> int:
        return self.check_index(index)

    def clip(self, value: Any) -> int:
        """The truth of the value."""
        return int(bool(value))

    def recipe(self) -> dict[str, Any]:
        return {"kind": self.kind}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Binary:
        return cls(**fields)
