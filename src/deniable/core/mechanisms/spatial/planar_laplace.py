"""Planar Laplace noise, clipped to the region, at a scale that gives the same epsilon to every pair of places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import accumulate
from typing import ClassVar, Self

from deniable.core.channels.table import MOST_WEIGHTS, Table
from deniable.core.domains.base import Domain
from deniable.core.domains.interval import Interval
from deniable.core.domains.plane import Rectangle
from deniable.core.mechanisms.base import Mechanism
from deniable.errors import InvalidParameter

DIGITS = 30
WEIGHT_BITS = 60
FARTHEST = 45
"""Noise beyond 45 scales is left out of the lumps: it is rarer than e**-45."""

PANELS = 64
SHRINKS = (Fraction(1), Fraction(999, 1000), Fraction(99, 100), Fraction(97, 100), Fraction(9, 10))

Grid = list[list[int]]


@dataclass(frozen=True, kw_only=True, repr=False)
class PlanarLaplace(Mechanism):
    """The true place plus noise of density ~ e**(-epsilon * length / D), moved to the nearest point of the region.

    Law: from the middle of the true cell to any corner of the cells' grid, by integer weights; noise that leaves
    the region lands on its border, where the weights beyond are added up. D is the region's diameter, so that
    geo-indistinguishability at epsilon / D is epsilon-LDP for every pair of places.
    Guarantee: epsilon-LDP by the exact ratio of the weights (on 24 by 24 cells they spend 0.92 to 0.95 of epsilon).
    Cost: building takes all pairs of cells; one draw by bisection. Below epsilon 4 most answers lie on the border.
    Source: Andres, Bordenabe, Chatzikokolakis and Palamidessi, "Geo-indistinguishability", 2013.

    >>> PlanarLaplace(epsilon=4).certificate().holds
    True
    """

    domain: Rectangle = Rectangle(Interval(0, 1, cells=24), Interval(0, 1, cells=24))
    name: ClassVar[str] = "planar-laplace"
    tasks: ClassVar[tuple[str, ...]] = ("location",)
    slow: ClassVar[bool] = True
    family: ClassVar[str] = "spatial"
    source: ClassVar[str] = "Andres et al. 2013"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Rectangle,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.domain.size * (self.domain.x.cells + 1) * (self.domain.y.cells + 1) > MOST_WEIGHTS:
            raise InvalidParameter("domain: planar-laplace takes about 2000 cells (44 by 44); use a coarser grid")

    def build(self) -> Table:
        """The table of offsets added to the true cell and clipped."""
        for shrink in SHRINKS:
            table = self._table(offset_weights(self.domain, self.privacy.exact * shrink))
            ratio = table.max_ratio()
            if ratio is not None and self.privacy.allows(ratio):
                return table
        raise InvalidParameter("epsilon is too large for the weights of planar-laplace; use at most 20")

    def _table(self, points: Grid) -> Table:
        """Every row from the weights of offsets: at the border all offsets beyond count together."""
        columns_beyond = [_from_the_end(row) for row in points]
        rows_beyond = _transposed([_from_the_end(column) for column in _transposed(points)])
        both_beyond = _transposed([_from_the_end(column) for column in _transposed(columns_beyond)])
        layers = ((points, columns_beyond), (rows_beyond, both_beyond))
        up, across = _landings(self.domain.y.cells), _landings(self.domain.x.cells)
        return Table([[layers[i][j][a][b] for i, a in ups for j, b in acrosses] for ups in up for acrosses in across])

    def decode(self, output: int) -> tuple[float, float]:
        """The reported corner of the grid."""
        x, y = self.domain.x, self.domain.y
        row, column = divmod(output, x.cells + 1)
        return x.real(Fraction(column, x.cells)), y.real(Fraction(row, y.cells))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A tiny grid, a wide one, and the default."""
        yield cls(domain=Rectangle(Interval(0, 1, cells=3), Interval(0, 1, cells=3)), epsilon=1)
        yield cls(domain=Rectangle(Interval(-2, 2, cells=8), Interval(0, 1, cells=3)), epsilon=8)
        yield cls(domain=Rectangle(Interval(0, 1, cells=12), Interval(0, 1, cells=12)), epsilon=4)


def _landings(cells: int) -> list[list[tuple[bool, int]]]:
    """For every cell, what each corner collects: (everything from there on?, offset in cells, less one)."""
    landings = []
    for cell in range(cells):
        inner = [(False, corner - cell - 1 if corner > cell else cell - corner) for corner in range(1, cells)]
        landings.append([(True, cell), *inner, (True, cells - cell - 1)])
    return landings


def _from_the_end(values: list[int]) -> list[int]:
    return list(accumulate(reversed(values)))[::-1]


def _transposed(grid: Grid) -> Grid:
    return [list(column) for column in zip(*grid, strict=True)]


def offset_weights(domain: Rectangle, epsilon: Fraction) -> Grid:
    """Integer weights of the offsets (a + 1/2, b + 1/2) cells; the last row and column hold all that lies beyond.

    Decimals, not doubles: every machine must find the same integers.
    """
    with localcontext(Context(prec=DIGITS)):
        width, height = _decimal(domain.x.width), _decimal(domain.y.width)
        rate = _decimal(epsilon) / (width * width + height * height).sqrt()
        across, up = _axis(width / domain.x.cells, domain.x.cells, rate), _axis(height / domain.y.cells, domain.y.cells, rate)

        def mass(a: list[tuple[Decimal, Decimal]], b: list[tuple[Decimal, Decimal]]) -> int:
            terms = (p * q * (-rate * (s + t).sqrt()).exp() for p, s in a for q, t in b)
            return int(sum(terms, Decimal(0)) * (1 << WEIGHT_BITS))

        return _symmetric(mass, up) if up == across else [[mass(a, b) for b in across] for a in up]


def _symmetric(mass: Callable[..., int], axis: list[list[tuple[Decimal, Decimal]]]) -> Grid:
    """A square has the same weights both ways: half of them are computed."""
    half = [[mass(axis[a], axis[b]) for b in range(a + 1)] for a in range(len(axis))]
    return [[half[max(a, b)][min(a, b)] for b in range(len(axis))] for a in range(len(axis))]


def _axis(cell: Decimal, cells: int, rate: Decimal) -> list[list[tuple[Decimal, Decimal]]]:
    """For each offset a list of (share, squared length): one point each, and a rule of integration for what lies beyond."""
    points = [[(Decimal(1), ((a + Decimal("0.5")) * cell) ** 2)] for a in range(cells)]
    reach, edge = FARTHEST / rate, cells * cell
    beyond = []
    for j in range(PANELS + 1):
        # Simpson's rule in v, where the offset is edge + reach * v**2: the integrand falls like e**(-45 v**2).
        v = Decimal(j) / PANELS
        rule = Decimal(1 if j in (0, PANELS) else 4 if j % 2 else 2) / (3 * PANELS)
        beyond.append((rule * 2 * v * reach / cell, (edge + reach * v * v) ** 2))
    return [*points, [(share, square) for share, square in beyond if share]]


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
