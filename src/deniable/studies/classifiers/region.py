"""Where a model's answer stays the same: regions of the sensitive features, and how sure one is of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, ClassVar

import numpy as np

from deniable.batch import Flags, Floats, Integers
from deniable.errors import InvalidParameter

Seen = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Box:
    """low[i] <= number i <= high[i] for every sensitive feature; the answer is the same at every point of it.

    >>> Box((0.2,), (0.8,)).kind
    'proved'
    """

    low: tuple[float, ...]
    high: tuple[float, ...]

    kind: ClassVar[str] = "proved"

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", tuple(float(end) for end in self.low))
        object.__setattr__(self, "high", tuple(float(end) for end in self.high))
        if len(self.low) != len(self.high) or not self.low:
            raise InvalidParameter("a box needs as many lower as upper ends, at least one of each")
        if any(not low <= high for low, high in zip(self.low, self.high, strict=True)):
            raise InvalidParameter("every lower end of a box must be a number not above its upper end")


@dataclass(frozen=True)
class HalfSpace:
    """normal . z + offset > 0, where z is what the model makes of the numbers (`seen`; None for the numbers themselves).

    The model adds in doubles. Closer to zero than doubt + rate * sum |normal[i] z[i]| its rounding may decide, so
    either answer is possible there.
    """

    normal: tuple[float, ...]
    offset: float
    seen: tuple[Seen | None, ...] = ()
    doubt: float = 0.0
    rate: float = 0.0

    kind: ClassVar[str] = "proved"

    def __post_init__(self) -> None:
        object.__setattr__(self, "normal", tuple(float(weight) for weight in self.normal))
        object.__setattr__(self, "seen", tuple(self.seen) or (None,) * len(self.normal))
        if not self.normal or len(self.seen) != len(self.normal):
            raise InvalidParameter("normal and seen need one entry per sensitive feature")

    def scores(self, numbers: Any) -> Floats:
        """normal . z + offset for rows of numbers."""
        rows = np.atleast_2d(np.asarray(numbers, dtype=np.float64))
        columns = [rows[:, i] if see is None else see(rows[:, i]) for i, see in enumerate(self.seen)]
        products: Floats = np.column_stack(columns) @ np.array(self.normal) + self.offset
        return products

    def parts(self, low: Sequence[float], high: Sequence[float]) -> list[tuple[float, float]]:
        """normal[i] z[i] at both ends of a box."""
        ends = [np.array(pair, dtype=np.float64) for pair in zip(low, high, strict=True)]
        seen = [pair if see is None else see(pair) for pair, see in zip(ends, self.seen, strict=True)]
        # A feature without weight adds nothing, not even at an infinite end.
        return [(w * float(z[0]), w * float(z[1])) if w else (0.0, 0.0) for w, z in zip(self.normal, seen, strict=True)]

    def doubt_in(self, low: Sequence[float], high: Sequence[float]) -> float:
        """How far rounding can move a score in a box."""
        return self.doubt + self.rate * sum(max(abs(a), abs(b)) for a, b in self.parts(low, high))

    def holds_in(self, box: Box) -> bool:
        """Is the score positive in the whole box, rounding included? Every feature takes its worse end."""
        least = self.offset + sum(min(pair) for pair in self.parts(box.low, box.high))
        return least > self.doubt_in(box.low, box.high)


@dataclass(frozen=True)
class Polyhedron:
    """The points that lie in all of several half-spaces: one for every other class."""

    faces: tuple[HalfSpace, ...]

    kind: ClassVar[str] = "proved"

    def holds_in(self, box: Box) -> bool:
        """Does the answer stay the same in the whole box?"""
        return all(face.holds_in(box) for face in self.faces)


@dataclass(frozen=True, eq=False)
class Cells:
    """A grid of cells, one answer in each.

    Along feature i, cell j holds the numbers z with edges[i][j-1] < z <= edges[i][j]; the first and the last
    cell have no end. `same` has one axis per feature and says where the answer is the one asked about.
    """

    edges: tuple[Floats, ...]
    same: Flags
    seen: tuple[Seen | None, ...] = ()

    kind: ClassVar[str] = "proved"

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", tuple(np.asarray(edge, dtype=np.float64) for edge in self.edges))
        object.__setattr__(self, "seen", tuple(self.seen) or (None,) * len(self.edges))
        if self.same.shape != tuple(edge.size + 1 for edge in self.edges):
            raise InvalidParameter("same needs one more cell than there are edges, along every feature")

    @cached_property
    def stretches(self) -> tuple[Integers, Integers, Integers]:
        """Every stretch of cells with the answer along the last feature: its row, first cell and the cell after its last."""
        rows = self.same.reshape(-1, self.same.shape[-1])
        edge = np.zeros((len(rows), 1), dtype=bool)
        change = np.diff(np.hstack([edge, rows, edge]).astype(np.int8), axis=1)
        row, first = np.nonzero(change == 1)
        return row, first, np.nonzero(change == -1)[1]

    def box_around(self, cell: Sequence[int]) -> Box:
        """A box of cells with the same answer that cannot grow by a whole slice, from one cell outward."""
        spans = [(place, place) for place in cell]
        grown = True
        while grown:
            grown = False
            for axis, side in ((a, s) for a in range(len(spans)) for s in (-1, 1)):
                wider = list(spans)
                wider[axis] = (spans[axis][0] - (side < 0), spans[axis][1] + (side > 0))
                if not 0 <= wider[axis][0] <= wider[axis][1] < self.same.shape[axis]:
                    continue
                if bool(self.same[tuple(slice(first, last + 1) for first, last in wider)].all()):
                    spans, grown = wider, True
        low = [np.nextafter(e[first - 1], inf) if first else -inf for e, (first, _) in zip(self.edges, spans, strict=True)]
        high = [e[last] if last < e.size else inf for e, (_, last) in zip(self.edges, spans, strict=True)]
        return Box(tuple(low), tuple(high))


@dataclass(frozen=True, eq=False)
class Blocks:
    """Disjoint blocks of cells: where the answer is the same, and where nobody looked closely enough.

    Block b covers the cells first[b][i] … last[b][i] - 1 along feature i of the grid that `edges` make.
    """

    edges: tuple[Floats, ...]
    same: tuple[Integers, Integers]
    unknown: tuple[Integers, Integers]
    seen: tuple[Seen | None, ...] = ()

    kind: ClassVar[str] = "proved"

    def __post_init__(self) -> None:
        object.__setattr__(self, "seen", tuple(self.seen) or (None,) * len(self.edges))


Region = Box | HalfSpace | Polyhedron | Cells | Blocks
