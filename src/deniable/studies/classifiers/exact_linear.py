"""rho of a linear model: the probability of a half-space, or of several together, under a product law.

One feature needs its cdf only. Two are swept: for every output of one, an interval of the other. More are
added up on a grid of scores, where rounding every term to the grid gives certified ends.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numba import njit
from scipy import fft

from deniable.batch import Floats
from deniable.studies.classifiers.output_law import OutputLaw, ProductLaw
from deniable.studies.classifiers.region import HalfSpace, Polyhedron, Seen

GRID = 1 << 20
"""Cells of the grid on which scores of three and more features are added."""

Ends = tuple[float, float, float]
"""A value and certified ends: value, lower, upper."""


def linear_utility(region: Polyhedron, law: ProductLaw) -> Ends:
    """Pr[all half-spaces hold]: value, lower and upper end."""
    used = [i for i in range(len(law)) if any(face.normal[i] for face in region.faces)]
    if not used:  # the sensitive features do not matter to this model: it answers as asked, or never
        return _middle(*(float(all(face.offset > sign * face.doubt for face in region.faces)) for sign in (1.0, -1.0)))
    laws = [law.laws[i] for i in used]
    faces = [_face_of_used(face, used) for face in region.faces]
    doubts = [face.doubt_in(*zip(*(one.span() for one in laws), strict=True)) for face in faces]
    if len(used) == 1:
        return _middle(*(_utility_on_a_line(faces, laws[0], sign, doubts) for sign in (1.0, -1.0)))
    if len(used) == 2:
        return _utility_on_a_plane(faces, laws, doubts)
    if len(faces) == 1:
        return _grid(faces[0], laws, doubts[0])
    ends = [_grid(face, laws, doubt) for face, doubt in zip(faces, doubts, strict=True)]
    lower = max(1 - sum(1 - low for _, low, _ in ends), 0.0)
    if len(faces) == 2 and faces[0].normal == tuple(-weight for weight in faces[1].normal):
        # A band: no score misses both of its sides.
        return _middle(lower, min(max(ends[0][2] + ends[1][2] - 1, 0.0), 1.0))
    # No two of these events need be independent, so only this much is certain of all together.
    return _middle(lower, min(high for _, _, high in ends))


def _face_of_used(face: HalfSpace, used: list[int]) -> HalfSpace:
    return replace(face, normal=tuple(face.normal[i] for i in used), seen=tuple(face.seen[i] for i in used))


def _middle(lower: float, upper: float) -> Ends:
    return (lower + upper) / 2, lower, max(lower, upper)


def _utility_on_a_line(faces: list[HalfSpace], law: OutputLaw, sign: float, doubts: list[float]) -> float:
    """One feature: an interval of what the model sees. sign 1 for what is sure, -1 for what is possible."""
    low, high = -math.inf, math.inf
    for face, doubt in zip(faces, doubts, strict=True):
        weight = face.normal[0]
        if not weight:
            if face.offset <= sign * doubt:
                return 0.0
            continue
        end = (sign * doubt - face.offset) / weight
        low, high = (max(low, end), high) if weight > 0 else (low, min(high, end))
    if not low < high:
        return 0.0
    below, above = law.up_to([low], seen=faces[0].seen[0]), law.up_to([high], strictly=True, seen=faces[0].seen[0])
    return float(max(above[0] - below[0], 0.0))


@njit(nogil=True, cache=True)
def _sweep(outer, chances, inner, sums, first, second, offsets, limit):  # type: ignore[no-untyped-def]
    """The probability that first[k] * outer + second[k] * inner + offsets[k] > limit[k] for all k."""
    total = 0.0
    start, stop = 0, inner.size
    for i in range(outer.size):
        low, high = -np.inf, np.inf
        for k in range(first.size):
            rest = limit[k] - offsets[k] - first[k] * outer[i]
            if second[k] > 0:
                low = max(low, rest / second[k])
            elif second[k] < 0:
                high = min(high, rest / second[k])
            elif not rest < 0:
                high = -np.inf
        if not low < high:
            continue
        # Neighbouring outputs have neighbouring ends, so both ends are found a step or two away.
        while start < inner.size and inner[start] <= low:
            start += 1
        while start > 0 and inner[start - 1] > low:
            start -= 1
        while stop < inner.size and inner[stop] < high:
            stop += 1
        while stop > 0 and inner[stop - 1] >= high:
            stop -= 1
        if stop > start:
            total += chances[i] * (sums[stop] - sums[start])
    return total


def _utility_on_a_plane(faces: list[HalfSpace], laws: list[OutputLaw], doubts: list[float]) -> Ends:
    atoms = [_seen_atoms(law, see) for law, see in zip(laws, faces[0].seen, strict=True)]
    a, b = (0, 1) if atoms[0][0].size <= atoms[1][0].size else (1, 0)
    outer, chances = atoms[a]
    inner, weights = atoms[b]
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    first, second = np.array([face.normal[a] for face in faces]), np.array([face.normal[b] for face in faces])
    offsets, limits = np.array([face.offset for face in faces]), np.array(doubts)
    ends = [float(_sweep(outer, chances, inner, sums, first, second, offsets, sign * limits)) for sign in (1.0, -1.0)]
    return _middle(min(ends[0], 1.0), min(ends[1], 1.0))


def _seen_atoms(law: OutputLaw, seen: Seen | None) -> tuple[Floats, Floats]:
    """What the model sees of every output, rising, and its probability."""
    numbers, chances = law.atoms
    return (numbers if seen is None else seen(numbers)), chances


def _grid(face: HalfSpace, laws: list[OutputLaw], doubt: float) -> Ends:
    """Three and more features: every term goes to the middle of a cell, so the sum is off by at most d/2 cells."""
    ends = face.parts(*zip(*(law.span() for law in laws), strict=True))
    spans = [abs(b - a) for a, b in ends]
    step = sum(spans) / (GRID - 2 * len(laws))
    if not step > 0:  # every feature has one output only
        held = float(face.offset + sum(a for a, _ in ends) > 0)
        return held, held, held
    start = face.offset
    spectrum = np.ones(GRID // 2 + 1, dtype=np.complex128)
    for law, see, weight, pair, span in zip(laws, face.seen, face.normal, ends, spans, strict=True):
        cells = math.floor(span / step) + 1
        chances = _cells_of(law, see, pair[0] / weight, step / abs(weight), cells)
        # Cells rise with the number; where the weight is negative, the score falls with it.
        start += pair[0] + step / 2 if weight > 0 else pair[0] - (cells - 0.5) * step
        spectrum *= fft.rfft(chances if weight > 0 else chances[::-1], GRID)
    masses = np.maximum(fft.irfft(spectrum, GRID), 0.0)
    tails = np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])
    slack = len(laws) * step / 2 * (1 + 1e-9) + doubt

    def beyond(limit: float) -> float:
        """Pr[rounded score > limit]."""
        place = math.floor((limit - start) / step) + 1
        return float(min(tails[min(max(place, 0), GRID)], 1.0))

    transform = 1e-9  # far above what a transform of this length loses, and far below what the grid does
    return beyond(0.0), max(beyond(slack) - transform, 0.0), min(beyond(-slack) + transform, 1.0)


def _cells_of(law: OutputLaw, seen: Seen | None, bottom: float, width: float, cells: int) -> Floats:
    """The probability of every cell of what the model sees; the first and the last take what rounding pushes out."""
    edges = bottom + width * np.arange(1, cells)
    return np.diff(law.up_to(edges, seen=seen), prepend=0.0, append=1.0)
