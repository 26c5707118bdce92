"""rho of a model with quadratic boundaries in one or two sensitive features, from the mechanisms' exact outputs."""

from __future__ import annotations

import numpy as np
from numba import njit

from deniable.errors import NotSupported
from deniable.studies.classifiers.output_law import ProductLaw
from deniable.studies.classifiers.quadratic import QuadraticRegion

Ends = tuple[float, float, float]


@njit(nogil=True, cache=True)
def _probability_kept(outer, chances, inner, sums, faces, doubts):  # type: ignore[no-untyped-def]
    """The probability that all leads exceed their doubts.

    A face is a, b, c, d, e, f: a u**2 + b u v + c v**2 + d u + e v + f, with u the outer and v the inner number.
    """
    total = 0.0
    ends = np.empty(2 * faces.shape[0] + 2)
    for i in range(outer.size):
        u = outer[i]
        count = 1
        ends[0] = -np.inf
        for k in range(faces.shape[0]):
            square = faces[k, 2]
            slope = faces[k, 1] * u + faces[k, 4]
            base = faces[k, 0] * u * u + faces[k, 3] * u + faces[k, 5] - doubts[k]
            if square != 0.0:
                inside = slope * slope - 4 * square * base
                if inside > 0.0:
                    # The root without cancellation first, the other from their product.
                    far = -0.5 * (slope + (np.sqrt(inside) if slope >= 0 else -np.sqrt(inside)))
                    ends[count] = far / square
                    count += 1
                    if far != 0.0:
                        ends[count] = base / far
                        count += 1
            elif slope != 0.0:
                ends[count] = -base / slope
                count += 1
        ends[count] = np.inf
        rising = np.sort(ends[: count + 1])
        kept = 0.0
        for j in range(count):
            low, high = rising[j], rising[j + 1]
            start = 0 if low == -np.inf else np.searchsorted(inner, low, "right")
            stop = inner.size if high == np.inf else np.searchsorted(inner, high, "right")
            if stop <= start:
                continue
            v = inner[(start + stop) // 2]
            holds = True
            for k in range(faces.shape[0]):
                lead = (faces[k, 0] * u + faces[k, 1] * v + faces[k, 3]) * u + (faces[k, 2] * v + faces[k, 4]) * v + faces[k, 5]
                holds = holds and lead > doubts[k]
            if holds:
                kept += sums[stop] - sums[start]
        total += chances[i] * kept
    return total


def quadratic_utility(region: QuadraticRegion, law: ProductLaw) -> Ends:
    """Pr[all leads stay positive]: value, lower and upper end."""
    if len(law) > 2:
        raise NotSupported(
            "rho of a quadratic model is summed for one or two sensitive features; for more, use a proved box or sample"
        )
    atoms = []
    for one, see in zip(law.laws, region.seen, strict=True):
        numbers, chances = one.atoms
        atoms.append((numbers if see is None else see(numbers), chances))
    if len(atoms) == 1:
        atoms.insert(0, (np.zeros(1), np.ones(1)))
    (outer, chances), (inner, weights) = atoms
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    low, high = region.shown(*zip(*(one.span() for one in law.laws), strict=True))
    faces, doubts = [], []
    for face in region.faces:
        matrix, linear = face.matrix, face.linear
        if linear.size == 1:
            faces.append([0.0, 0.0, matrix[0, 0], 0.0, linear[0], face.constant])
        else:
            faces.append([matrix[0, 0], matrix[0, 1] + matrix[1, 0], matrix[1, 1], linear[0], linear[1], face.constant])
        doubts.append(region.rate * face.magnitude(low, high))
    ends = [float(_probability_kept(outer, chances, inner, sums, np.array(faces), sign * np.array(doubts))) for sign in (1.0, -1.0)]
    lower, upper = min(ends[0], 1.0), min(max(ends), 1.0)
    return (lower + upper) / 2, lower, upper
