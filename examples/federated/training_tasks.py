"""What simulated people train: digits with a logistic regression and with a small network, customers, and patients.

A person has a few rows of a public table, takes one step of gradient descent on them and shortens it to length 1. The customers and
patients are files that do not come with the project; docs/reproduce.md says where they are published.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
BANK = {
    "CreditScore": 1000,
    "Age": 100,
    "Tenure": 10,
    "Balance": 300_000,
    "NumOfProducts": 4,
    "IsActiveMember": 1,
    "EstimatedSalary": 200_000,
    "Satisfaction Score": 5,
    "Point Earned": 1000,
}
STROKE = {"age": 100, "hypertension": 1, "heart_disease": 1, "ever_married": 1, "avg_glucose_level": 300, "bmi": 50}
"""Columns, and the round public numbers that they are divided by."""


@dataclass(frozen=True)
class Task:
    """A table, a model of it and how it is trained.

    `hidden` is the number of hidden units; 0 is a logistic regression. With two classes the model has one output, and its score is
    the area under the ROC curve; with more classes the score is the share of right answers. A person's step is `rate` times the
    gradient on `each` rows; the server moves the model by `pace` times the mean step. `most_people` keeps the study short.
    """

    name: str
    rows: Floats
    labels: Integers
    each: int
    rate: float
    pace: float
    rounds: int
    hidden: int = 0
    most_people: int = 1_000_000

    @property
    def outputs(self) -> int:
        """Numbers that the model computes for a row."""
        classes = int(self.labels.max()) + 1
        return 1 if classes == 2 else classes

    @property
    def dimension(self) -> int:
        """How many numbers are trained."""
        inputs = int(self.rows.shape[1])
        return inputs * self.outputs if not self.hidden else inputs * self.hidden + (self.hidden + 1) * self.outputs

    @property
    def metric(self) -> str:
        """What a score is."""
        return "AUC" if self.outputs == 1 else "accuracy"

    def start(self) -> Floats:
        """The public model of the first round. With two classes it knows the share of class 1, rounded to whole percent."""
        weights = np.zeros(self.dimension)
        if self.hidden:
            inputs = self.rows.shape[1]
            weights[: inputs * self.hidden] = np.random.default_rng(0).normal(0, 1, inputs * self.hidden)
        elif self.outputs == 1:
            share = max(0.01, round(float(self.labels.mean()), 2))
            weights[-1] = math.log(share / (1 - share))
        return weights

    def updates(self, weights: Floats, mine: Integers) -> Floats:
        """Everyone's step, shortened to length 1: `mine` has a line for each person, with the numbers of their rows."""
        rows = self.rows[mine]
        wanted = self.labels[mine][..., None] if self.outputs == 1 else np.eye(self.outputs)[self.labels[mine]]
        inner, outer = self._layers(weights)
        seen = rows if inner is None else _with_one(np.tanh(rows @ inner))
        error = (wanted - _chances(seen @ outer)) / self.each
        steps = (np.swapaxes(seen, 1, 2) @ error).reshape(len(mine), -1)
        if inner is not None:
            back = (error @ outer[:-1].T) * (1 - seen[..., :-1] ** 2)
            steps = np.hstack([(np.swapaxes(rows, 1, 2) @ back).reshape(len(mine), -1), steps])
        steps = self.rate * steps
        return np.asarray(steps / np.maximum(1, np.linalg.norm(steps, axis=1, keepdims=True)))

    def score(self, weights: Floats, test: Integers) -> float:
        """On rows that nobody had."""
        inner, outer = self._layers(weights)
        rows = self.rows[test]
        out = (rows if inner is None else _with_one(np.tanh(rows @ inner))) @ outer
        if self.outputs == 1:
            return area(out[:, 0], self.labels[test])
        return float((out.argmax(axis=1) == self.labels[test]).mean())

    def _layers(self, weights: Floats) -> tuple[Floats | None, Floats]:
        inputs = self.rows.shape[1]
        if not self.hidden:
            return None, weights.reshape(inputs, self.outputs)
        cut = inputs * self.hidden
        return weights[:cut].reshape(inputs, self.hidden), weights[cut:].reshape(self.hidden + 1, self.outputs)


def area(scores: Floats, labels: Integers) -> float:
    """The area under the ROC curve: how often a row of class 1 scores above one of class 0; a tie counts one half.

    >>> area(np.array([0.1, 0.4, 0.4, 0.9]), np.array([0, 0, 1, 1]))
    0.875
    """
    ones, zeros = np.sort(scores[labels == 1]), np.sort(scores[labels == 0])
    below, upto = np.searchsorted(zeros, ones, "left"), np.searchsorted(zeros, ones, "right")
    return float((below + upto).mean() / 2 / len(zeros))


def _chances(logits: Floats) -> Floats:
    if logits.shape[-1] == 1:
        return np.asarray(1 / (1 + np.exp(-np.clip(logits, -50, 50))))
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def _with_one(rows: Floats) -> Floats:
    return np.concatenate([rows, np.ones((*rows.shape[:-1], 1))], axis=-1)


def digits() -> Task:
    """Images of 4 x 4 pixels from scikit-learn, five for each person; 170 numbers."""
    from sklearn.datasets import load_digits

    table = load_digits()
    images = table.images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16) / 16 - 0.5
    return Task("digits, regression", _with_one(images), table.target.astype(np.int64), each=5, rate=5, pace=3, rounds=5)


def network() -> Task:
    """The same images with twelve hidden units; 334 numbers."""
    return replace(digits(), name="digits, network", hidden=12, pace=2, rounds=10, most_people=10_000)


def bank(folder: Path) -> Task:
    """Customers of a bank and who of them left, one row for each person; 10 numbers."""
    rows, labels = table_of(folder / "bank_attrition.csv", BANK, "Exited")
    return Task("bank, regression", rows, labels, each=1, rate=1, pace=3, rounds=5)


def stroke(folder: Path) -> Task:
    """Patients and who of them had a stroke (one in twenty), one row for each person; 7 numbers."""
    rows, labels = table_of(folder / "stroke.csv", STROKE, "stroke")
    return Task("stroke, regression", rows, labels, each=1, rate=1, pace=10, rounds=5)


def table_of(path: Path, columns: dict[str, int], label: str) -> tuple[Floats, Integers]:
    """Every row: columns divided by their scale, in [-1/2, 1/2], and a 1. A missing number is the mean of the others."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    values = np.array([[_number(line[name]) / scale for name, scale in columns.items()] for line in lines])
    values = np.where(np.isnan(values), np.nanmean(values, axis=0), values)
    return _with_one(np.clip(values, 0, 1) - 0.5), np.array([int(line[label]) for line in lines])


def _number(text: str) -> float:
    words = {"Yes": 1.0, "No": 0.0, "N/A": math.nan}
    return words[text] if text in words else float(text)


TASKS: dict[str, Callable[[Path], Task]] = {
    "digits": lambda _folder: digits(),
    "network": lambda _folder: network(),
    "bank": bank,
    "stroke": stroke,
}
