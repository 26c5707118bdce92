"""Linear models: the region of an answer is a half-space, or one for every other class; that of a number, a band."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.batch import Floats
from deniable.errors import NotSupported
from deniable.studies.classifiers.preprocessing import Prepared, prepare
from deniable.studies.classifiers.region import HalfSpace, Polyhedron

UNIT = 2.0**-53


def is_linear_model(model: Any) -> bool:
    """Does the model answer by the largest of linear scores (logistic regression, linear SVM, SGD, ridge, …)?"""
    names = {kind.__name__ for kind in type(model).__mro__ if kind.__module__.startswith("sklearn.")}
    return "LinearClassifierMixin" in names and hasattr(model, "coef_")


def is_linear_regressor(model: Any) -> bool:
    """Does the model predict a number by one linear score (least squares, ridge, lasso, linear SVR, …)?"""
    owner = next((kind for kind in type(model).__mro__ if "predict" in vars(kind)), object)  # a subclass may predict otherwise
    names = {kind.__name__ for kind in type(model).__mro__ if kind.__module__.startswith("sklearn.")}
    linear = bool(names & {"LinearModel", "BaseSGDRegressor"}) and owner.__module__.startswith("sklearn.")
    return linear and hasattr(model, "coef_")


def linear_band(model: Any, record: Any, sensitive: Sequence[int], *, near: float, tolerance: float) -> Polyhedron:
    """Where a linear regressor, or a pipeline of scalers that ends in one, predicts within `tolerance` of the number `near`."""
    prepared = prepare(model, record, sensitive)
    final = prepared.model
    weights = np.asarray(final.coef_, dtype=np.float64)
    if weights.ndim == 2 and len(weights) > 1:
        raise NotSupported("a model with several outputs has no single answer; use one model per output")
    weights = weights.reshape(-1)
    offset = float(np.asarray(final.intercept_, dtype=np.float64).reshape(-1)[0])
    size = abs(offset) + abs(near) + tolerance
    above = (weights, offset - near + tolerance, np.abs(weights), size)
    below = (-weights, near + tolerance - offset, np.abs(weights), size)
    return _polyhedron([above, below], prepared)


def linear_region(model: Any, record: Any, sensitive: Sequence[int], *, same_as: Any = None) -> Polyhedron:
    """Where a linear model, or a pipeline of scalers that ends in one, answers as it does at `record` (or `same_as`).

    `sensitive` are columns of the record. The region is exact; where the model's own rounding could decide, it
    says so.
    """
    prepared = prepare(model, record, sensitive)
    final = prepared.model
    if not is_linear_model(final):
        raise NotSupported(
            f"{type(final).__name__} is not a linear classifier of scikit-learn; trees and sampling are the other ways"
        )
    if len(final.classes_) < 2:
        raise NotSupported("the model knows one class only, so its answer never changes")
    weights = np.atleast_2d(np.asarray(final.coef_, dtype=np.float64))
    offsets = np.broadcast_to(np.asarray(final.intercept_, dtype=np.float64), (len(weights),))
    label = final.predict(prepared.record[None])[0] if same_as is None else same_as
    places = np.flatnonzero(final.classes_ == label)
    if places.size != 1:
        raise NotSupported("same_as is not one of the classes the model knows")
    target = int(places[0])
    if len(weights) == 1:
        sign = 1.0 if target == 1 else -1.0
        leads = [(sign * weights[0], sign * offsets[0], np.abs(weights[0]), abs(offsets[0]))]
    else:
        leads = [
            (
                weights[target] - row,
                offsets[target] - offset,
                np.abs(weights[target]) + np.abs(row),
                abs(offsets[target]) + abs(offset),
            )
            for k, (row, offset) in enumerate(zip(weights, offsets, strict=True))
            if k != target
        ]
    return _polyhedron(leads, prepared)


def _polyhedron(leads: Sequence[tuple[Floats, float, Floats, float]], prepared: Prepared) -> Polyhedron:
    """Where all leads are positive; each with its offset, and with the sizes of what is added up for it."""
    columns = list(prepared.columns)
    width = len(leads[0][0])
    fixed = np.delete(np.arange(width), columns)
    # Sums of n products in any order, by the model and by us, and the scaling of every sensitive number.
    rate = 4 * (width + 6) * UNIT
    faces = []
    for lead, offset, sizes, size in leads:
        base = float(lead[fixed] @ prepared.record[fixed] + offset)
        doubt = rate * float(sizes[fixed] @ np.abs(prepared.record[fixed]) + size)
        normal = lead[columns]
        own = sizes[columns]
        # Two large weights with a small difference round like large weights.
        worst = float(np.max(np.divide(own, np.abs(normal), out=np.ones_like(own), where=normal != 0)))
        faces.append(HalfSpace(tuple(normal), base, prepared.seen, doubt, rate * worst))
    return Polyhedron(tuple(faces))
