"""Models with quadratic boundaries (QDA, Gaussian naive Bayes): where the answer stays the same, and how far that reaches.

The lead of a class over another is q(z) = z'Az + b'z + c in the sensitive features; the answer stays while every
lead is positive.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from deniable.batch import Floats
from deniable.errors import InvalidParameter, NotSupported
from deniable.studies.classifiers.preprocessing import prepare
from deniable.studies.classifiers.region import Box, Seen

UNIT = 2.0**-53


@dataclass(frozen=True, eq=False)
class Quadratic:
    """z'Az + b'z + c, and the size of the terms its own computation adds up (for rounding)."""

    matrix: Floats
    linear: Floats
    constant: float
    size: tuple[Floats, Floats, float] | None = None

    def value(self, point: Any) -> float:
        """q at a point."""
        z = np.asarray(point, dtype=np.float64)
        return float(z @ self.matrix @ z + self.linear @ z + self.constant)

    def least(self, low: Floats, high: Floats) -> float:
        """The least value in a box: exact for one or two features and for separable ones, else a valid lower bound."""
        if np.count_nonzero(self.matrix - np.diag(np.diag(self.matrix))) == 0:
            parts = [_least_on_line(a, b, x, y) for a, b, x, y in zip(np.diag(self.matrix), self.linear, low, high, strict=True)]
            return self.constant + sum(parts)
        if low.size == 2:
            return self._least_in_rectangle(low, high)
        # Every mixed product on its own, at its worst corner.
        bound = self.constant
        for i in range(low.size):
            bound += _least_on_line(self.matrix[i, i], self.linear[i], low[i], high[i])
            for j in range(i):
                corners = [x * y for x in (low[i], high[i]) for y in (low[j], high[j])]
                bound += min((self.matrix[i, j] + self.matrix[j, i]) * corner for corner in corners)
        return float(bound)

    def _least_in_rectangle(self, low: Floats, high: Floats) -> float:
        """On the four sides, and where the gradient vanishes inside."""
        candidates = []
        for axis, end in ((0, low[0]), (0, high[0]), (1, low[1]), (1, high[1])):
            other = 1 - axis
            mixed = (self.matrix[0, 1] + self.matrix[1, 0]) * end
            base = self.matrix[axis, axis] * end**2 + self.linear[axis] * end + self.constant
            candidates.append(base + _least_on_line(self.matrix[other, other], self.linear[other] + mixed, low[other], high[other]))
        curvature = self.matrix + self.matrix.T
        if abs(np.linalg.det(curvature)) > 0:
            still = np.linalg.solve(curvature, -self.linear)
            if bool(((low <= still) & (still <= high)).all()):
                candidates.append(self.value(still))
        return float(min(candidates))

    def magnitude(self, low: Floats, high: Floats) -> float:
        """The sum of the sizes of all terms at the farthest corner of a box."""
        far = np.maximum(np.abs(low), np.abs(high))
        matrix, linear, constant = self.size or (np.abs(self.matrix), np.abs(self.linear), abs(self.constant))
        return float(far @ matrix @ far + linear @ far + constant)


def _least_on_line(a: float, b: float, low: float, high: float) -> float:
    """The least of a t**2 + b t for low <= t <= high."""
    ends = [a * t * t + b * t for t in (low, high)]
    if a > 0 and low < -b / (2 * a) < high:
        ends.append(-b * b / (4 * a))
    return float(min(ends))


@dataclass(frozen=True, eq=False)
class QuadraticRegion:
    """The points where all leads are positive; `rate` times the magnitude of the terms is left to rounding."""

    faces: tuple[Quadratic, ...]
    seen: tuple[Seen | None, ...] = ()
    rate: float = 0.0

    kind: ClassVar[str] = "proved"

    def __post_init__(self) -> None:
        object.__setattr__(self, "seen", tuple(self.seen) or (None,) * self.faces[0].linear.size)

    def shown(self, low: Sequence[float], high: Sequence[float]) -> tuple[Floats, Floats]:
        """The ends of a box as the model sees them."""
        pairs = [np.array(pair, dtype=np.float64) for pair in zip(low, high, strict=True)]
        seen = [pair if see is None else see(pair) for pair, see in zip(pairs, self.seen, strict=True)]
        return np.array([pair[0] for pair in seen]), np.array([pair[1] for pair in seen])

    def holds_in(self, box: Box) -> bool:
        """Does the answer stay the same in the whole box?"""
        low, high = self.shown(box.low, box.high)
        return all(face.least(low, high) > self.rate * face.magnitude(low, high) for face in self.faces)

    def radius(self, point: Sequence[float]) -> float:
        """The l-infinity radius around a point where the answer stays, in the model's coordinates: by bisection to 1e-14."""
        z = np.asarray(point, dtype=np.float64)

        def holds(radius: float) -> bool:
            return all(face.least(z - radius, z + radius) > 0 for face in self.faces)

        if not holds(0.0):
            raise InvalidParameter("point does not get the region's answer")
        low, high = 0.0, 1.0
        while holds(high):
            low, high = high, 2 * high
            if high > 1e12:
                return math.inf
        while high - low > 1e-14 * max(high, 1.0):
            middle = (low + high) / 2
            low, high = (middle, high) if holds(middle) else (low, middle)
        return low


