"""`deniable quantify` from files to a table, JSON and a chart, and one line for every bad question."""

from __future__ import annotations

import csv
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import skops.io as skops
from click.testing import CliRunner, Result
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from deniable.cli.app import main

NAMES = ["Age", "BMI", "Smokes"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two saved models and their data."""
    here = tmp_path_factory.mktemp("models")
    table = np.random.default_rng(5).random((200, 3)).round(3)
    table[:, 0], table[:, 2] = (100 * table[:, 0]).round(1), table[:, 2].round()
    labels = np.where(table[:, 0] / 100 + table[:, 1] > 0.9, "ill", "well")
    frame = pandas.DataFrame(table, columns=NAMES)
    skops.dump(LogisticRegression(max_iter=2000).fit(frame, labels), here / "linear.skops")
    skops.dump(SVC().fit(frame, labels), here / "smooth.skops")
    skops.dump(LogisticRegression(max_iter=2000).fit(table, labels), here / "nameless.skops")
    # Another order than the model's, and columns more.
    rows = [[b, a, s, label, "dead"] for (a, b, s), label in zip(table[:6].tolist(), labels[:6], strict=True)]
    write(here / "data.csv", ["BMI", "Age", "Smokes", "Truth", "Other"], rows)
    write(here / "renamed.csv", ["Years", "BMI", "Smokes"], table[:2].tolist())
    write(here / "outside.csv", NAMES, [[101.5, 0.5, 1]])
    write(here / "gap.csv", NAMES, [["", 0.5, 1]])
    return here


def write(path: Path, header: list[str], rows: list[Any]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def run(folder: Path, model: str, data: str, *options: str) -> Result:
    arguments = ["quantify", str(folder / model), str(folder / data), "--empirical", "200", *options]
    if "--sensitive" not in options:
        arguments += ["--sensitive", "Age=0:100,BMI"]
    return CliRunner().invoke(main, arguments)


@pytest.mark.slow
def test_json_has_every_number_per_epsilon(folder: Path) -> None:
    result = run(folder, "linear.skops", "data.csv", "-m", "ogpm", "-m", "laplace", "--epsilons", "1:4", "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    assert [row["epsilon"] for row in document["rows"]] == [1, 2, 3, 4] * 2
    assert document["records"] == 6
    for row in document["rows"]:
        assert row["kind"] == "exact"
        assert row["lower"] <= row["exact"] <= row["interval"][1]
        assert len(row["empirical_interval"]) == 2
        assert row["worst_interval"][0] <= row["exact"]
    assert document["statements"][0].startswith("On average over these 6 records, with probability at least")


def test_people_get_a_table_sentences_and_a_chart(folder: Path, tmp_path: Path) -> None:
    chart = tmp_path / "rho.svg"
    result = run(
        folder,
        "linear.skops",
        "data.csv",
        "--row",
        "1",
        "-m",
        "ogpm",
        "--epsilons",
        "2,4",
        "--target",
        "0.7",
        "--features",
        "--chart",
        str(chart),
    )
    assert result.exit_code == 0, result.output
    for text in ("ogpm", "none: exact", "At this record", "is enough for 0.7", "Hiding one feature alone", "2 epsilon in total"):
        assert text in result.output, text
    assert "probability of the same answer" in chart.read_text(encoding="utf-8")


def test_a_black_box_is_sampled_and_says_so(folder: Path) -> None:
    result = run(
        folder,
        "smooth.skops",
        "data.csv",
        "--row",
        "2",
        "-m",
        "ogpm",
        "-m",
        "k-rr",
        "--epsilons",
        "2",
        "--samples",
        "2000",
        "--together",
    )
    assert result.exit_code == 0, result.output
    assert "sampled:" in result.output
    assert "With 95 % confidence" in result.output


def test_a_wider_interval_asks_a_black_box_less_often(folder: Path) -> None:
    options = ("-m", "ogpm", "--epsilons", "4", "--row", "1", "--samples", "60000", "--json")
    rows = {
        width: json.loads(run(folder, "smooth.skops", "data.csv", *options, "--width", width).output)["rows"][0]
        for width in ("0.05", "0.004")
    }
    for width, row in rows.items():
        assert row["interval"][1] - row["interval"][0] <= float(width)
    assert rows["0.05"]["evaluations"] < rows["0.004"]["evaluations"] < 60_000


def test_the_true_labels_can_be_asked_about(folder: Path) -> None:
    result = run(folder, "linear.skops", "data.csv", "-m", "ogpm", "--epsilons", "8", "--label", "Truth")
    assert result.exit_code == 0, result.output
    assert "the model gives the true label" in result.output


def test_a_model_without_names_takes_the_columns_as_they_come(folder: Path) -> None:
    result = run(folder, "nameless.skops", "renamed.csv", "--sensitive", "Years=0:100", "-m", "ogpm", "--epsilons", "4", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["sensitive"] == ["Years"]


@pytest.mark.parametrize(
    ("model", "data", "options", "message", "code"),
    [
        ("linear.skops", "renamed.csv", [], "trained with Age, which the data lacks", 2),
        ("linear.skops", "outside.csv", [], "Age of row 2 is outside Interval(0, 100); it is not shown", 1),
        ("linear.skops", "gap.csv", [], "Age in row 2 is missing or not a number", 1),
        ("linear.skops", "data.csv", ["--sensitive", "Weight"], "no feature is called 'Weight'", 2),
        ("linear.skops", "data.csv", ["--sensitive", "Age=0"], "LOW:HIGH", 2),
        ("linear.skops", "data.csv", ["--sensitive", "Age=5:5"], "low must lie below high", 2),
        ("linear.skops", "data.csv", ["--sensitive", "Age,Age"], "twice", 2),
        ("linear.skops", "data.csv", ["--label", "Death"], "no column 'Death'", 2),
        ("linear.skops", "data.csv", ["--label", "Other"], "does not know", 2),
        ("linear.skops", "data.csv", ["-m", "gaussian"], "--delta", 2),
        ("linear.skops", "data.csv", ["-m", "olh"], "olh", 2),
        ("linear.skops", "data.csv", ["-m", "nothing"], "no mechanism is called", 2),
        ("linear.skops", "data.csv", ["--epsilons", "3:1"], "FROM:TO", 2),
        ("linear.skops", "data.csv", ["--epsilons", "-1"], "positive", 2),
        ("linear.skops", "data.csv", ["--row", "9"], "--row must be", 2),
        ("linear.skops", "data.csv", ["--target", "2"], "--target", 2),
        ("linear.skops", "data.csv", ["--chart", "x.gif"], "chart file", 2),
        ("missing.skops", "data.csv", [], "no such file", 1),
        ("linear.skops", "missing.csv", [], "No such file", 1),
        ("data.csv", "data.csv", [], "not a model file", 2),
    ],
)
def test_bad_questions_get_one_line(folder: Path, model: str, data: str, options: list[str], message: str, code: int) -> None:
    result = (
        run(folder, model, data, "--epsilons", "1", *options) if "--epsilons" not in options else run(folder, model, data, *options)
    )
    assert message in result.output, result.output
    assert result.exit_code == code
    assert result.output.count("\n") == 1
    assert "101.5" not in result.output


def test_pickles_are_refused_unless_trusted(folder: Path) -> None:
    import pickle

    table = np.random.default_rng(0).random((50, 3))
    model = LogisticRegression().fit(table, table[:, 0] > 0.5)
    (folder / "model.pkl").write_bytes(pickle.dumps(model))
    refused = run(folder, "model.pkl", "renamed.csv", "--sensitive", "Years=0:100", "--epsilons", "1")
    assert refused.exit_code == 2
    assert "--trust-code" in refused.output
    taken = run(folder, "model.pkl", "renamed.csv", "--sensitive", "Years=0:100", "-m", "ogpm", "--epsilons", "1", "--trust-code")
    assert taken.exit_code == 0, taken.output


def test_forty_nine_features_of_a_saved_network_get_intervals(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is an extra")
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(50, 3)).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.trace(module, torch.zeros(1, 1, 7, 7)).save(str(tmp_path / "net.pt"))
    write(tmp_path / "image.csv", [f"pixel{i}" for i in range(49)], [[0.5] * 49])
    options = ["--sensitive", "all=0:1", "--shape", "1,7,7", "-m", "ogpm", "--epsilons", "4", "--samples", "1000", "--json"]
    refused = run(tmp_path, "net.pt", "image.csv", *options)
    assert (refused.exit_code, "--trust-code" in refused.output) == (2, True)
    result = run(tmp_path, "net.pt", "image.csv", *options, "--trust-code")
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    assert len(document["sensitive"]) == 49
    assert document["rows"][0]["interval"][0] < document["rows"][0]["interval"][1]
