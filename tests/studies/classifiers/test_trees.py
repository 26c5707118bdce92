"""Tree models: cells and blocks, against the model itself at every output."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from deniable.errors import NotSupported
from deniable.studies import Cells, Feature, utility
from deniable.studies.classifiers import exact_cells
from deniable.studies.classifiers.exact_blocks import tree_blocks
from deniable.studies.classifiers.exact_cells import answered, restrict, tree_cells
from deniable.studies.classifiers.region import Blocks

from .every_output import brute, law_of

SOURCE = np.random.Generator(np.random.PCG64(5))
# Values like ages and counts: thresholds lie on the lattice's own points, where comparisons are delicate.
ROWS = np.round(SOURCE.random((300, 4)) * [100, 10, 1, 50], 1)
BINARY = (ROWS[:, 0] / 100 + ROWS[:, 1] / 10 + 0.3 * SOURCE.normal(size=300) > 1).astype(int)
THREE = np.digitize(ROWS[:, 0] / 100 + ROWS[:, 1] / 10 * ROWS[:, 2] + 0.2 * SOURCE.normal(size=300), [0.6, 1.0])
FEATURES = {0: Feature(0, 100, 21), 1: Feature(0, 10, 17), 2: Feature(0, 1, 9)}
laws = partial(law_of, FEATURES)

HISTOGRAMS = HistGradientBoostingClassifier(max_iter=15, random_state=0)
MODELS = [
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(30, random_state=0),
    RandomForestClassifier(20, max_depth=3, random_state=1),
    ExtraTreesClassifier(15, random_state=0),
    GradientBoostingClassifier(n_estimators=20, random_state=0),
    HISTOGRAMS,
    make_pipeline(StandardScaler(), RandomForestClassifier(20, random_state=2)),
    make_pipeline(MinMaxScaler(), GradientBoostingClassifier(n_estimators=10, random_state=0)),
]


@pytest.mark.slow
@pytest.mark.parametrize("labels", [BINARY, THREE], ids=["two classes", "three classes"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model)[:60])
@pytest.mark.parametrize("sensitive", [[0], [1, 0], [0, 1, 2]], ids=str)
def test_rho_is_the_sum_over_all_outputs(model: Any, labels: NDArray[np.int64], sensitive: list[int]) -> None:
    model.fit(ROWS, labels)
    for record in ROWS[:2]:
        law = laws(record, sensitive)
        region = tree_cells(model, record, sensitive, laws=[law])
        assert isinstance(region, Cells)
        assert all(edge.size <= one.channel.outputs for edge, one in zip(region.edges, law.laws, strict=True))
        report = utility(region, law)
        assert report.kind == "exact"
        assert report.value == pytest.approx(brute(model, record, sensitive, law), abs=1e-10)


@pytest.mark.parametrize("model", [one for one in MODELS if one is not HISTOGRAMS], ids=lambda model: str(model)[:60])
def test_every_output_of_a_fine_lattice_gets_its_cells_answer(model: Any) -> None:
    model.fit(ROWS, BINARY)
    record = ROWS[4]
    region = tree_cells(model, record, [0, 1])
    assert isinstance(region, Cells)
    law = laws(record, [0, 1], "ogpm", 3)
    draws = np.column_stack([SOURCE.choice(one.atoms[0], 1000) for one in law.laws])
    # And the outputs closest to the thresholds, on either side.
    for axis, one in enumerate(law.laws):
        places = np.searchsorted(one.atoms[0], np.unique(ROWS[:, axis]))
        near = np.clip(np.concatenate([places - 1, places]), 0, one.atoms[0].size - 1)
        draws = np.vstack([draws, draws[: near.size]])
        draws[-near.size :, axis] = one.atoms[0][near]
    rows = np.repeat(record[None], len(draws), axis=0)
    rows[:, [0, 1]] = draws
    cells = []
    for axis, (edge, seen) in enumerate(zip(region.edges, region.seen, strict=True)):
        cells.append(np.searchsorted(edge, draws[:, axis] if seen is None else seen(draws[:, axis]), "left"))
    assert (region.same[tuple(cells)] == (model.predict(rows) == model.predict(record[None])[0])).all()


@pytest.mark.slow
def test_every_output_of_a_fine_lattice_gets_its_cells_answer_also_from_histograms() -> None:
    test_every_output_of_a_fine_lattice_gets_its_cells_answer(HISTOGRAMS)


def test_dropped_cells_change_nothing() -> None:
    model = RandomForestClassifier(30, random_state=0).fit(ROWS, BINARY)
    record = ROWS[8]
    law = laws(record, [0, 1])
    pruned, whole = tree_cells(model, record, [0, 1], laws=[law]), tree_cells(model, record, [0, 1])
    assert isinstance(pruned, Cells)
    assert isinstance(whole, Cells)
    assert pruned.same.size < whole.same.size / 4
    assert utility(pruned, law).value == pytest.approx(utility(whole, law).value, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("model", [MODELS[2], MODELS[4], MODELS[5]], ids=lambda model: str(model)[:40])
@pytest.mark.parametrize("labels", [BINARY, THREE], ids=["two classes", "three classes"])
def test_blocks_bracket_rho_and_close_on_it(model: Any, labels: NDArray[np.int64]) -> None:
    model.fit(ROWS, labels)
    record = ROWS[3]
    law = laws(record, [0, 1, 2], "ogpm", 3)
    truth = utility(tree_cells(model, record, [0, 1, 2]), law).value
    restricted = restrict(model, record, [0, 1, 2])
    gaps = []
    for most in (50, 2000, 30_000):
        report = utility(tree_blocks(restricted, restricted.edges(), answered(restricted), [law], most_blocks=most), law)
        assert report.lower <= truth + 1e-9
        assert truth - 1e-9 <= report.upper
        gaps.append(report.upper - report.lower)
    assert gaps[0] >= gaps[1] >= gaps[2]
    assert gaps[2] < 0.02


def test_too_many_cells_become_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_cells, "MOST_CELLS", 100)
    model = RandomForestClassifier(20, random_state=0).fit(ROWS, BINARY)
    law = laws(ROWS[0], [0, 1])
    region = tree_cells(model, ROWS[0], [0, 1], laws=[law])
    assert isinstance(region, Blocks)
    report = utility(region, law)
    assert report.value == pytest.approx(brute(model, ROWS[0], [0, 1], law), abs=1e-6)


def test_a_box_of_cells_bounds_rho() -> None:
    model = RandomForestClassifier(30, max_depth=4, random_state=0).fit(ROWS, BINARY)
    record = ROWS[11]
    region = tree_cells(model, record, [0, 1])
    assert isinstance(region, Cells)
    assert region.seen[0] is not None
    cell = [int(np.searchsorted(edge, record[axis : axis + 1].astype(np.float32))[0]) for axis, edge in enumerate(region.edges)]
    law = laws(record, [0, 1], "sw", 4)
    box = region.box_around(cell)
    assert 0 < utility(box, law).lower <= utility(region, law).lower


def test_a_model_that_belies_its_trees_is_refused() -> None:
    class Contrary(RandomForestClassifier):  # type: ignore[misc]
        def predict(self, rows: Any) -> Any:
            return 1 - super().predict(rows)

    model = Contrary(10, random_state=0).fit(ROWS, BINARY)
    with pytest.raises(NotSupported, match="does not answer what its trees say"):
        tree_cells(model, ROWS[0], [0, 1], same_as=1)


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(NotSupported, match="not a tree model"):
        tree_cells(LogisticRegression().fit(ROWS, BINARY), ROWS[0], [0])
    with pytest.raises(NotSupported, match="one class only"):
        tree_cells(DecisionTreeClassifier().fit(ROWS, np.zeros(len(ROWS))), ROWS[0], [0])
    with pytest.raises(NotSupported, match="several outputs"):
        tree_cells(DecisionTreeClassifier().fit(ROWS, np.column_stack([BINARY, BINARY])), ROWS[0], [0])
    started = GradientBoostingClassifier(init=LogisticRegression(), n_estimators=3).fit(ROWS, BINARY)
    with pytest.raises(NotSupported, match="another model's answer"):
        tree_cells(started, ROWS[0], [0])
    kinds = ROWS.copy()
    kinds[:, 2] = np.round(kinds[:, 2] * 3)
    categorical = HistGradientBoostingClassifier(max_iter=5, categorical_features=[2]).fit(kinds, kinds[:, 2] % 2)
    with pytest.raises(NotSupported, match="categories"):
        tree_cells(categorical, kinds[0], [0])