def is_quadratic_model(model: Any) -> bool:
    """Is it QDA or Gaussian naive Bayes?"""
    names = {kind.__name__ for kind in type(model).__mro__ if kind.__module__.startswith("sklearn.")}
    return bool(names & {"QuadraticDiscriminantAnalysis", "GaussianNB"})


def quadratic_region(model: Any, record: Any, sensitive: Sequence[int], *, same_as: Any = None) -> QuadraticRegion:
    """Where QDA or Gaussian naive Bayes, or a pipeline of scalers that ends in one, answers as at `record` (or `same_as`)."""
    prepared = prepare(model, record, sensitive)
    final = prepared.model
    if not is_quadratic_model(final):
        raise NotSupported(f"{type(final).__name__} is not QDA or Gaussian naive Bayes; use another way")
    label = final.predict(prepared.record[None])[0] if same_as is None else same_as
    places = np.flatnonzero(final.classes_ == label)
    if places.size != 1 or len(final.classes_) < 2:
        raise NotSupported("same_as must be one of at least two classes the model knows")
    target = int(places[0])
    columns = list(prepared.columns)
    scores = [_restricted(*_score(final, k), prepared.record, columns) for k in range(len(final.classes_))]
    faces = [_difference(scores[target], score) for k, score in enumerate(scores) if k != target]
    return QuadraticRegion(tuple(faces), prepared.seen, 64 * (prepared.record.size + 4) ** 2 * UNIT)


def _score(model: Any, number: int) -> tuple[Floats, Floats, float]:
    """A class's score as precision matrix, mean and constant: -(z - mean)' precision (z - mean)/2 + constant."""
    if hasattr(model, "rotations_"):
        rotation, scaling = np.asarray(model.rotations_[number]), np.asarray(model.scalings_[number])
        precision = (rotation / scaling) @ rotation.T
        return precision, model.means_[number], float(-0.5 * np.log(scaling).sum() + np.log(model.priors_[number]))
    variance = model.var_[number]
    constant = float(np.log(model.class_prior_[number]) - 0.5 * np.log(2 * np.pi * variance).sum())
    return np.diag(1 / variance), model.theta_[number], constant


def _restricted(precision: Floats, mean: Floats, constant: float, record: Floats, sensitive: list[int]) -> Quadratic:
    """The score as a quadratic in the sensitive columns, the others as in the record."""
    columns = np.array(sensitive, dtype=np.int64)
    fixed = np.delete(np.arange(record.size), columns)
    rest = record[fixed] - mean[fixed]
    own = precision[np.ix_(columns, columns)]
    cross = precision[np.ix_(columns, fixed)] @ rest
    centre = mean[columns]
    parts = own @ centre, cross, float(rest @ precision[np.ix_(fixed, fixed)] @ rest)
    total = constant - 0.5 * parts[2] - 0.5 * float(centre @ own @ centre) + float(cross @ centre)
    size = 0.5 * abs(parts[2]) + 0.5 * float(np.abs(centre) @ np.abs(own) @ np.abs(centre)) + float(np.abs(cross) @ np.abs(centre))
    return Quadratic(-own / 2, parts[0] - cross, total, (np.abs(own), np.abs(parts[0]) + np.abs(cross), size + abs(constant)))


def _difference(one: Quadratic, other: Quadratic) -> Quadratic:
    assert one.size is not None
    assert other.size is not None
    size = one.size[0] + other.size[0], one.size[1] + other.size[1], one.size[2] + other.size[2]
    return Quadratic(one.matrix - other.matrix, one.linear - other.linear, one.constant - other.constant, size)
