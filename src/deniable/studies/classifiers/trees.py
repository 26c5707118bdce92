"""Trees, forests and boosted trees as plain arrays: the same splits, leaves and sums that scikit-learn uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Floats, Integers
from deniable.errors import NotSupported

LEAF = -1
FORESTS = ("RandomForest", "ExtraTrees")
SINGLE = ("DecisionTree", "ExtraTree")
BOOSTED, HISTOGRAM = "GradientBoosting", "HistGradientBoosting"
KINDS = (*FORESTS, *SINGLE, BOOSTED, HISTOGRAM)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Trees in one row of nodes; a leaf's values are added to the scores, tree after tree.

    A node sends a record left when its feature is <= threshold. With one score column, class 1 is answered
    when the score is above zero (`tie` False) or not below it (`tie` True); else the first largest score wins.
    A regressor has no classes: its one score, divided, is the prediction.
    """

    roots: Integers
    feature: Integers
    threshold: Floats
    left: Integers
    right: Integers
    values: Floats
    start: Floats
    classes: NDArray[Any]
    single_precision: bool
    divide: float = 1.0
    tie: bool = False

    @property
    def columns(self) -> int:
        """How many scores a record gets."""
        return int(self.values.shape[1])

    def answers(self, scores: Floats) -> Integers:
        """The number of the answered class, from sums of leaf values along the last axis."""
        if self.columns == 1:
            raw = scores[..., 0]
            return np.asarray(raw >= 0 if self.tie else raw > 0, dtype=np.int64)
        return np.asarray(np.argmax(scores / self.divide, axis=-1), dtype=np.int64)

    def seen(self, numbers: Floats) -> Floats:
        """A number as the comparison with a threshold sees it."""
        return numbers.astype(np.float32).astype(np.float64) if self.single_precision else numbers


def is_tree_model(model: Any) -> bool:
    """Is it a classifier that `read_trees` understands?"""
    return _kind(model, "Classifier") is not None


def is_tree_regressor(model: Any) -> bool:
    """Is it a regressor that `read_trees` understands?"""
    return _kind(model, "Regressor") is not None


def _kind(model: Any, ending: str) -> str | None:
    for kind in type(model).__mro__:
        if kind.__module__.startswith("sklearn.") and kind.__name__ in [name + ending for name in KINDS]:
            return kind.__name__.removesuffix(ending)
    return None


def read_trees(model: Any) -> Ensemble:
    """The trees of a fitted scikit-learn classifier or regressor."""
    kind = _kind(model, "Classifier") or _kind(model, "Regressor")
    if kind is None:
        raise NotSupported(
            f"{type(model).__name__} is not a tree model of scikit-learn; decision trees, random forests, extra trees and "
            "(histogram) gradient boosting are read exactly, everything else is sampled"
        )
    if getattr(model, "n_outputs_", 1) != 1:
        raise NotSupported("a model with several outputs has no single answer; use one model per output")
    if kind in SINGLE:
        return _joined(model, [_nodes(model.tree_, model.tree_.value[:, 0, :])], np.zeros(model.tree_.value.shape[2]))
    if kind in FORESTS:
        trees = [_nodes(tree.tree_, tree.tree_.value[:, 0, :]) for tree in model.estimators_]
        return _joined(model, trees, np.zeros(trees[0][4].shape[1]), divide=float(len(trees)))
    return _boosted(model) if kind == BOOSTED else _histogram_boosted(model)


Nodes = tuple[Integers, Floats, Integers, Integers, Floats]


def _nodes(tree: Any, values: Floats) -> Nodes:
    feature = np.where(tree.children_left < 0, LEAF, tree.feature).astype(np.int64)
    left, right = tree.children_left.astype(np.int64), tree.children_right.astype(np.int64)
    return feature, _as_single(tree.threshold), left, right, np.ascontiguousarray(values, dtype=np.float64)


def _as_single(thresholds: Floats) -> Floats:
    """The largest single-precision number not above each threshold: numbers arrive rounded to single precision."""
    near = thresholds.astype(np.float32)
    lower = np.where(near.astype(np.float64) > thresholds, np.nextafter(near, np.float32(-np.inf)), near)
    return lower.astype(np.float64)


def _boosted(model: Any) -> Ensemble:
    init = model.init_
    if not (isinstance(init, str) or type(init).__name__ in ("DummyClassifier", "DummyRegressor")):
        raise NotSupported("the boosted model starts from another model's answer, which may depend on sensitive features")
    columns = int(model.estimators_.shape[1])
    # The start is the same for every record; the private method is the only place that knows it.
    start = np.asarray(model._raw_predict_init(np.zeros((1, model.n_features_in_))), dtype=np.float64)[0]
    trees = []
    for stage in model.estimators_:
        for column, tree in enumerate(stage):
            values = np.zeros((tree.tree_.node_count, columns))
            values[:, column] = model.learning_rate * tree.tree_.value[:, 0, 0]
            trees.append(_nodes(tree.tree_, values))
    return _joined(model, trees, start, tie=True)


def _histogram_boosted(model: Any) -> Ensemble:
    if not hasattr(model, "classes_") and type(model._loss.link).__name__ != "IdentityLink":
        raise NotSupported(f"a loss of {model.loss} predicts the exponential of what its trees add up; sample it instead")
    columns = len(model._predictors[0])
    start = np.asarray(model._baseline_prediction, dtype=np.float64).reshape(-1)
    trees: list[Nodes] = []
    for stage in model._predictors:
        for column, predictor in enumerate(stage):
            nodes = predictor.nodes
            if bool(nodes["is_categorical"].any()):
                raise NotSupported("splits on categories are not read yet; encode them as numbers, or sample instead")
            values = np.zeros((nodes.size, columns))
            values[:, column] = nodes["value"]
            feature = np.where(nodes["is_leaf"] > 0, LEAF, nodes["feature_idx"]).astype(np.int64)
            children = nodes["left"].astype(np.int64), nodes["right"].astype(np.int64)
            trees.append((feature, nodes["num_threshold"].astype(np.float64), *children, values))
    return _joined(model, trees, start, single_precision=False)


def _joined(
    model: Any, trees: list[Nodes], start: Floats, *, divide: float = 1.0, tie: bool = False, single_precision: bool = True
) -> Ensemble:
    sizes = np.array([tree[0].size for tree in trees])
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    return Ensemble(
        roots=roots,
        feature=np.concatenate([tree[0] for tree in trees]),
        threshold=np.concatenate([tree[1] for tree in trees]),
        left=np.concatenate([tree[2] + root for tree, root in zip(trees, roots, strict=True)]),
        right=np.concatenate([tree[3] + root for tree, root in zip(trees, roots, strict=True)]),
        values=np.concatenate([tree[4] for tree in trees]),
        start=start,
        classes=np.asarray(getattr(model, "classes_", ())),
        single_precision=single_precision,
        divide=divide,
        tie=tie,
    )
