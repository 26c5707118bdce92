"""A place as distance and direction, with epsilon divided so that the two errors add up to the least."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.domains.circle import Circle
from deniable.core.domains.interval import Interval
from deniable.core.domains.record import Record
from deniable.core.exact.epsilon import SMALLEST, Epsilon
from deniable.core.mechanisms._golden_section import golden_section
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.circular.circular_ogpm import CircularOGPM
from deniable.core.mechanisms.circular.circular_window import CircularWindow
from deniable.core.mechanisms.numeric.ogpm import OGPM
from deniable.core.mechanisms.numeric.window import Window
from deniable.core.mechanisms.records.product import RecordMechanism
from deniable.errors import InvalidParameter

EXPONENTS = {"absolute": 1, "squared": 2}
PI = Decimal("3.14159265358979323846264338327950288419716939937510")
DIGITS = 40
GRAIN = 1 << 40
"""The distance's epsilon is a multiple of 2**-40; the direction gets exactly the rest."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Polar(RecordMechanism):
    """Distance and direction, each near the true one; epsilon is split to minimise the sum of worst errors.

    Law: a window on the distance's cells and a wrapped window on the direction's, drawn independently.
    The error of the direction is measured in radians, that of the distance in the domain's own unit;
    `loss` is "squared" or "absolute". `published=True` takes the published window e**(epsilon/2) for
    both, which is best for absolute error only; otherwise the windows suit the loss.
    Guarantee: epsilon-LDP, by exact addition of the two parts.
    Cost: two draws, 40 bits on the wire.
    Source: dissertation, Section C.2.6 (whose printed split does not add up to its epsilon).

    >>> Polar(epsilon=4).certificate().holds
    True
    """

    domain: Record = Record({"distance": Interval(0, 1), "direction": Circle()})
    loss: str = "squared"
    published: bool = False
    name: ClassVar[str] = "polar"
    source: ClassVar[str] = "Zheng, Mishra, Hu 2025; dissertation, Section C.2.6, corrected"

    def __post_init__(self) -> None:
        super().__post_init__()
        fields = self.domain.fields
        if list(fields) != ["distance", "direction"]:
            raise InvalidParameter("domain must be a Record with the fields distance and direction, in this order")
        if not isinstance(fields["distance"], Interval) or not isinstance(fields["direction"], Circle):
            raise InvalidParameter("domain: distance must be an Interval and direction a Circle")
        if fields["distance"].low != 0:
            raise InvalidParameter("domain: distance must begin at 0")
        if self.loss not in EXPONENTS:
            raise InvalidParameter("loss must be 'squared' or 'absolute'")
        if not isinstance(self.published, bool):
            raise InvalidParameter("published must be True or False")
        if self.privacy.exact < 4 * SMALLEST:
            raise InvalidParameter("epsilon must be at least 4e-9 to be divided between distance and direction")

    @cached_property
    def split(self) -> tuple[Epsilon, Epsilon]:
        """The epsilons of distance and direction, which add up exactly."""
        whole = self.privacy.exact
        least = max(whole / 1024, 2 * SMALLEST)
        with localcontext(Context(prec=DIGITS)):
            best = golden_section(self._total, _decimal(least), _decimal(whole - least), 80)
        first = Fraction(round(Fraction(best) * GRAIN), GRAIN)
        return Epsilon(first, allow_large=True), Epsilon(whole - first, allow_large=True)

    @cached_property
    def worst_loss(self) -> float:
        """The sum of the two worst-case errors at this split."""
        with localcontext(Context(prec=DIGITS)):
            return float(self._total(_decimal(self.split[0].exact)))

    def _total(self, first: Decimal) -> Decimal:
        exponent = EXPONENTS[self.loss]
        reach = self.domain.fields["distance"]
        assert isinstance(reach, Interval)
        rest = _decimal(self.privacy.exact) - first
        distance = _decimal(reach.width) ** exponent * window_loss(first, exponent, self.published)
        return distance + PI**exponent * window_loss(rest, exponent, self.published)

    @cached_property
    def parts(self) -> dict[str, Mechanism]:
        """The mechanisms of distance and direction."""
        distance, direction = self.domain.fields["distance"], self.domain.fields["direction"]
        assert isinstance(distance, Interval)
        assert isinstance(direction, Circle)
        first, second = self.split
        if self.published:
            return {
                "distance": OGPM(domain=distance, epsilon=first),
                "direction": CircularOGPM(domain=direction, epsilon=second),
            }
        exponent = EXPONENTS[self.loss]
        return {
            "distance": Window(domain=distance, epsilon=first, loss_exponent=exponent),
            "direction": CircularWindow(domain=direction, epsilon=second, loss_exponent=exponent),
        }

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse grid, the published windows, and the default."""
        coarse = Record({"distance": Interval(0, 1, cells=6), "direction": Circle(cells=8)})
        yield cls(domain=coarse, epsilon=2)
        city = Record({"distance": Interval(0, 10, cells=50), "direction": Circle(360, cells=72)})
        yield cls(domain=city, epsilon=4, loss="absolute", published=True)
        yield cls(epsilon=8)


def window_loss(epsilon: Decimal, exponent: int, published: bool) -> Decimal:
    """The worst-case error of a window mechanism on [0, 1], which is that of a circle in half turns, too.

    The published window has length s = 1/(h+1) with density h inside and 1/h outside, h = e**(epsilon/2);
    otherwise s is the best length for the exponent and the error is s**exponent.
    """
    k = exponent
    if published or k == 1:  # the published window is the best one for absolute error
        h = (epsilon / 2).exp()
        s = 1 / (h + 1)
        return (h * s ** (k + 1) + (1 - s ** (k + 1)) / h) / (k + 1)
    e = epsilon.exp()
    low, high = Decimal(0), Decimal(1)
    for _ in range(110):
        middle = (low + high) / 2
        if k * (e - 1) * middle ** (k + 1) + (k + 1) * middle**k < 1:
            low = middle
        else:
            high = middle
    return low**k


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
