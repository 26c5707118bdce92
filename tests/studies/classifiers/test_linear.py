"""Linear models: half-spaces and rho, against sums over every output."""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, PolynomialFeatures, RobustScaler, StandardScaler
from sklearn.svm import LinearSVC

from deniable.errors import InvalidParameter, NotSupported
from deniable.studies import Box, Feature, HalfSpace, Polyhedron, exact_utility, perturbations, product_law, proved_box, utility
from deniable.studies.classifiers import exact_linear
from deniable.studies.classifiers.linear import linear_region

from .every_output import brute, law_of

SOURCE = np.random.Generator(np.random.PCG64(11))
ROWS = SOURCE.random((400, 5)) * [1, 10, 1, 100, 1] + [0, -5, 0, 0, 3]
SCALED = (ROWS - [0, -5, 0, 0, 3]) / [1, 10, 1, 100, 1]
BINARY = (SCALED[:, 0] + SCALED[:, 1] - 0.5 * SCALED[:, 3] + 0.2 * SOURCE.normal(size=400) > 0.75).astype(int)
THREE = np.digitize(SCALED[:, 0] + SCALED[:, 1] + 0.1 * SOURCE.normal(size=400), [0.8, 1.2])
FEATURES = {0: Feature(0, 1, 23), 1: Feature(-5, 5, 19), 3: Feature(0, 100, 11), 4: Feature(3, 4, 7)}
laws = partial(law_of, FEATURES)

MODELS = [
    LogisticRegression(max_iter=2000),
    make_pipeline(StandardScaler(), LogisticRegression()),
    make_pipeline(MinMaxScaler(clip=True), LinearSVC()),
    make_pipeline(MaxAbsScaler(), RobustScaler(), SGDClassifier(random_state=0)),
    make_pipeline(StandardScaler(with_mean=False), RidgeClassifier()),
    make_pipeline(StandardScaler(with_std=False), LinearDiscriminantAnalysis()),
]


@pytest.mark.slow
@pytest.mark.parametrize("labels", [BINARY, THREE], ids=["two classes", "three classes"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model)[:60])
@pytest.mark.parametrize("sensitive", [[1], [0, 1], [3, 0]], ids=str)
def test_rho_is_the_sum_over_all_outputs(model: Any, labels: NDArray[np.int64], sensitive: list[int]) -> None:
    model.fit(ROWS, labels)
    for record in ROWS[:3]:
        law = laws(record, sensitive)
        report = utility(linear_region(model, record, sensitive), law)
        assert report.kind == "exact"
        assert report.value == pytest.approx(brute(model, record, sensitive, law), abs=1e-10)


@pytest.mark.parametrize("clip", [True, False])
def test_outputs_beyond_the_range_reach_the_model_as_the_pipeline_has_it(clip: bool) -> None:
    model = make_pipeline(MinMaxScaler(clip=clip), LogisticRegression()).fit(ROWS, BINARY)
    for record in ROWS[:8]:
        law = laws(record, [0, 1], "laplace", 1, points=8)
        assert utility(linear_region(model, record, [0, 1]), law).value == pytest.approx(
            brute(model, record, [0, 1], law), abs=1e-10
        )


@pytest.mark.parametrize("name", ["laplace", "ogpm"])
def test_fine_lattices_agree_with_coarse_sums(name: str) -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(ROWS, BINARY)
    record = ROWS[5]
    law = laws(record, [0, 1], name, 3)
    report = utility(linear_region(model, record, [0, 1]), law)
    # Against a plain sum over one feature and the cdf of the other, in numpy and without the sweep.
    face = linear_region(model, record, [0, 1]).faces[0]
    (u, p), (v, q) = law.laws[0].atoms, law.laws[1].atoms
    seen_u, seen_v = face.seen[0], face.seen[1]
    assert seen_u is not None
    assert seen_v is not None
    limits = -(face.offset + face.normal[0] * seen_u(u)) / face.normal[1]
    sums = np.concatenate([[0.0], np.cumsum(q)])
    below = sums[np.searchsorted(seen_v(v), limits, "right")]
    kept = 1 - below if face.normal[1] > 0 else below
    assert report.value == pytest.approx(float(p @ kept), abs=1e-9)


@pytest.mark.parametrize("sensitive", [[0, 1, 3], [0, 1, 3, 4]], ids=str)
def test_more_features_have_certified_ends(sensitive: list[int]) -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(ROWS, BINARY)
    for record in ROWS[:3]:
        law = laws(record, sensitive, epsilon=3)
        report = utility(linear_region(model, record, sensitive), law)
        truth = brute(model, record, sensitive, law)
        assert report.lower <= truth <= report.upper
        assert report.error < 0.01
        assert report.value == pytest.approx(truth, abs=0.002)


def test_ends_hold_on_a_coarse_grid_where_they_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(ROWS, BINARY)
    off = 0
    for cells in (64, 512):
        monkeypatch.setattr(exact_linear, "GRID", cells)
        for record in ROWS[:6]:
            law = laws(record, [0, 1, 3], epsilon=3)
            report = utility(linear_region(model, record, [0, 1, 3]), law)
            truth = brute(model, record, [0, 1, 3], law)
            assert report.lower <= truth <= report.upper
            off += abs(report.value - truth) > 1e-3
    assert off > 3


