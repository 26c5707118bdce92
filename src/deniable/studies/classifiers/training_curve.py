"""How good a model becomes that learns from reports: over epsilon and the number of people, beside central training."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student

from deniable._results import Result
from deniable.batch import Keystream, SystemKeystream
from deniable.core import Epsilon, EpsilonLike
from deniable.errors import InvalidParameter
from deniable.studies.classifiers.training import Kind, column_values, train_private


@dataclass(frozen=True, repr=False)
class TrainingCurve(Result):
    """How good a model is that learned from reports, for every epsilon and number of people, beside central training."""

    kind: str
    metric: str
    central: float
    rows: tuple[dict[str, Any], ...]

    def __repr__(self) -> str:
        best = max(self.rows, key=lambda row: row["score"])
        what = f"{best['score']:.3f} at epsilon {best['epsilon']:g} with {best['people']:,} people"
        return f"<TrainingCurve {self.kind}: {self.metric} up to {what}; {self.central:.3f} centrally>"

    def _rows(self) -> list[dict[str, Any]]:
        return list(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """The curve as JSON-ready values: model, metric, the central score, and one row per training."""
        return {"model": self.kind, "metric": self.metric, "central": self.central, "rows": self._rows()}

    def enough(self, share: float = 0.95) -> dict[float, int | None]:
        """For every epsilon the fewest people, of those tried, whose whole interval reaches this share of the central score."""
        fewest: dict[float, int | None] = {}
        for row in sorted(self.rows, key=lambda row: row["people"]):
            known = fewest.setdefault(row["epsilon"], None)
            if known is None and row["low"] >= share * self.central:
                fewest[row["epsilon"]] = row["people"]
        return dict(sorted(fewest.items()))


def training_curve(
    rows: Any,
    answers: Any,
    ranges: Mapping[Any, Any],
    answer: Any,
    *,
    epsilons: Sequence[EpsilonLike],
    people: Sequence[int] | None = None,
    model: Kind = "naive-bayes",
    mechanism: str = "pm",
    repeats: int = 8,
    held_out: float = 0.25,
    keystream: Keystream | None = None,
) -> TrainingCurve:
    """Train on reports at each level, several times, and score on rows that were held out; 95 % intervals are over the repeats.

    `people` are numbers of users to try. Rows are drawn again and again for more of them than there are: that is how it would be
    with more people like these. Central training uses all training rows, without noise.
    """
    if repeats < 3 or not 0 < held_out < 1:
        raise InvalidParameter("repeats must be at least 3, and held_out between 0 and 1")
    stream = SystemKeystream() if keystream is None else keystream
    table = {name: np.asarray(column_values(rows, name)) for name in ranges}
    truth = np.asarray(answers)
    order = np.empty(len(truth), np.uint64)
    stream.fill(order)
    shuffled = np.argsort(order)
    cut = max(1, int(len(truth) * held_out))
    test, train = shuffled[:cut], shuffled[cut:]

    def part(who: Any) -> tuple[dict[Any, Any], Any]:
        return {name: values[who] for name, values in table.items()}, truth[who]

    tested = part(test)
    common: dict[str, Any] = {
        "ranges": _named(ranges),
        "answer": answer,
        "model": model,
        "mechanism": mechanism,
        "keystream": stream,
    }
    central = train_private(*_named_rows(part(train)), epsilon=None, **common).score(*_named_rows(tested))
    points = []
    for count in people or [len(train)]:
        for level in epsilons:
            scores = []
            for _ in range(repeats):
                picks = np.empty(count, np.uint64)
                stream.fill(picks)
                who = train if people is None else train[(picks % np.uint64(len(train))).astype(np.int64)]
                scores.append(train_private(*_named_rows(part(who)), epsilon=level, **common).score(*_named_rows(tested)))
            mean, spread = float(np.mean(scores)), float(np.std(scores, ddof=1)) / math.sqrt(repeats)
            reach = float(student.ppf(0.975, repeats - 1)) * spread
            points.append(
                {"epsilon": float(Epsilon(level)), "people": count, "score": mean, "low": mean - reach, "high": mean + reach}
            )
    metric = "accuracy" if isinstance(answer, list) else "R²"
    return TrainingCurve(model, metric, central, tuple(points))


def _named(ranges: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): public for name, public in ranges.items()}


def _named_rows(part: tuple[dict[Any, Any], Any]) -> tuple[dict[str, Any], Any]:
    return {str(name): values for name, values in part[0].items()}, part[1]
