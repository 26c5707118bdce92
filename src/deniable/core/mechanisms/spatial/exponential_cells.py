"""The exponential mechanism on places: near answers are likelier, step by step with the distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from deniable.core.channels.table import Table, level_rows
from deniable.core.domains.base import Domain
from deniable.core.domains.interval import Interval
from deniable.core.domains.plane import Disc, Points, Rectangle
from deniable.core.exact.exponential import exp_floor
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.spatial._place_lattice import STEPS, distance_steps, lattice, square_diameter
from deniable.errors import InvalidParameter

MOST_PLACES = 1 << 11
WEIGHT_BITS, TOTAL_BITS = 56, 62
SCALES = [2 * (1 - Fraction(part, 10_000)) for part in (0, 1, 10, 30, *range(100, 2000, 100), *range(2000, 5001, 500))]
"""Multiples of the published scale, from twice it down to itself."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ExponentialCells(Mechanism):
    """Answer with a place y for the true place x with weight e**(-scale * distance(x, y)).

    Law: distances are rounded down to 1/1024 of the diameter D of the places; weights are floored at 56 bits
    and every row is brought to the total 2**62.
    `calibrate="published"` takes scale = epsilon / (2 D), which is sound for any places: the factor 2 pays for
    the normalisers. They hardly move between far corners, so `calibrate="exact"` tries up to twice that scale
    and keeps the largest one whose exact level fits (on a rectangle it is twice, or nearly).
    Guarantee: epsilon-LDP; the exact level is in the certificate.
    Cost: building takes all pairs of places (at most 2048 places); one draw by bisection.
    Source: McSherry and Talwar, "Mechanism design via differential privacy", 2007.

    >>> ExponentialCells(epsilon=4).certificate().holds
    True
    """

    domain: Rectangle | Disc | Points = Rectangle(Interval(0, 1, cells=16), Interval(0, 1, cells=16))
    calibrate: str = "exact"
    name: ClassVar[str] = "exponential-cells"
    tasks: ClassVar[tuple[str, ...]] = ("location",)
    slow: ClassVar[bool] = True
    family: ClassVar[str] = "spatial"
    source: ClassVar[str] = "McSherry, Talwar 2007"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Rectangle, Disc, Points)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.calibrate not in ("published", "exact"):
            raise InvalidParameter("calibrate must be 'published' or 'exact'")
        if self.domain.size > MOST_PLACES:
            raise InvalidParameter(f"domain: exponential-cells takes at most {MOST_PLACES} places, got {self.domain.size}")

    def build(self) -> Table:
        """The table of the largest scale that fits."""
        published = self.privacy.exact / 2
        for scale in SCALES if self.calibrate == "exact" else SCALES[-1:]:
            table = self.weights_at(published * scale)
            ratio = table.max_ratio()
            if ratio is not None and self.privacy.allows(ratio):
                return table
        # Rounding can cost a hair more than the published scale has to spare only when the weights run out of bits.
        raise InvalidParameter("epsilon is too large for the weights of exponential-cells; use at most 20")

    def weights_at(self, scale: Fraction) -> Table:
        """The integer table for a scale per diameter."""
        columns, rows = lattice(self.domain)
        whole = square_diameter((columns, rows))
        by_step = [exp_floor(1 << WEIGHT_BITS, -scale * step / STEPS) for step in range(STEPS + 1)]
        places = list(zip(columns, rows, strict=True))
        weights = [[by_step[distance_steps((a - c) ** 2 + (b - d) ** 2, whole)] for c, d in places] for a, b in places]
        return level_rows(weights, 1 << TOTAL_BITS)

    def decode(self, output: int) -> tuple[float, float]:
        return self.domain.decode(output)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A tiny grid, places in a town, a disc as published, and the default."""
        yield cls(domain=Rectangle(Interval(0, 3, cells=4), Interval(0, 2, cells=3)), epsilon=1)
        yield cls(domain=Points([(0, 0), (1, 0), (1, "0.5"), (4, 4), (2, 3)]), epsilon=2)
        yield cls(domain=Disc((0, 0), 1, cells=6), epsilon=3, calibrate="published")
        yield cls(epsilon=6)
