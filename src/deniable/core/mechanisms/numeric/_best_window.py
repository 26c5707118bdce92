"""What the windows chosen for a loss share: the exponent of the loss, and the width that is best for it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from deniable.core.exact.numbers import Number, as_fraction
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.numeric._window_shape import best_share, odd_width
from deniable.errors import InvalidParameter


@dataclass(frozen=True, kw_only=True, repr=False)
class BestWindow(Mechanism):
    """A window around the true cell, as wide as is best for the loss |y - x|**k; `loss_exponent` is k."""

    loss_exponent: Number = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "loss_exponent", loss_exponent(self.loss_exponent))

    @property
    def exponent(self) -> Fraction:
        """The loss exponent, exactly."""
        return Fraction(self.loss_exponent)

    def width_of(self, cells: int) -> int:
        """The odd number of cells that is nearest to the best share of all cells."""
        return odd_width(best_share(self.privacy, self.exponent), cells)


def loss_exponent(value: Number) -> Fraction:
    """An exponent between 1/10 and 20, exactly."""
    exact = as_fraction(value)
    if exact is None or not Fraction(1, 10) <= exact <= 20:
        raise InvalidParameter("loss_exponent must be a number between 0.1 and 20")
    return exact
