"""Two levels on a reference written out output by output: what a design returns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Self

from deniable.core.channels.reference import Reference
from deniable.core.domains.interval import Interval
from deniable.core.exact.lattice import Grid, cells, check_count
from deniable.core.exact.numbers import as_index
from deniable.core.mechanisms.numeric_base import NumericMechanism
from deniable.core.mechanisms.reading import Values
from deniable.errors import InvalidParameter

MOST_POINTS = 1 << 16
MOST_PLACES = 1 << 14
MOST_BITS = 256


@dataclass(frozen=True, kw_only=True, repr=False)
class Designed(NumericMechanism):
    """One of the listed numbers, more likely one near the true value: an optimal design, as a table.

    Law: the value is rounded to one of `points` cells. Place i (in half cells from the lower end) weighs
    `weights[i]`; the places nearest to the cell weigh floor(e**epsilon weights[i]), as many as make the
    row sum to `total`; the last of them takes what is left.
    Guarantee: epsilon-LDP, exactly the largest ratio of weights.
    Worst-case error: what its designer measured; see `deniable design`.
    Cost: one draw by bisection, log2(places) bits on the wire.

    >>> Designed(epsilon=1, points=4, places=[0, 4, 8], weights=[300, 200, 300], total=1500).certificate().holds
    True
    """

    points: int
    places: Sequence[int]
    weights: Sequence[int]
    total: int
    name: ClassVar[str] = "designed"
    source: ClassVar[str] = "this project"

    def __post_init__(self) -> None:
        super().__post_init__()
        if check_count("points", self.points) > MOST_POINTS:
            raise InvalidParameter(f"points must be at most {MOST_POINTS}: every input has its own stretch of outputs")
        places, weights = whole_numbers("places", self.places), whole_numbers("weights", self.weights)
        if not 2 <= len(places) <= MOST_PLACES or len(weights) != len(places):
            raise InvalidParameter(f"places must list 2 to {MOST_PLACES} half cells, and weights one number for each")
        if places[0] < 0 or places[-1] > 2 * self.points or any(a >= b for a, b in pairwise(places)):
            raise InvalidParameter(f"places must increase and lie between 0 and {2 * self.points} half cells")
        if min(weights) < 1:
            raise InvalidParameter("weights must be at least 1: an output that is never reported is left out")
        whole_numbers("total", [self.total])
        object.__setattr__(self, "places", places)
        object.__setattr__(self, "weights", weights)
        high = sum(self.privacy.floor(weight) for weight in weights)
        if not sum(weights) <= self.total < high:
            raise InvalidParameter("total must be at least the sum of weights, and below e**epsilon times it")

    @property
    def grid(self) -> Grid:
        return cells(self.points)

    def build(self) -> Reference:
        """Places in half cells; inputs at the middles of cells."""
        return Reference.at(self.weights, self.privacy, self.places, range(1, 2 * self.points, 2), self.total)

    @cached_property
    def reading(self) -> Values:
        return Values(tuple(Fraction(place, 2 * self.points) for place in self.places))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Three places, uneven ones, and many."""
        yield cls(domain=Interval(0, 1), epsilon=1, points=8, places=[0, 8, 16], weights=[300, 200, 300], total=1500)
        yield cls(
            domain=Interval(-1, 3), epsilon=2, points=100, places=[3, 40, 99, 101, 180], weights=[90, 50, 20, 20, 70], total=1000
        )
        spread = [1 << 30, *[1 << 24] * 255, 1 << 30]
        yield cls(epsilon=3, points=1024, places=range(0, 2049, 8), weights=spread, total=1 << 34)


def whole_numbers(name: str, values: object) -> tuple[int, ...]:
    """Whole numbers from a list, a tuple, a range or an array; anything else is refused."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__") or not hasattr(values, "__len__"):
        raise InvalidParameter(f"{name} must be a list of whole numbers")
    whole = [as_index(value) for value in values]
    if any(value is None or value.bit_length() > MOST_BITS for value in whole):
        raise InvalidParameter(f"{name} must hold whole numbers of at most {MOST_BITS} bits")
    return tuple(value for value in whole if value is not None)
