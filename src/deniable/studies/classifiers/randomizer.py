"""A transformer for scikit-learn pipelines: sensitive columns go in, private reports of them come out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from deniable._results import counted
from deniable.batch import SystemKeystream, draw_many, encode_many
from deniable.core import Categories, EpsilonLike, Mechanism, make_mechanism
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.studies.classifiers.perturbation import Feature, Perturbation, shared_epsilon

NOT_SHOWN = "it is not shown because it is private"


class Randomizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Perturbs columns of a table by a registered mechanism; the others pass through.

    `ranges` maps a column (its number, or its name in a frame) to what is public about it: a tuple (low, high) or a Feature
    for numbers, a list of all possible values for categories. Numbers are reported by `mechanism`, categories by `categorical`.
    epsilon is that of "each" column, or the "total" of all. A frame stays a frame of its kind, with its names; an array stays
    an array. Every call of transform draws fresh reports, so a row that is transformed twice has been asked twice. Nothing
    is learned from the data, so `fit` cannot leak any, and transform does not need it.

    >>> rows = [[0.2, 7.0], [0.9, 8.0]]
    >>> private = Randomizer({0: (0, 1)}, mechanism="k-rr", epsilon=2).fit_transform(rows)
    >>> private.shape, private[:, 1].tolist()
    ((2, 2), [7.0, 8.0])
    """

    def __init__(
        self,
        ranges: Mapping[Any, Any],
        *,
        mechanism: str = "ogpm",
        categorical: str = "k-rr",
        epsilon: EpsilonLike = 1,
        budget: str = "each",
    ) -> None:
        self.ranges = ranges
        self.mechanism = mechanism
        self.categorical = categorical
        self.epsilon = epsilon
        self.budget = budget

    def fit(self, rows: Any, y: Any = None) -> Randomizer:
        """Check the parameters and that the table can be reported; remember how many columns there are and their names."""
        noises = self._perturbations()
        frame = _frame(rows)
        table = _checked(rows) if frame is None else rows if _is_pandas(rows) else _checked(frame.to_numpy())
        validate_data(self, table, skip_check_array=True)
        if frame is not None:
            self.feature_names_in_ = np.array(frame.columns, dtype=object)
        for column, noise in noises.items():
            at = _place(column, None if frame is None else list(frame.columns), self.n_features_in_)
            noise.inputs(table[:, at] if frame is None else _objects(frame[frame.columns[at]]), column)
        return self

    def transform(self, rows: Any) -> Any:
        """A copy of the table in which the sensitive columns are private reports."""
        noises = self._perturbations()
        frame = _frame(rows)
        if frame is not None:
            return self._frame_transformed(frame, noises)
        table = _checked(rows)
        if hasattr(self, "n_features_in_"):
            validate_data(self, table, reset=False, skip_check_array=True)
        places = {column: _place(column, None, table.shape[1]) for column in noises}
        text = any(isinstance(noises[column], _Names) for column in noises)
        transformed = np.array(table, dtype=object) if text else _numbers(table)
        for column, at in places.items():
            transformed[:, at] = noises[column].reports(transformed[:, at], column)
        return transformed

    def _frame_transformed(self, frame: Any, noises: dict[Any, _Numbers | _Names]) -> Any:
        names = list(frame.columns)
        if hasattr(self, "n_features_in_") and len(names) != self.n_features_in_:
            missing = [str(name) for name in getattr(self, "feature_names_in_", ()) if name not in names]
            hint = f"; missing: {', '.join(missing[:5])}" if missing else ""
            raise InvalidParameter(f"the frame has {counted(len(names), 'column')}, and fit saw {self.n_features_in_}{hint}")
        changed = []
        for column, noise in noises.items():
            name = names[_place(column, names, len(names))]
            private = noise.reports(_objects(frame[name]), name)
            changed.append(nw.new_series(name, private.tolist(), backend=frame.implementation))
        if _is_pandas(frame.to_native()):
            native = frame.to_native().copy()
            for series in changed:
                native[series.name] = series.to_numpy()  # by place, whatever the index is
            return native
        return frame.with_columns(*changed).to_native()

    def _perturbations(self) -> dict[Any, _Numbers | _Names]:
        if not self.ranges:
            raise InvalidParameter("ranges must name at least one sensitive column, for example {0: (0, 100)}")
        own = shared_epsilon(self.epsilon, len(self.ranges), self.budget)
        by_column: dict[Any, _Numbers | _Names] = {}
        for column, given in self.ranges.items():
            if isinstance(given, list):
                by_column[column] = _Names(given, self.categorical, own)
            else:
                feature = given if isinstance(given, Feature) else Feature(*given)
                by_column[column] = _Numbers(feature.perturbed_by(self.mechanism, own))
        return by_column

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.requires_fit = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class _Numbers:
    """The reports of a column of numbers."""

    def __init__(self, noise: Perturbation) -> None:
        self.noise = noise
        self.mechanism: Mechanism = noise.mechanism

    def inputs(self, values: NDArray[Any], column: Any) -> NDArray[np.int64]:
        numbers = _column_of_numbers(values, column)
        bad = np.flatnonzero(~np.isfinite(numbers))
        if len(bad):
            what = "NaN (missing)" if np.isnan(numbers[bad[0]]) else "infinity (inf)"
            raise OutOfDomain(
                f"{_where(bad, column)}: {what} cannot be reported. Drop such rows, or fill them in before the Randomizer, for "
                "example with SimpleImputer"
            )
        known, back = np.unique(numbers, return_inverse=True)
        try:
            return self._inputs(known)[back]
        except OutOfDomain:
            outside = np.flatnonzero([not self._fits(value) for value in known])
            rows = np.flatnonzero(np.isin(back, outside))
            raise OutOfDomain(
                f"{_where(rows, column)}: the value is outside its public range; {NOT_SHOWN}. "
                "Clip the column first, or widen `ranges`"
            ) from None

    def reports(self, values: NDArray[Any], column: Any) -> NDArray[np.float64]:
        outputs = draw_many(self.mechanism.channel, self.inputs(values, column), SystemKeystream())
        return self.noise.decode(outputs.astype(np.int64))

    def _inputs(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        if self.noise.interval is None:
            return np.asarray(encode_many(self.mechanism, values), np.int64)
        return np.array([self.noise.index(float(value)) for value in values], dtype=np.int64)

    def _fits(self, value: float) -> bool:
        try:
            self._inputs(np.array([value]))
        except OutOfDomain:
            return False
        return True


class _Names:
    """The reports of a column of categories."""

    def __init__(self, values: list[Any], mechanism: str, epsilon: EpsilonLike) -> None:
        self.values = np.empty(len(values), object)
        self.values[:] = values
        self.places = {value: place for place, value in enumerate(values)}
        if len(self.places) != len(values) or len(values) < 2:
            raise InvalidParameter("ranges: a list of categories needs at least two values, all different")
        self.mechanism: Mechanism = make_mechanism(mechanism, domain=Categories(len(values)), epsilon=epsilon)
        if self.mechanism.channel.outputs != len(values):
            raise InvalidParameter(f"categorical: {mechanism} does not report one category, so a model cannot read it; use k-rr")

    def inputs(self, values: NDArray[Any], column: Any) -> NDArray[np.int64]:
        missing = np.flatnonzero([value is None or value != value for value in values])
        if len(missing):
            raise OutOfDomain(
                f"{_where(missing, column)}: NaN (missing) cannot be reported. Drop such rows, fill them in first, or list a value "
                "for missing among the categories"
            )
        indices = [self.places.get(value, -1) for value in values]
        unknown = np.flatnonzero(np.array(indices) < 0)
        if len(unknown):
            raise OutOfDomain(
                f"{_where(unknown, column)}: the value is not one of the listed categories; {NOT_SHOWN}. "
                "Correct it, or list every possible value in `ranges`"
            )
        return np.array(indices, np.int64)

    def reports(self, values: NDArray[Any], column: Any) -> NDArray[Any]:
        outputs = draw_many(self.mechanism.channel, self.inputs(values, column), SystemKeystream())
        return np.asarray(self.values[np.asarray(outputs, np.int64)])


def _where(rows: NDArray[Any], column: Any) -> str:
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"row {int(rows[0])}{more} (counting from 0), column {column!r}"


def _frame(rows: Any) -> Any:
    """A narwhals frame, or None for anything else."""
    if isinstance(rows, np.ndarray | list | tuple):
        return None
    arrow: Any = nw.dependencies.get_pyarrow()
    if arrow is not None and isinstance(rows, arrow.RecordBatch):
        rows = arrow.Table.from_batches([rows])
    frame = nw.from_native(rows, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _objects(column: Any) -> NDArray[Any]:
    values = column.to_list()
    objects = np.empty(len(values), object)
    objects[:] = values
    return objects


def _is_pandas(rows: Any) -> bool:
    return type(rows).__module__.partition(".")[0] == "pandas"


def _checked(rows: Any) -> NDArray[Any]:
    """Two dimensions, not sparse, not complex, not empty; values are not looked at, so no error can quote one."""
    array: NDArray[Any] = check_array(rows, dtype=None, ensure_all_finite=False)
    return array


def _column_of_numbers(values: NDArray[Any], column: Any) -> NDArray[np.float64]:
    try:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    except (TypeError, ValueError):  # numpy's own words quote the value
        pass
    raise OutOfDomain(
        f"column {column!r} holds a value that is not a number; {NOT_SHOWN}. For categories give the list of all possible values"
    )


def _numbers(table: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return np.array(table, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    raise OutOfDomain(
        "at least one value of the table is not a number; give a frame, or list the categories of such a column in `ranges`"
    )


def _place(column: Any, names: list[str] | None, width: int) -> int:
    if isinstance(column, str):
        if names is None or column not in names:
            known = f"there are {', '.join(names)[:200]}" if names else "give a frame that has it, or the column's number"
            raise InvalidParameter(f"no column is called {column[:60]!r}; {known}")
        return names.index(column)
    if not 0 <= int(column) < width:
        raise InvalidParameter(f"column {int(column)} is not in the table: columns run from 0 to {width - 1}")
    return int(column)
