"""The front door of the exact side: a fitted model, a record, and mechanisms to rho; and over a whole data set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.batch import Floats, table_of_numbers
from deniable.errors import InvalidParameter, NotSupported
from deniable.studies.classifiers.exact import Utility, utility
from deniable.studies.classifiers.exact_cells import tree_cells
from deniable.studies.classifiers.linear import is_linear_model, is_linear_regressor, linear_band, linear_region
from deniable.studies.classifiers.output_law import ProductLaw, product_law
from deniable.studies.classifiers.perturbation import Perturbation
from deniable.studies.classifiers.preprocessing import last_step
from deniable.studies.classifiers.quadratic import QuadraticRegion, is_quadratic_model, quadratic_region
from deniable.studies.classifiers.region import Region
from deniable.studies.classifiers.trees import is_tree_model, is_tree_regressor


def is_exact_model(model: Any) -> bool:
    """Can rho of this model be computed rather than sampled?"""
    final = last_step(model)
    return is_linear_model(final) or is_tree_model(final) or is_quadratic_model(final)


def exact_region(
    model: Any,
    record: Any,
    sensitive: Sequence[int],
    *,
    laws: Sequence[ProductLaw] = (),
    same_as: Any = None,
    tolerance: float | None = None,
) -> Region | QuadraticRegion:
    """Where the model answers as at `record` (or `same_as`), exactly: half-spaces, cells or quadratics.

    With a `tolerance`, where a regressor predicts a number at most that far from `same_as`, which must be given.
    """
    final = last_step(model)
    if tolerance is not None:
        return _near(model, final, record, sensitive, laws, same_as, tolerance)
    if is_linear_model(final):
        return linear_region(model, record, sensitive, same_as=same_as)
    if is_tree_model(final):
        return tree_cells(model, record, sensitive, laws=laws, same_as=same_as)
    if is_quadratic_model(final):
        return quadratic_region(model, record, sensitive, same_as=same_as)
    raise NotSupported(
        f"rho of {type(final).__name__} cannot be computed exactly: linear models, trees, forests, boosted trees, QDA and "
        "Gaussian naive Bayes can. Search a box, or sample"
    )


def _near(
    model: Any, final: Any, record: Any, sensitive: Sequence[int], laws: Sequence[ProductLaw], near: Any, tolerance: float
) -> Region:
    if is_linear_regressor(final):
        return linear_band(model, record, sensitive, near=float(near), tolerance=tolerance)
    if is_tree_regressor(final):
        return tree_cells(model, record, sensitive, laws=laws, same_as=near, tolerance=tolerance)
    raise NotSupported(
        f"predictions of {type(final).__name__} are sampled: those of linear regressors, trees, forests and boosted trees are exact"
    )


def exact_utility(model: Any, record: Any, sensitive: Sequence[int], perturbations: Sequence[Perturbation]) -> Utility:
    """rho of one record: the probability that the model answers as it would without perturbation."""
    flat = np.asarray(record.to_numpy() if hasattr(record, "to_numpy") else record, dtype=object).reshape(-1)
    law = product_law(perturbations, [flat[column] for column in sensitive])
    return utility(exact_region(model, record, sensitive, laws=(law,)), law)


@dataclass(frozen=True, eq=False)
class DataUtility:
    """rho of every record of a data set.

    `worst` and `average` are about these records, and carry no sampling error: only the certified ends of every
    rho. `population` is about whoever the records are a random sample of.
    """

    values: Floats
    lower: Floats
    upper: Floats

    @property
    def average(self) -> Utility:
        """The mean over the records."""
        return _summed(float(self.values.mean()), float(self.lower.mean()), float(self.upper.mean()))

    @property
    def worst(self) -> Utility:
        """The least over the records."""
        return _summed(float(self.values.min()), float(self.lower.min()), float(self.upper.min()))

    @property
    def worst_record(self) -> int:
        """Which record it is."""
        return int(self.values.argmin())

    def population(self, confidence: float = 0.95) -> tuple[float, float]:
        """An interval for the mean of the population, valid for every number of records.

        The better of Hoeffding's and the empirical Bernstein bound of Maurer and Pontil (2009), half of the
        allowed error each. It says nothing about the worst person of the population: no sample can.
        """
        if not 0 < confidence < 1:
            raise InvalidParameter("confidence must lie strictly between 0 and 1")
        n, share = self.values.size, (1 - confidence) / 2
        reach = math.sqrt(math.log(2 / share) / (2 * n))
        if n > 1:
            deep = math.log(4 / share)
            reach = min(reach, math.sqrt(2 * float(self.values.var(ddof=1)) * deep / n) + 7 * deep / (3 * (n - 1)))
        gap = float(np.max(self.upper - self.lower))
        return max(self.average.lower - reach - gap, 0.0), min(self.average.upper + reach + gap, 1.0)


def data_utility(model: Any, records: Any, sensitive: Sequence[int], perturbations: Sequence[Perturbation]) -> DataUtility:
    """rho of every row of an array of records."""
    rows, _ = table_of_numbers(records)
    if rows.ndim != 2 or not len(rows):
        raise InvalidParameter("records must be an array with one row per record, at least one")
    fixed = np.delete(np.arange(rows.shape[1]), list(sensitive))
    regions: dict[Any, Any] = {}
    labels = model.predict(rows)
    laws = [product_law(perturbations, [float(row[column]) for column in sensitive]) for row in rows]
    utilities = []
    for row, label, law in zip(rows, labels, laws, strict=True):
        # Records that differ in sensitive features only share a region, as long as they get the same answer.
        key = (row[fixed].tobytes(), str(label))
        if key not in regions:
            regions[key] = exact_region(model, row, sensitive, same_as=label)
        utilities.append(utility(regions[key], law))
    return DataUtility(
        np.array([one.value for one in utilities]),
        np.array([one.lower for one in utilities]),
        np.array([one.upper for one in utilities]),
    )


def _summed(value: float, lower: float, upper: float) -> Utility:
    return Utility(value, lower, upper, "exact" if upper - lower <= 1e-8 else "certified")
