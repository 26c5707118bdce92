"""Two levels on a reference of places written out one by one: what a design returns for a rectangle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from deniable.core.channels.table import MOST_WEIGHTS, Table
from deniable.core.domains.base import Domain
from deniable.core.domains.interval import Interval
from deniable.core.domains.plane import Rectangle
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.numeric.designed import whole_numbers
from deniable.errors import InvalidParameter


@dataclass(frozen=True, kw_only=True, repr=False)
class DesignedPlaces(Mechanism):
    """One of the listed places, more likely one near the true place: an optimal design, as a table.

    Law: place i is `columns[i]` and `rows[i]` half cells from the lower left corner and weighs `weights[i]`; the
    places nearest to the middle of the true cell weigh floor(e**epsilon weights[i]), as many as make the row
    sum to `total`; the last of them takes what is left.
    Guarantee: epsilon-LDP, exactly the largest ratio of weights. Epsilon is not split between the coordinates.
    Worst-case error: what its designer measured; see `deniable design --domain rectangle`.
    Cost: one draw by bisection, log2(places) bits on the wire.

    >>> tiny = Rectangle(Interval(0, 1, cells=2), Interval(0, 1, cells=2))
    >>> corners = {"columns": [0, 4, 0, 4], "rows": [0, 0, 4, 4]}
    >>> DesignedPlaces(domain=tiny, epsilon=1, **corners, weights=[100] * 4, total=571).certificate().holds
    True
    """

    domain: Rectangle = Rectangle()
    columns: Sequence[int]
    rows: Sequence[int]
    weights: Sequence[int]
    total: int
    name: ClassVar[str] = "designed-places"
    family: ClassVar[str] = "spatial"
    source: ClassVar[str] = "this project"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Rectangle,)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("columns", "rows", "weights"):
            object.__setattr__(self, name, whole_numbers(name, getattr(self, name)))
        whole_numbers("total", [self.total])
        places = list(zip(self.columns, self.rows, strict=False))
        if not 2 <= len(places) == len(self.columns) == len(self.rows) == len(self.weights):
            raise InvalidParameter("columns, rows and weights must have one entry per place, and there must be at least 2")
        if len(places) * self.domain.size > MOST_WEIGHTS:
            raise InvalidParameter(f"places times cells must be at most {MOST_WEIGHTS}; use fewer places or a coarser domain")
        for name, most in (("columns", 2 * self.domain.x.cells), ("rows", 2 * self.domain.y.cells)):
            if not 0 <= min(getattr(self, name)) <= max(getattr(self, name)) <= most:
                raise InvalidParameter(f"{name} must lie between 0 and {most} half cells")
        if len(set(places)) < len(places) or min(self.weights) < 1:
            raise InvalidParameter("places must differ, and weights must be at least 1")
        if not sum(self.weights) <= self.total < sum(self.privacy.floor(weight) for weight in self.weights):
            raise InvalidParameter("total must be at least the sum of weights, and below e**epsilon times it")

    def build(self) -> Table:
        """One row per cell of the domain."""
        gains = [self.privacy.floor(weight) - weight for weight in self.weights]
        across, up = self._units()
        cells = ((2 * column + 1, 2 * row + 1) for row in range(self.domain.y.cells) for column in range(self.domain.x.cells))
        return Table([self._row(column, row, across, up, gains) for column, row in cells])

    def _units(self) -> tuple[int, int]:
        """Whole numbers in the ratio of the squares of a cell's two sides."""
        sides = (self.domain.x.width / self.domain.x.cells) ** 2, (self.domain.y.width / self.domain.y.cells) ** 2
        ratio = Fraction(sides[0] / sides[1])
        return ratio.numerator, ratio.denominator

    def _row(self, column: int, row: int, across: int, up: int, gains: list[int]) -> list[int]:
        squares = [across * (c - column) ** 2 + up * (r - row) ** 2 for c, r in zip(self.columns, self.rows, strict=True)]
        left = self.total - sum(self.weights)
        weights = list(self.weights)
        for place in sorted(range(len(weights)), key=squares.__getitem__):
            gain = min(gains[place], left)
            weights[place] += gain
            left -= gain
            if left == 0:
                break
        return weights

    def decode(self, output: int) -> tuple[float, float]:
        x, y = self.domain.x, self.domain.y
        return x.real(Fraction(self.columns[output], 2 * x.cells)), y.real(Fraction(self.rows[output], 2 * y.cells))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Four corners of a tiny grid, and a lattice on a rectangle that is not square."""
        tiny = Rectangle(Interval(0, 1, cells=3), Interval(0, 1, cells=3))
        yield cls(domain=tiny, epsilon=1, columns=[0, 6, 0, 6, 3], rows=[0, 0, 6, 6, 3], weights=[100] * 5, total=700)
        wide = Rectangle(Interval(0, 3, cells=12), Interval(-1, 1, cells=8))
        places = [(4 * i, 4 * j) for j in range(5) for i in range(7)]
        yield cls(
            domain=wide,
            epsilon=3,
            columns=[column for column, _ in places],
            rows=[row for _, row in places],
            weights=[1 << 20] * 35,
            total=100 << 20,
        )
