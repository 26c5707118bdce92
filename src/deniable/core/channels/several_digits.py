"""Records of which some fields are answered together: the channel that reads their digits as one number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deniable.core.channels.base import Channel
from deniable.core.channels.digit_reader import DigitReader
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class SeveralDigits(DigitReader):
    """A channel that reads some digits of a mixed-radix input as one number, the first of them most significant.

    >>> from deniable.core import Identity
    >>> SeveralDigits((2, 3, 2), (0, 2), Identity(4)).read(9)    # 9 is (1, 1, 1): digits 1 and 1 are the number 3
    3
    """

    sizes: Sequence[int]
    places: Sequence[int]
    inner: Channel

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", tuple(self.sizes))
        object.__setattr__(self, "places", tuple(self.places))
        last = -1
        for place in self.places:
            if not last < place < len(self.sizes):
                raise InvalidParameter("places must be some of the digits, in their order")
            last = place
        if not self.places or self.inner.inputs != math.prod(size for _, size in self.kept):
            raise InvalidParameter("the inner channel must take the digits at the places, as one number")

    def compiled(self) -> dict[str, Any]:
        """Which digits, of which sizes, and the inner channel."""
        return {"kind": "several-digits", "sizes": list(self.sizes), "places": list(self.places), "inner": self.inner.compiled()}
