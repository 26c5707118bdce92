"""What stands before a model in a pipeline: how each sensitive number reaches it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.batch import Floats
from deniable.errors import InvalidParameter, NotSupported

Seen = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Prepared:
    """The last step of a pipeline, the record as that step sees it, and the way of every sensitive number there.

    `columns[i]` is where sensitive feature i arrives; `seen[i]` is what becomes of it on the way, with the
    pipeline's own arithmetic, and never falls; None when it arrives unchanged.
    """

    model: Any
    record: Floats
    columns: tuple[int, ...]
    seen: tuple[Seen | None, ...]


def prepare(model: Any, record: Any, sensitive: Sequence[int]) -> Prepared:
    """Take a scikit-learn model or pipeline apart at one record.

    `record` is an array of all features, or a frame with one row. Scalers (standard, min-max, max-abs,
    robust) may handle sensitive features, also inside a ColumnTransformer; anything may handle the others.
    """
    row = record if hasattr(record, "columns") else np.asarray(record, dtype=np.float64).reshape(1, -1)
    places = _checked(sensitive, row.shape[1])
    steps = _steps(model)
    ways: list[list[Seen]] = [[] for _ in places]
    for step in steps[:-1]:
        names = list(row.columns) if hasattr(row, "columns") else None
        moved = [_steps_through(step, place, names) for place in places]
        for way, (_, seen) in zip(ways, moved, strict=True):
            way += seen
        row = step.transform(row)
        places = [place for place, _ in moved]
    final = np.asarray(row.to_numpy() if hasattr(row, "to_numpy") else row, dtype=np.float64)
    if not np.isfinite(final).all():
        raise InvalidParameter("record must hold finite numbers by the time they reach the model; fill in what is missing first")
    return Prepared(steps[-1], final[0], tuple(places), tuple(_chained(way) for way in ways))


def last_step(model: Any) -> Any:
    """The model at the end of a pipeline, or the model itself."""
    return _steps(model)[-1]


def _checked(sensitive: Sequence[int], width: int) -> list[int]:
    places = [int(place) for place in sensitive]
    if not places or len(set(places)) != len(places) or not all(0 <= place < width for place in places):
        raise InvalidParameter(f"sensitive must name different columns of the record, from 0 to {width - 1}")
    return places


def _steps(model: Any) -> list[Any]:
    """The steps of a pipeline, nested ones taken apart too."""
    if not _is_one_of(model, "Pipeline"):
        return [model]
    flat: list[Any] = []
    for _, step in model.steps:
        if step is not None and not (isinstance(step, str) and step == "passthrough"):
            flat += _steps(step)
    if not flat:
        raise NotSupported("the pipeline has no model at its end")
    return flat


def _is_one_of(thing: Any, *names: str) -> bool:
    """Is it one of these scikit-learn classes? By name, so that nothing is imported for it."""
    kinds = [kind for kind in type(thing).__mro__ if kind.__module__.startswith("sklearn.")]
    return any(kind.__name__ in names for kind in kinds)


def _steps_through(step: Any, place: int, names: list[Any] | None) -> tuple[int, list[Seen]]:
    """Where one step moves a column, and what it does to it."""
    if _is_one_of(step, "StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"):
        return place, [_scaling(step, place)]
    if _is_one_of(step, "ColumnTransformer"):
        for name, part, columns in step.transformers_:
            listed = _listed(columns, names, step.n_features_in_)
            if place in listed:
                inner = listed.index(place)
                ways: list[Seen] = []
                for small in _part_steps(part):
                    inner, seen = _steps_through(small, inner, None)
                    ways += seen
                return step.output_indices_[name].start + inner, ways
    raise NotSupported(
        f"{type(step).__name__} mixes or reshapes a sensitive feature, so its way to the model is not known exactly; "
        "use scalers before the model, or sample instead"
    )


def _part_steps(part: Any) -> list[Any]:
    if isinstance(part, str):
        if part == "passthrough":
            return []
        raise NotSupported("the pipeline drops a sensitive feature: the model never sees it, so nothing can change")
    if _is_one_of(part, "FunctionTransformer") and part.func is None:
        return []
    return _steps(part)


def _listed(columns: Any, names: list[Any] | None, width: int) -> list[int]:
    """Columns of a ColumnTransformer as numbers."""
    if isinstance(columns, slice):
        return list(range(width))[columns]
    chosen = [columns] if isinstance(columns, str | int) else list(columns)
    if chosen and all(isinstance(c, bool | np.bool_) for c in chosen):
        return [i for i, c in enumerate(chosen) if c]
    if any(isinstance(c, str) for c in chosen):
        if names is None:
            raise InvalidParameter("the pipeline chooses columns by name; give the record as a frame with one row")
        return [names.index(c) for c in chosen]
    return [int(c) for c in chosen]


def _scaling(scaler: Any, place: int) -> Seen:
    """The scaler's own operations on one column, in its own order."""
    if _is_one_of(scaler, "MinMaxScaler"):
        factor, shift = float(scaler.scale_[place]), float(scaler.min_[place])
        low, high = scaler.feature_range

        def stretched(numbers: Floats) -> Floats:
            scaled = numbers * factor + shift
            return np.clip(scaled, low, high) if scaler.clip else scaled

        return stretched
    centre = getattr(scaler, "center_", None) if _is_one_of(scaler, "RobustScaler") else getattr(scaler, "mean_", None)
    if getattr(scaler, "with_mean", True) is False or getattr(scaler, "with_centering", True) is False:
        centre = None
    middle = 0.0 if centre is None else float(centre[place])
    spread = 1.0 if scaler.scale_ is None else float(scaler.scale_[place])
    return lambda numbers: (numbers - middle) / spread


def _chained(ways: list[Seen]) -> Seen | None:
    if not ways:
        return None

    def seen(numbers: Floats) -> Floats:
        for way in ways:
            numbers = way(numbers)
        return numbers

    return seen
