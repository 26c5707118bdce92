"""What the mechanisms with sensitive and other values share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from deniable.core.exact.numbers import as_index
from deniable.core.mechanisms.categorical_base import CategoricalMechanism
from deniable.core.mechanisms.privacy import Privacy
from deniable.errors import InvalidParameter


@dataclass(frozen=True, kw_only=True, repr=False)
class SensitiveMechanism(CategoricalMechanism):
    """Categories of which some are sensitive: a report never makes anyone much surer of those; it may show any other one."""

    sensitive: Sequence[int]

    def __post_init__(self) -> None:
        super().__post_init__()
        size = self.domain.size
        rule = f"sensitive must be a list of categories by their numbers 0 … {size - 1}, at least one"
        if isinstance(self.sensitive, str) or not isinstance(self.sensitive, Sequence):
            raise InvalidParameter(rule)
        numbers = [as_index(x) for x in self.sensitive]
        whole = sorted({x for x in numbers if x is not None and 0 <= x < size})
        if not whole or len(whole) != len(numbers):
            raise InvalidParameter(f"{rule}, each once")
        object.__setattr__(self, "sensitive", tuple(whole))

    @property
    def others(self) -> tuple[int, ...]:
        """The values that are not sensitive."""
        return tuple(x for x in range(self.domain.size) if x not in self.sensitive)

    @cached_property
    def promise(self) -> Privacy:
        """epsilon for every sensitive value against any other; nothing for the others."""
        return Privacy.sensitive(self.domain.size, self.sensitive, self.privacy)
