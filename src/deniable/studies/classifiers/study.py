"""A model, the records it is asked about, and which of their features are sensitive."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Floats, Keystream, table_of_numbers, unframed
from deniable.errors import InvalidParameter, NotSupported, OutOfDomain
from deniable.studies.classifiers.exact import Utility, utility
from deniable.studies.classifiers.exact_models import exact_region
from deniable.studies.classifiers.intervals import Counted, Evidence
from deniable.studies.classifiers.model import Model, as_model
from deniable.studies.classifiers.networks import network_box, read_network
from deniable.studies.classifiers.output_law import product_law
from deniable.studies.classifiers.perturbation import Feature
from deniable.studies.classifiers.sampling import Progress, answering, drawn, shared
from deniable.studies.classifiers.strata import Answer
from deniable.studies.classifiers.weights import Setting

FEW_FEATURES = 4
WIDEST_CERTIFIED = 0.01
"""Certified ends farther apart than this are left to sampling."""


@dataclass(frozen=True)
class Effort:
    """How often a model may be asked at one record, and how narrow its intervals need be at most."""

    evaluations: int
    width: float | None = None
    error: float = 0.05


@dataclass(frozen=True, eq=False)
class Study:
    """What `study` has checked."""

    model: Model
    records: Floats
    columns: tuple[int, ...]
    names: tuple[str, ...]
    features: tuple[Feature, ...]
    answers: NDArray[Any]
    target: str

    def __len__(self) -> int:
        return len(self.records)

    def values(self, record: int) -> list[float]:
        """The sensitive values of one record."""
        return [float(self.records[record, column]) for column in self.columns]

    def answer(self, record: int, progress: Progress | None = None) -> Answer:
        """Does the model keep its answer at one record, when the sensitive features change?"""
        return answering(self.model.labels, self.records[record], self.columns, self.answers[record], progress, self.model.same)

    def only(self, keep: Sequence[int]) -> Study:
        """The same question with some of the sensitive features only."""
        return Study(
            self.model,
            self.records,
            tuple(self.columns[i] for i in keep),
            tuple(self.names[i] for i in keep),
            tuple(self.features[i] for i in keep),
            self.answers,
            self.target,
        )

    def sampled(
        self, record: int, settings: Sequence[Setting], effort: Effort, keystream: Keystream | None, progress: Progress | None
    ) -> list[Evidence]:
        """One shared sample at one record."""
        return shared(
            self.answer(record, progress),
            self.values(record),
            settings,
            evaluations=effort.evaluations,
            width=effort.width,
            error=effort.error,
            keystream=keystream,
            repeatable=self.model.repeatable,
        )

    def drawn(self, record: int, setting: Setting, draws: int, keystream: Keystream | None) -> Evidence:
        """Reports as the mechanism makes them, for this setting alone."""
        return drawn(self.answer(record), self.values(record), setting, draws, keystream)

    def exact(self, record: int, settings: Sequence[Setting]) -> list[Utility]:
        """ρ without sampling, or a NotSupported that says why not."""
        laws = [product_law(setting.perturbations, self.values(record)) for setting in settings]
        with warnings.catch_warnings():
            # The names were compared when the records were taken in; rows without names are meant.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            row = self.model.given(self.records[record])
            near = self.answers[record]
            region = exact_region(self.model.source, row, self.columns, laws=laws, same_as=near, tolerance=self.model.tolerance)
        return [utility(region, law) for law in laws]

    def proved(self, record: int, settings: Sequence[Setting]) -> list[float] | None:
        """Lower bounds of ρ from a proved box around the record, for torch networks; None where there is no proof."""
        if self.model.kind != "Sequential" or self.target != "answer":
            return None
        row = self.records[record]
        try:
            network = read_network(
                self.model.source, row if self.model.shape is None else row.reshape(self.model.shape), self.columns
            )
            laws = [product_law(setting.perturbations, self.values(record)) for setting in settings]
            spans = [[law.laws[i].span() for law in laws] for i in range(len(self.columns))]
            low, high = [min(ends[0] for ends in span) for span in spans], [max(ends[1] for ends in span) for span in spans]
            # Splitting a box pays in a few dimensions only.
            few = len(self.columns) <= FEW_FEATURES
            proof = network_box(network, low, high, parts=256 if few else 1, side_steps=8 if few else 3)
        except NotSupported:
            return None
        if proof.box is None:
            return None
        return [utility(proof.box, law).lower for law in laws]


def as_evidence(exact: Utility) -> Counted:
    """An exact ρ in the words of samples."""
    return Counted(exact.value, 0, exact.lower, exact.upper, exact.kind)


def study(
    model: Any,
    records: Any,
    sensitive: Mapping[Any, Feature],
    *,
    names: Sequence[str] | None = None,
    truth: Any = None,
    tolerance: float | None = None,
    on_row: Callable[[int], str] = lambda row: f"record {row}",
) -> Study:
    """Check a model, its records and its sensitive features, and put them together.

    `sensitive` maps a column (its number, or its name) to its public range. ρ is about the model's own answer at
    the true record; with `truth`, one label per record, it is about that label. For regression give a `tolerance`: a prediction
    that moves by at most so much is kept.
    """
    judge = as_model(model, tolerance=tolerance)
    table, own_names = _table(records)
    names = own_names if names is None else names
    if names is not None:
        judge.check_names(names)
    known = judge.feature_names if names is None else tuple(str(name) for name in names)
    columns = [_column(key, known, table.shape[1]) for key in sensitive]
    if not columns or len(set(columns)) != len(columns):
        raise InvalidParameter("sensitive must name at least one feature, and each of them once")
    shown = tuple(known[column] if known is not None else f"feature {column}" for column in columns)
    for column, name, feature in zip(columns, shown, sensitive.values(), strict=True):
        low, high = float(feature.interval.low), float(feature.interval.high)
        outside = np.flatnonzero(~((table[:, column] >= low) & (table[:, column] <= high)))
        if outside.size:
            raise OutOfDomain(
                f"{name} of {on_row(int(outside[0]))} is outside {feature.interval!r}; it is not shown because it is private. "
                "Give the feature's public range, or clip the data"
            )
    answers = judge.look(table)
    if truth is not None:
        answers = np.asarray(unframed(truth))
        if answers.shape != (len(table),):
            raise InvalidParameter("truth must have one label per record")
    return Study(judge, table, tuple(columns), shown, tuple(sensitive.values()), answers, _target(judge, truth is None))


def _target(judge: Model, own: bool) -> str:
    """What ρ is about."""
    if judge.tolerance is None:
        return "answer" if own else "truth"
    return f"within {judge.tolerance:g} of the {'prediction without noise' if own else 'truth'}"


def _table(records: Any) -> tuple[Floats, Sequence[str] | None]:
    names: Sequence[str] | None = None
    try:
        table, names = table_of_numbers(records)
        table = np.atleast_2d(table)
    except (TypeError, ValueError):
        table = np.empty((0, 0))
    if table.ndim != 2 or not table.size:
        raise InvalidParameter("records must be a table of numbers with at least one row; encode categories as numbers first")
    if not bool(np.isfinite(table).all()):
        raise InvalidParameter("records must hold finite numbers: fill in what is missing first")
    return table, names


def _column(key: Any, names: tuple[str, ...] | None, width: int) -> int:
    if isinstance(key, str):
        if names is None or key not in names:
            there = (
                f"there are {', '.join(names)[:200]}" if names is not None else "the model and the data have no names; use numbers"
            )
            raise InvalidParameter(f"no feature is called {key[:60]!r}; {there}")
        return names.index(key)
    column = int(key)
    if not 0 <= column < width:
        raise InvalidParameter(f"sensitive columns run from 0 to {width - 1}")
    return column
