"""rho: the probability that a model answers on perturbed features as it does on the true ones.

`utility(region, law)` reads it off a region: exactly from half-spaces and cells, from below from a box. The
two ends it returns are certified; where they differ, the gap is the model's own rounding, a refined grid's
step, or what was left undecided.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deniable.batch import Floats, Integers
from deniable.errors import InvalidParameter
from deniable.studies.classifiers.exact_linear import linear_utility
from deniable.studies.classifiers.exact_quadratic import quadratic_utility
from deniable.studies.classifiers.output_law import ProductLaw
from deniable.studies.classifiers.quadratic import QuadraticRegion
from deniable.studies.classifiers.region import Blocks, Box, Cells, HalfSpace, Polyhedron, Region, Seen

ROUNDING = 1e-9
"""What sums of millions of double probabilities may be off by at most; usually they are off by 1e-14."""


class Utility(NamedTuple):
    """rho and certified ends around it. `kind` is "exact", "certified" or "lower bound"."""

    value: float
    lower: float
    upper: float
    kind: str

    @property
    def error(self) -> float:
        """The larger distance from the value to an end."""
        return max(self.value - self.lower, self.upper - self.value)


def utility(region: Region | QuadraticRegion, law: ProductLaw) -> Utility:
    """Pr[the answer stays the same], as far as the region tells."""
    if isinstance(region, Box):
        _match(len(region.low), law)
        low = law.probability(region.low, region.high)
        return Utility(low, low, 1.0, "lower bound")
    if isinstance(region, Cells):
        _match(len(region.edges), law)
        value = float(np.clip(_contracted(region, law), 0.0, 1.0))
        return _rounded_outward(value, value, value)
    if isinstance(region, Blocks):
        _match(len(region.edges), law)
        sums = [_sums(law, axis, edge, see) for axis, (edge, see) in enumerate(zip(region.edges, region.seen, strict=True))]
        sure, open_ = _blocks(region.same, sums), _blocks(region.unknown, sums)
        return _rounded_outward(sure + open_ / 2, sure, sure + open_)
    if isinstance(region, QuadraticRegion):
        _match(len(region.seen), law)
        return _rounded_outward(*quadratic_utility(region, law))
    faces = (region,) if isinstance(region, HalfSpace) else region.faces
    _match(len(faces[0].normal), law)
    return _rounded_outward(*linear_utility(Polyhedron(faces), law))


def _rounded_outward(value: float, lower: float, upper: float) -> Utility:
    low, high = max(lower - ROUNDING, 0.0), min(upper + ROUNDING, 1.0)
    value = min(max(value, 0.0), 1.0)
    return Utility(value, low, high, "exact" if high - low <= 1e-8 else "certified")


def _match(features: int, law: ProductLaw) -> None:
    if features != len(law):
        raise InvalidParameter(f"the region has {features} sensitive features and the law {len(law)}")


def _sums(law: ProductLaw, axis: int, edge: Floats, seen: Seen | None) -> Floats:
    """Running sums of one feature's probability over its cells."""
    return np.concatenate([[0.0], law.laws[axis].up_to(edge, seen=seen), [1.0]])


def _contracted(region: Cells, law: ProductLaw) -> float:
    """The sum over cells of `same` times the product of the features' probabilities, feature by feature."""
    sums = [_sums(law, axis, edge, see) for axis, (edge, see) in enumerate(zip(region.edges, region.seen, strict=True))]
    row, first, last = region.stretches
    shape = region.same.shape[:-1]
    sure = np.bincount(row, weights=sums[-1][last] - sums[-1][first], minlength=int(np.prod(shape)))
    contracted = np.asarray(sure, dtype=np.float64).reshape(shape)
    for total in reversed(sums[:-1]):
        contracted = contracted @ np.diff(total)
    return float(contracted.sum())


def _blocks(blocks: tuple[Integers, Integers], sums: list[Floats]) -> float:
    first, last = blocks
    if not len(first):
        return 0.0
    parts = [total[last[:, axis]] - total[first[:, axis]] for axis, total in enumerate(sums)]
    return float(np.prod(parts, axis=0).sum())
