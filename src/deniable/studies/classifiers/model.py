"""Any classifier as one thing: rows of numbers in, one answer per row out.

A callable, a scikit-learn estimator or pipeline, or a torch module. What comes back is checked, and what had to be
assumed is written in `notes`. A model that fails is reported without its message: that may hold somebody's data.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter, MissingPackage, NotSupported

Labels = NDArray[Any]
Rows = NDArray[np.float64]

PROBABILITIES = "the model returns one number per class; its answer is the class with the largest, the first of equals"
AT_RANDOM = "the model does not answer the same when asked twice; its own randomness is part of every number here"
ONE_CLASS = "the model knows one class only: it always keeps its answer, whatever the mechanism, and that says nothing about it"


class Model:
    """A classifier that has been looked at.

    >>> over = Model(lambda rows: rows[:, 0] > 0.5)
    >>> over.labels(np.array([[0.2], [0.9]])).tolist()
    [False, True]
    """

    def __init__(
        self,
        predict: Callable[[Rows], Any],
        *,
        source: Any = None,
        feature_names: Sequence[str] | None = None,
        features: int | None = None,
        classes: Sequence[Any] | None = None,
        kind: str = "callable",
        threshold: float | None = None,
        shape: tuple[int, ...] | None = None,
        framed: bool = False,
        tolerance: float | None = None,
    ) -> None:
        if tolerance is not None and not tolerance > 0:
            raise InvalidParameter("tolerance must be a positive number: how far a prediction may move and still count as kept")
        self._predict = predict
        self.tolerance = tolerance
        """For regression: answers are numbers, and one that moves by at most this much is kept."""
        self.source = source
        """The estimator or module itself, for the exact ways."""
        self.feature_names = None if feature_names is None else tuple(str(name) for name in feature_names)
        self.features = len(self.feature_names) if self.feature_names is not None and features is None else features
        self.classes = None if classes is None else tuple(classes)
        self.kind = kind
        self.threshold = threshold
        self.shape = shape
        self.framed = framed
        """Does a step pick columns by name, so that it must be given a frame?"""
        self.repeatable = True
        self.notes: list[str] = [ONE_CLASS] if self.classes is not None and len(self.classes) == 1 else []

    def labels(self, rows: Any) -> Labels:
        """The model's answers, one per row."""
        table = self._checked(rows)
        if not len(table):
            return np.empty(0)
        problem = ""
        raw: Any = None
        try:
            raw = self._predict(table)
        except Exception as error:
            problem = type(error).__name__
        # Raised outside the handler, so that the model's message does not travel along: it may show data.
        if problem:
            raise InvalidParameter(
                f"the model raised {problem} on {len(table)} rows of {table.shape[1]} numbers; its message is not shown because it "
                "may hold data. Call the model on such rows yourself"
            )
        return self._read(raw, len(table))

    def same(self, answers: Labels, label: Any) -> NDArray[np.bool_]:
        """Which answers count as this one: equal labels, or numbers within the tolerance."""
        return np.asarray(answers == label) if self.tolerance is None else np.abs(answers - float(label)) <= self.tolerance

    def given(self, record: Rows) -> Any:
        """One record as the model itself wants it: a row of numbers, or a frame with one row."""
        return _frame(record[None], self.feature_names) if self.framed and self.feature_names is not None else record

    def _checked(self, rows: Any) -> Rows:
        try:
            table = np.asarray(rows, dtype=np.float64)
        except (TypeError, ValueError):
            table = np.empty(0)
        if table.ndim != 2:
            raise InvalidParameter("rows must be a table of numbers: one row per record, one column per feature")
        if self.features is not None and table.shape[1] != self.features:
            raise InvalidParameter(f"the model takes {self.features} features, the rows have {table.shape[1]}")
        return table

    def _read(self, raw: Any, count: int) -> Labels:
        answers = np.asarray(raw)
        if answers.ndim == 2 and answers.shape == (count, 1):
            answers = answers[:, 0]
        if answers.shape[:1] != (count,) or answers.ndim > 2:
            raise InvalidParameter(f"the model must give one answer per row: {count} rows gave an array of shape {answers.shape}")
        if self.tolerance is not None:
            if answers.ndim != 1 or answers.dtype.kind not in "fiu" or not bool(np.isfinite(answers).all()):
                raise InvalidParameter("with a tolerance the model must give one finite number per row")
            return answers.astype(np.float64)
        if answers.dtype.kind == "f" and bool(np.isnan(answers).any()):
            raise InvalidParameter("the model answered nan for at least one row; a label, or a number per class, is needed")
        if answers.ndim == 2:
            if answers.dtype.kind not in "fiu":
                raise InvalidParameter("the model must give a label, or a number per class, for every row")
            self._note(PROBABILITIES)
            best = answers.argmax(axis=1)
            named = self.classes is not None and len(self.classes) == answers.shape[1]
            chosen: Labels = np.asarray(self.classes)[best] if named else best
            return chosen
        if self.threshold is not None and answers.dtype.kind in "fiu":
            return answers > self.threshold
        if answers.dtype.kind == "f" and not bool((answers == np.floor(answers)).all()):
            raise InvalidParameter(
                "the model gives one real number per row, which is not a class; return labels, or say from where it means yes: "
                "threshold=0.5 for probabilities, threshold=0 for scores"
            )
        return answers

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse features that are not the model's own, in its own order."""
        if self.feature_names is None:
            if self.features is not None and len(names) != self.features:
                raise InvalidParameter(f"the model takes {self.features} features, the data has {len(names)}")
            return
        given = tuple(str(name) for name in names)
        if given == self.feature_names:
            return
        missing = [name for name in self.feature_names if name not in given]
        strange = [name for name in given if name not in self.feature_names]
        if missing or strange:
            parts = [f"the model was trained with {', '.join(missing[:5])}, which the data lacks"] if missing else []
            parts += [f"the data has {', '.join(strange[:5])}, which the model does not know"] if strange else []
            raise InvalidParameter("the features have other names than the model's: " + "; ".join(parts))
        raise InvalidParameter(
            f"the features are in another order than the model's; it takes {', '.join(self.feature_names)[:300]}"
        )

    def look(self, rows: Any) -> Labels:
        """Ask twice: the answers, after noting whether they can be relied on."""
        first, second = self.labels(rows), self.labels(rows)
        if bool((first != second).any()):
            self.repeatable = False
            self._note(AT_RANDOM)
        if self.classes is None and len(first) > 1 and len(set(first.tolist())) == 1:
            self._note("the model gave one and the same answer to all of these records")
        return first

    def __repr__(self) -> str:
        return f"Model({self.kind}, features={self.features}, classes={None if self.classes is None else len(self.classes)})"


