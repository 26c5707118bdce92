"""The parts of the study in examples/federated, on made-up data."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[3] / "examples" / "federated"


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("training_tasks")


def made_up(tasks: Any, classes: int, hidden: int = 0) -> Any:
    generator = np.random.default_rng(1)
    labels = generator.integers(0, classes, 300)
    rows = np.hstack([np.eye(classes)[labels] + generator.normal(0, 0.3, (300, classes)), np.ones((300, 1))])
    return tasks.Task("made up", rows, labels, each=2, rate=0.01, pace=100, rounds=3, hidden=hidden)


@pytest.mark.parametrize(("classes", "hidden", "size"), [(2, 0, 3), (3, 0, 12), (3, 5, 38)])
def test_a_step_is_the_gradient_of_the_loss(tasks: Any, classes: int, hidden: int, size: int) -> None:
    task = made_up(tasks, classes, hidden)
    assert task.dimension == size
    weights = np.random.default_rng(2).normal(0, 0.5, size)
    mine = np.array([[3, 4], [10, 20]])

    def loss(at: Any) -> Any:
        inner, outer = task._layers(at)
        rows = task.rows[mine]
        seen = rows if inner is None else tasks._with_one(np.tanh(rows @ inner))
        chances = tasks._chances(seen @ outer)
        chances = np.concatenate([1 - chances, chances], axis=-1) if classes == 2 else chances
        right = np.take_along_axis(chances, task.labels[mine][..., None], axis=-1)
        return -np.log(right[..., 0]).mean(axis=1)

    slopes = np.stack([(loss(weights + 1e-6 * axis) - loss(weights - 1e-6 * axis)) / 2e-6 for axis in np.eye(size)], axis=1)
    assert np.allclose(task.updates(weights, mine), -0.01 * slopes, atol=1e-8)


def test_steps_are_clipped_to_length_1(tasks: Any) -> None:
    task = tasks.replace(made_up(tasks, 3), rate=1000)
    assert np.linalg.norm(task.updates(task.start(), np.array([[0, 1]]))) == pytest.approx(1)


def test_the_area_counts_pairs_in_order_and_ties_half(tasks: Any) -> None:
    scores, labels = np.array([0.2, 0.5, 0.5, 0.7, 0.1]), np.array([0, 0, 1, 1, 1])
    pairs = [(a > b) + (a == b) / 2 for a in scores[labels == 1] for b in scores[labels == 0]]
    assert tasks.area(scores, labels) == pytest.approx(np.mean(pairs))


def test_a_table_is_scaled_and_missing_numbers_are_the_mean(tasks: Any, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b,y\n5,Yes,1\nN/A,No,0\n20,No,0\n", encoding="utf-8")
    rows, labels = tasks.table_of(path, {"a": 10, "b": 1}, "y")
    assert rows.tolist() == [[0.0, 0.5, 1.0], [0.5, -0.5, 1.0], [0.5, -0.5, 1.0]]
    assert labels.tolist() == [1, 0, 0]


@pytest.mark.slow
def test_the_study_trains_gives_the_same_numbers_again_and_draws(tasks: Any, tmp_path: Path) -> None:
    study = importlib.import_module("study")
    task = made_up(tasks, 3)
    rows = list(study.study(task, 200, (1.0, 8.0), 2))
    assert rows == list(study.study(task, 200, (1.0, 8.0), 2))
    assert next(row["score"] for row in rows if row["way"] == "no privacy") > 0.9
    assert len(list(study.table(rows))) == 2
    assert study.save(study.study_chart(rows), tmp_path / "chart.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.slow
def test_absent_data_is_said_and_the_study_ends_well(
    tasks: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tasks.TASKS
    study = importlib.import_module("study")
    monkeypatch.setattr("sys.argv", ["study.py", "--models", "bank", "--data", str(tmp_path)])
    study.main()
    assert "bank_attrition.csv does not come with the project" in capsys.readouterr().out