def test_three_classes_and_three_features_are_bracketed() -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(ROWS, THREE)
    for record in ROWS[:3]:
        law = laws(record, [0, 1, 3], epsilon=3)
        report = utility(linear_region(model, record, [0, 1, 3]), law)
        assert report.kind == "certified"
        assert report.lower - 1e-9 <= brute(model, record, [0, 1, 3], law) <= report.upper + 1e-9


def test_many_features_stay_tractable() -> None:
    normal = tuple(np.linspace(-1, 1.02, 49))
    values = [0.5] * 49
    law = product_law(perturbations("ogpm", [Feature(points=11)] * 49, 4), values)
    region = Polyhedron((HalfSpace(normal, 0.4),))
    report = utility(region, law)
    assert 0.5 < report.lower <= report.value <= report.upper < 1
    assert report.error < 2e-3
    # A normal approximation of the sum, good to a percent with 49 terms.
    numbers, chances = law.laws[0].atoms
    mean = float(numbers @ chances)
    variance = float((numbers - mean) ** 2 @ chances)
    z = (sum(normal) * mean + 0.4) / math.sqrt(variance * float(np.square(normal).sum()))
    assert report.value == pytest.approx(0.5 * math.erfc(-z / math.sqrt(2)), abs=0.02)


def test_where_rounding_decides_the_ends_say_so() -> None:
    """k-rr's middle point lies exactly on the boundary: the model's own rounding decides there."""
    law = product_law(perturbations("k-rr", [Feature(0, 1, 5)], 2), [0.5])
    unsure = utility(HalfSpace((1.0,), -0.5, doubt=1e-15), law)
    middle = law.laws[0].probability(0.5, 0.5)
    assert unsure.upper - unsure.lower == pytest.approx(middle, abs=1e-8)
    assert unsure.kind == "certified"


def test_features_the_model_ignores_change_nothing() -> None:
    model = LogisticRegression().fit(ROWS, BINARY)
    model.coef_[0, [0, 1]] = 0
    assert exact_utility(model, ROWS[0], [0, 1], perturbations("ogpm", [FEATURES[0], FEATURES[1]], 1)).value == 1
    law = laws(ROWS[0], [0, 3], epsilon=1)
    assert utility(linear_region(model, ROWS[0], [0, 3]), law).value == pytest.approx(brute(model, ROWS[0], [0, 3], law), abs=1e-12)


def test_columns_are_followed_through_a_column_transformer() -> None:
    coded = ROWS.copy()
    coded[:, 2] = np.round(coded[:, 2] * 3)
    front = ColumnTransformer(
        [("kinds", OneHotEncoder(), [2]), ("numbers", make_pipeline(StandardScaler()), [3, 1, 0]), ("rest", "passthrough", [4])]
    )
    model = make_pipeline(front, LogisticRegression()).fit(coded, BINARY)
    for sensitive in ([0, 1], [4, 3]):
        law = laws(coded[7], sensitive)
        assert utility(linear_region(model, coded[7], sensitive), law).value == pytest.approx(
            brute(model, coded[7], sensitive, law), abs=1e-10
        )


def test_a_proved_box_holds_the_answer_and_bounds_rho() -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(ROWS, BINARY)
    record = ROWS[9]
    region = linear_region(model, record, [0, 1])
    box = proved_box(region.holds_in, [record[0], record[1]], [0, -5], [1, 5])
    assert box.box is not None
    corners = np.repeat(record[None], 4, axis=0)
    corners[:, [0, 1]] = list(product(*zip(box.box.low, box.box.high, strict=True)))
    assert (model.predict(corners) == model.predict(record[None])).all()
    wider = Box(tuple(low - 1e-2 for low in box.box.low), tuple(high + 1e-2 for high in box.box.high))
    assert not region.holds_in(wider)
    law = laws(record, [0, 1], "ogpm", 3)
    assert utility(box.box, law).lower <= utility(region, law).lower


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(NotSupported, match="not a linear classifier"):
        linear_region(KNeighborsClassifier().fit(ROWS, BINARY), ROWS[0], [0])
    mixing = make_pipeline(PolynomialFeatures(2), RidgeClassifier()).fit(ROWS, BINARY)
    with pytest.raises(NotSupported, match="PolynomialFeatures mixes"):
        linear_region(mixing, ROWS[0], [0])
    model = LogisticRegression().fit(ROWS, BINARY)
    for sensitive in ([], [0, 0], [7], [-1]):
        with pytest.raises(InvalidParameter, match="sensitive"):
            linear_region(model, ROWS[0], sensitive)
    with pytest.raises(InvalidParameter, match="finite"):
        linear_region(model, [math.nan, 1, 1, 1, 1], [0])
    with pytest.raises(NotSupported, match="same_as"):
        linear_region(model, ROWS[0], [0], same_as="maybe")
    with pytest.raises(InvalidParameter, match="the law 1"):
        utility(linear_region(model, ROWS[0], [0, 1]), laws(ROWS[0], [0]))