def as_model(
    model: Any,
    *,
    feature_names: Sequence[str] | None = None,
    shape: Sequence[int] | None = None,
    threshold: float | None = None,
    tolerance: float | None = None,
) -> Model:
    """Whatever classifies, or with a `tolerance` whatever predicts numbers, as a Model.

    `shape` is the shape of one input of a torch module, when it is not a flat row. `threshold` says from where a
    single number per row means yes.
    """
    if isinstance(model, Model):
        return model
    if _is_torch(model):
        if tolerance is not None:
            raise NotSupported("regression is for scikit-learn estimators and callables; wrap the module in a callable")
        return _torch_model(model, feature_names, shape, threshold)
    if hasattr(model, "predict"):
        return _estimator(model, feature_names, tolerance)
    if callable(model):
        return Model(model, source=model, feature_names=feature_names, threshold=threshold, tolerance=tolerance)
    raise NotSupported(
        f"a {type(model).__name__} is not a model: give a callable, a fitted scikit-learn estimator or a torch module"
    )


def _estimator(model: Any, feature_names: Sequence[str] | None, tolerance: float | None = None) -> Model:
    if tolerance is None and (getattr(model, "_estimator_type", None) == "regressor" or _says_regressor(model)):
        raise NotSupported(
            f"{type(model).__name__} answers with numbers, not classes; say how far a number may move and still count as kept: "
            "tolerance (--tolerance)"
        )
    own = getattr(model, "feature_names_in_", None)
    names = None if own is None else [str(name) for name in own]
    if names is not None and feature_names is not None and list(feature_names) != names:
        raise InvalidParameter("feature_names are not those the model was trained with, in their order")
    names = names if names is not None else None if feature_names is None else list(feature_names)
    width = getattr(model, "n_features_in_", None)
    if width is None and not hasattr(model, "classes_"):
        raise InvalidParameter(f"the {type(model).__name__} is not fitted yet; call fit first")
    framed = own is not None and _chooses_by_name(model)

    def predict(rows: Rows) -> Any:
        with warnings.catch_warnings():
            # The names were compared when the model was taken in; rows without names are meant.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            return model.predict(_frame(rows, names) if framed and names is not None else rows)

    return Model(
        predict,
        source=model,
        feature_names=names,
        features=None if width is None else int(width),
        classes=getattr(model, "classes_", None),
        kind=type(model).__name__,
        framed=framed,
        tolerance=tolerance,
    )


def _says_regressor(model: Any) -> bool:
    kinds = {kind.__name__ for kind in type(model).__mro__}
    return "RegressorMixin" in kinds


def _chooses_by_name(model: Any) -> bool:
    """Does a step of the pipeline pick columns by their names? Then it needs a frame."""
    if hasattr(model, "transformers"):
        return any(isinstance(name, str) for _, _, columns in model.transformers for name in _listed(columns))
    return any(_chooses_by_name(step) for _, step in getattr(model, "steps", ()))


def _listed(columns: Any) -> list[Any]:
    return [columns] if isinstance(columns, str) else list(columns) if isinstance(columns, list | tuple | np.ndarray) else []


def _frame(rows: Rows, names: Sequence[str]) -> Any:
    # pandas is not ours: a pipeline that picks columns by name was fitted on its frames.
    try:
        return importlib.import_module("pandas").DataFrame(rows, columns=list(names))
    except ImportError:
        pass
    raise MissingPackage("this pipeline picks columns by name, which needs pandas: pip install pandas")


def _is_torch(model: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def _torch_model(module: Any, feature_names: Sequence[str] | None, shape: Sequence[int] | None, threshold: float | None) -> Model:
    import torch

    if module.training:
        raise InvalidParameter("the torch module is in training mode, where dropout answers at random; call module.eval() first")
    first = next(module.parameters(), None)
    kind = torch.float32 if first is None or not first.dtype.is_floating_point else first.dtype
    inner = None if shape is None else tuple(int(size) for size in shape)
    width = None if inner is None else int(np.prod(inner))

    def predict(rows: Rows) -> Any:
        with torch.no_grad():
            batch = torch.as_tensor(rows).to(kind)
            return module(batch if inner is None else batch.reshape(len(rows), *inner)).cpu().double().numpy()

    return Model(
        predict,
        source=module,
        feature_names=feature_names,
        features=width,
        kind=type(module).__name__,
        threshold=threshold,
        shape=inner,
    )
