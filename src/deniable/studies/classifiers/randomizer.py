"""A transformer for scikit-learn pipelines: sensitive columns go in, private reports of them come out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import SystemKeystream, draw_many, encode_many, table_of_numbers
from deniable.core import EpsilonLike
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.studies.classifiers.perturbation import Feature, Perturbation, perturbations


class Randomizer:
    """Perturbs columns of a table by a registered mechanism; the others pass through.

    `ranges` maps a column (its number, or its name in a frame) to its public range: (low, high) or a Feature. epsilon is that of
    "each" column, or the "total" of all. Every call of transform draws fresh reports, so a row that is transformed twice
    has been asked twice. Nothing is learned from the data, so there is nothing to leak by `fit`.

    >>> rows = [[0.2, 7.0], [0.9, 8.0]]
    >>> private = Randomizer({0: (0, 1)}, mechanism="k-rr", epsilon=2).fit_transform(rows)
    >>> private.shape, private[:, 1].tolist()
    ((2, 2), [7.0, 8.0])
    """

    def __init__(
        self, ranges: Mapping[Any, Any], *, mechanism: str = "ogpm", epsilon: EpsilonLike = 1, budget: str = "each"
    ) -> None:
        self.ranges = ranges
        self.mechanism = mechanism
        self.epsilon = epsilon
        self.budget = budget

    def __repr__(self) -> str:
        return f"Randomizer({self.ranges!r}, mechanism={self.mechanism!r}, epsilon={self.epsilon!r}, budget={self.budget!r})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """What scikit-learn copies and searches over."""
        return {"ranges": self.ranges, "mechanism": self.mechanism, "epsilon": self.epsilon, "budget": self.budget}

    def set_params(self, **given: Any) -> Randomizer:
        """Change parameters by name."""
        for name, value in given.items():
            if name not in self.get_params():
                raise InvalidParameter(f"no parameter is called {name[:60]!r}; there are {', '.join(self.get_params())}")
            setattr(self, name, value)
        return self

    def fit(self, rows: Any, labels: Any = None) -> Randomizer:
        """Check the parameters; the data is not looked at."""
        self._perturbations()
        return self

    def fit_transform(self, rows: Any, labels: Any = None) -> NDArray[np.float64]:
        """Both in one."""
        return self.fit(rows, labels).transform(rows)

    def transform(self, rows: Any) -> NDArray[np.float64]:
        """A copy of the table in which the sensitive columns are private reports."""
        table, names = table_of_numbers(rows)
        if table.ndim != 2:
            raise InvalidParameter("rows must be a table: two dimensions, one row per record")
        for column, one in self._perturbations().items():
            at = _place(column, names, table.shape[1])
            table[:, at] = _reports(one, table[:, at], column)
        return table

    def _perturbations(self) -> dict[Any, Perturbation]:
        if not self.ranges:
            raise InvalidParameter("ranges must name at least one sensitive column, for example {0: (0, 100)}")
        features = [given if isinstance(given, Feature) else Feature(*given) for given in self.ranges.values()]
        made = perturbations(self.mechanism, features, self.epsilon, budget=self.budget)
        return dict(zip(self.ranges, made, strict=True))


def _place(column: Any, names: list[str] | None, width: int) -> int:
    if isinstance(column, str):
        if names is None or column not in names:
            raise InvalidParameter(f"no column is called {column[:60]!r}; give a frame that has it, or the column's number")
        return names.index(column)
    if not 0 <= int(column) < width:
        raise InvalidParameter(f"column {int(column)} is not in the table: columns run from 0 to {width - 1}")
    return int(column)


def _reports(one: Perturbation, values: NDArray[np.float64], column: Any) -> NDArray[np.float64]:
    try:
        if one.interval is None:
            inputs = encode_many(one.mechanism, values)
        else:
            known, where = np.unique(values, return_inverse=True)
            inputs = np.array([one.index(float(value)) for value in known], dtype=np.int64)[where]
    except OutOfDomain as error:
        raise OutOfDomain(f"column {column}: a value is outside its public range; it is not shown. Clip the data first") from error
    outputs = draw_many(one.mechanism.channel, inputs, SystemKeystream())
    return one.decode(outputs.astype(np.int64))
