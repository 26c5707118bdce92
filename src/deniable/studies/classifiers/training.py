"""Training on reports alone: naive Bayes, linear and logistic regression from unbiased moments.

Nobody's row is ever held. A public coin gives every person one pair of columns (for naive Bayes: one feature and the answer), each
is reported with half of epsilon, and products of the two unbiased reports are unbiased for the product of the values. From
these moments the models follow; squares of numbers come from the mechanism's own parabola.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

import numpy as np
from scipy.special import expit, softmax

from deniable.batch import Floats, Keystream, SystemKeystream, draw_many, encode_many
from deniable.core import Categories, Epsilon, EpsilonLike, Interval, make_mechanism
from deniable.errors import InvalidParameter, NotSupported, OutOfDomain
from deniable.estimators import debiasing, support
from deniable.studies.classifiers.logistic import fitted_slope, widest_spread

Kind = Literal["naive-bayes", "linear", "logistic"]
KINDS = ("naive-bayes", "linear", "logistic")
LEAST_VARIANCE, LEAST_SHARE = 1e-3, 1e-3
MODERATE = 0.6
"""Fitted values that spread this far, of how far they possibly can, are believed as they are."""
ANSWER = "the answer"


@dataclass(frozen=True, eq=False)
class Column:
    """One column: what is public about it, and how it is reported; without epsilon it is read as it is (central training)."""

    name: Any
    public: Any
    epsilon: Epsilon | None
    mechanism: str

    @property
    def values(self) -> list[Any] | None:
        """The categories; None for numbers."""
        return self.public if isinstance(self.public, list) else None

    @property
    def width(self) -> int:
        """How many numbers stand for it."""
        return 1 if self.values is None else len(self.values)

    def seen(self, values: Any) -> Floats:
        """The values as numbers: positions from 0 to 1 within the range, or one column per category."""
        if self.values is not None:
            places = {value: place for place, value in enumerate(self.values)}
            numbers = np.array([places.get(value, -1) for value in values], np.int64)
            if (numbers < 0).any():
                raise OutOfDomain(
                    f"column {self.name!r}, row {int(np.argmin(numbers))}: the value is not one of the listed ones (not shown)"
                )
            return np.asarray(np.eye(self.width)[numbers])
        low, high = (float(end) for end in self.public)
        numbers = np.asarray(values, np.float64)
        bad = np.flatnonzero(~((numbers >= low) & (numbers <= high)))
        if len(bad):
            raise OutOfDomain(
                f"column {self.name!r}, row {int(bad[0])}: missing or outside {low:g} to {high:g} (not shown); clip or fill first"
            )
        return np.asarray(((numbers - low) / (high - low)).reshape(-1, 1))

    def reported(self, seen: Floats, stream: Keystream) -> tuple[Floats, Floats]:
        """Unbiased numbers for the values and for their squares, from one private report of each person."""
        if self.epsilon is None:
            return seen, seen**2
        if self.values is not None:
            mechanism = make_mechanism("k-rr", domain=Categories(self.width), epsilon=self.epsilon)
            law = support(mechanism)
            outputs = np.asarray(draw_many(mechanism.channel, seen.argmax(axis=1), stream), np.int64)
            unbiased = (np.eye(self.width)[outputs] - float(law.q)) / float(law.p - law.q)
            return unbiased, unbiased  # an indicator is its own square
        mechanism = make_mechanism(self.mechanism, domain=Interval(0, 1), epsilon=self.epsilon)
        rule = debiasing(mechanism)
        if rule is None or not rule.sees_squares or rule.square is None:
            raise NotSupported(f"{self.mechanism} does not show squares without bias; use pm, hm, sw or laplace")
        outputs = draw_many(mechanism.channel, encode_many(mechanism, seen[:, 0]), stream)
        numbers = rule.unbiased(np.asarray(outputs, np.int64)).reshape(-1, 1)
        a, b, c = rule.square
        return numbers, (numbers**2 - a - b * numbers) / c


@dataclass(frozen=True, eq=False)
class PrivateModel:
    """A model that was learned from reports; it answers rows as any model does."""

    kind: Kind
    epsilon: float | None
    people: int
    columns: tuple[Column, ...]
    answer: Column
    means: Floats = field(repr=False)
    parameters: dict[str, Floats] = field(repr=False)

    def predict(self, rows: Any) -> Any:
        """Classes, or numbers for regression."""
        scores = self._scores(rows)
        if self.answer.values is None:
            low, high = (float(end) for end in self.answer.public)
            return low + (high - low) * scores[:, 0]
        return np.array(self.answer.values)[scores.argmax(axis=1)]

    def predict_proba(self, rows: Any) -> Floats:
        """The probability of every class, in the order they were listed; for naive Bayes and logistic regression."""
        if self.kind == "linear":
            raise NotSupported("a linear model has no probabilities; train with model='logistic' or 'naive-bayes'")
        scores = self._scores(rows)
        if self.kind == "naive-bayes":
            return np.asarray(softmax(scores, axis=1))
        each = np.asarray(expit(scores))
        return np.asarray(each / each.sum(axis=1, keepdims=True))

    def score(self, rows: Any, answers: Any) -> float:
        """The share of right answers; for regression the coefficient of determination, R²."""
        predicted, truth = self.predict(rows), np.asarray(answers)
        if self.answer.values is not None:
            return float((predicted == truth).mean())
        return float(1 - ((predicted - truth) ** 2).mean() / max(float(truth.var()), 1e-300))

    def _scores(self, rows: Any) -> Floats:
        parts = [column.seen(column_values(rows, column.name)) for column in self.columns]
        return self._bayes(parts) if self.kind == "naive-bayes" else self._linear(np.hstack(parts))

    def _linear(self, table: Floats) -> Floats:
        return np.asarray(self.parameters["intercept"] + (table - self.means) @ self.parameters["weights"])

    def _bayes(self, parts: list[Floats]) -> Floats:
        scores = np.tile(np.log(self.parameters["prior"]), (len(parts[0]), 1))
        for place, (column, seen) in enumerate(zip(self.columns, parts, strict=True)):
            if column.values is not None:
                scores = scores + seen @ np.log(self.parameters[f"table {place}"])
            else:
                mean, variance = self.parameters[f"mean {place}"], self.parameters[f"variance {place}"]
                scores = scores - 0.5 * (np.log(variance) + (seen - mean) ** 2 / variance)
        return np.asarray(scores)


def train_private(
    rows: Any,
    answers: Any,
    ranges: Mapping[Any, Any],
    answer: Any,
    *,
    epsilon: EpsilonLike | None,
    model: Kind = "naive-bayes",
    mechanism: str = "pm",
    keystream: Keystream | None = None,
) -> PrivateModel:
    """Learn a model from one private report per person, simulated here from their rows.

    `ranges` says for each feature what is public: a tuple (low, high) for numbers, a list of all values for categories; `answer`
    says the same about what is to be learned, so a tuple means regression (model "linear") and a list classification. `epsilon` is
    all that a person spends, the answer included; None trains centrally, on the values as they are, for comparison.
    "logistic" is logistic regression with `predict_proba`, one class against the rest; it takes the same reports as "linear".

    >>> import numpy as np
    >>> ages = np.linspace(0, 100, 20_000)
    >>> trained = train_private({"age": ages}, list(ages > 50), {"age": (0, 100)}, [False, True], epsilon=4)
    >>> trained.score({"age": ages}, ages > 50) > 0.9
    True
    """
    if model not in KINDS:
        raise InvalidParameter(f"model must be one of {', '.join(KINDS)}")
    if not ranges:
        raise InvalidParameter("ranges must name at least one feature")
    half = None if epsilon is None else Epsilon(Epsilon(epsilon).exact / 2)
    columns = tuple(Column(name, public, half, mechanism) for name, public in ranges.items())
    wanted = Column(ANSWER, answer, half, mechanism)
    if model != "linear" and wanted.values is None:
        raise InvalidParameter(f"{model} needs classes: give a list of them as answer, or use model='linear' for numbers")
    everything = [*(column.seen(column_values(rows, column.name)) for column in columns), wanted.seen(answers)]
    people = len(everything[-1])
    if any(len(part) != people for part in everything):
        raise InvalidParameter("rows and answers must have one entry for each person")
    last = len(columns)
    pairs = [(i, last) for i in range(last)] if model == "naive-bayes" else list(combinations(range(last + 1), 2))
    if people < len(pairs):
        raise InvalidParameter(f"there must be at least {len(pairs)} people: one for each pair of columns")
    stream = SystemKeystream() if keystream is None else keystream
    sums = _Moments([*columns, wanted], everything, pairs, stream)
    means, parameters = _bayes(sums, columns, last) if model == "naive-bayes" else _linear(sums, last, logistic=model == "logistic")
    return PrivateModel(model, None if epsilon is None else float(Epsilon(epsilon)), people, columns, wanted, means, parameters)


class _Moments:
    """Unbiased means: of every column, of its squares, and of the products of pairs."""

    def __init__(self, columns: Sequence[Column], seen: list[Floats], pairs: list[tuple[int, int]], stream: Keystream) -> None:
        self.columns = columns
        firsts: dict[int, list[Floats]] = {i: [] for i in range(len(columns))}
        squares: dict[int, list[Floats]] = {i: [] for i in range(len(columns))}
        self.products: dict[tuple[int, int], Floats] = {}
        self.square_products: dict[tuple[int, int], Floats] = {}
        self.noise = 0.0
        shares = _shares(len(seen[0]), len(pairs), stream, central=columns[0].epsilon is None)
        for (i, j), who in zip(pairs, shares, strict=True):
            (left, left_square), (right, right_square) = (columns[k].reported(seen[k][who], stream) for k in (i, j))
            self.products[i, j] = left.T @ right / len(who)
            self.square_products[i, j] = left_square.T @ right / len(who)
            each = [(left[:, :1] * right[:, :1]).std(), left_square.std(), right_square.std()]
            self.noise = max(self.noise, float(max(each)) / math.sqrt(len(who)))
            for k, first, square in ((i, left, left_square), (j, right, right_square)):
                firsts[k].append(first)
                squares[k].append(square)
        self.first = [np.concatenate(firsts[k]).mean(axis=0) for k in range(len(columns))]
        self.square = [np.concatenate(squares[k]).mean(axis=0) for k in range(len(columns))]


def _shares(people: int, parts: int, stream: Keystream, *, central: bool) -> list[Any]:
    """Who reports which pair, by chance alone; in central training everyone is in every pair."""
    if central:
        return [np.arange(people)] * parts
    order = np.empty(people, np.uint64)
    stream.fill(order)
    return list(np.array_split(np.argsort(order), parts))


def _bayes(sums: _Moments, columns: Sequence[Column], last: int) -> tuple[Floats, dict[str, Floats]]:
    prior = _distribution(sums.first[last])
    parameters: dict[str, Floats] = {"prior": prior}
    for i, column in enumerate(columns):
        joint = sums.products[i, last]
        if column.values is not None:
            parameters[f"table {i}"] = np.stack([_distribution(joint[:, c]) for c in range(len(prior))], axis=1)
            continue
        mean = np.clip(joint[0] / prior, 0, 1)
        pooled = max(float(sums.square[i][0] - sums.first[i][0] ** 2), LEAST_VARIANCE)
        variance = sums.square_products[i, last][0] / prior - mean**2
        parameters[f"mean {i}"] = mean
        # A variance that noise made impossible is replaced by that of everyone.
        parameters[f"variance {i}"] = np.where((variance < LEAST_VARIANCE) | (variance > 0.25), pooled, variance)
    return np.zeros(0), parameters


def _linear(sums: _Moments, last: int, *, logistic: bool) -> tuple[Floats, dict[str, Floats]]:
    widths = [column.width for column in sums.columns[:last]]
    ends = np.cumsum([0, *widths])
    means = np.concatenate(sums.first[:last])
    square = np.zeros((ends[-1], ends[-1]))
    cross = np.zeros((ends[-1], sums.columns[last].width))
    for i in range(last):
        here = slice(ends[i], ends[i + 1])
        square[here, here] = np.diag(sums.square[i])  # two categories of one column never meet
        cross[here] = sums.products[i, last]
        for j in range(i + 1, last):
            square[here, ends[j] : ends[j + 1]] = sums.products[i, j]
            square[ends[j] : ends[j + 1], here] = sums.products[i, j].T
    spread = square - np.outer(means, means)
    values, vectors = np.linalg.eigh((spread + spread.T) / 2)
    central = sums.columns[0].epsilon is None
    # What noise alone would make of a direction is the least that is believed of it: a ridge, chosen by the reports.
    least = 1e-9 if central else 2 * sums.noise * math.sqrt(len(values))
    solved = vectors @ np.diag(1 / np.maximum(values, least)) @ vectors.T
    pull = cross - np.outer(means, sums.first[last])
    # Shrunk by what noise alone would show (James and Stein): where nothing was learned, the mean is the answer.
    noise = 0.0 if central else len(values) * sums.noise**2
    weights = solved @ (pull * np.clip(1 - noise / np.maximum((pull**2).sum(axis=0), 1e-300), 0, 1))
    if not logistic:
        return means, {"weights": weights, "intercept": sums.first[last]}
    believed = vectors @ np.diag(np.maximum(values, least)) @ vectors.T
    spreads = np.sqrt(np.maximum((weights * (believed @ weights)).sum(axis=0), 1e-12))
    shares = _distribution(sums.first[last])
    # Noise can make a class look all but decided, and probabilities far too sure: near that end a standard error less is believed.
    moderate = np.minimum(spreads, MODERATE * np.array([widest_spread(float(share)) for share in shares]))
    doubt = sums.noise * np.linalg.norm(weights, axis=0) / spreads
    careful = spreads if central else np.maximum(spreads - doubt, moderate)
    fits = [fitted_slope(float(share), float(spread)) for share, spread in zip(shares, careful, strict=True)]
    factors, middles = np.array(fits).T
    return means, {"weights": weights * (factors * careful / spreads), "intercept": middles}


def _distribution(shares: Floats) -> Floats:
    possible = np.clip(shares, LEAST_SHARE, None)
    return np.asarray(possible / possible.sum())


def column_values(rows: Any, name: Any) -> Any:
    """One column of a frame, a mapping or a table."""
    if isinstance(name, str):
        try:
            values = rows[name]
        except (KeyError, IndexError, TypeError):
            names = [str(one) for one in getattr(rows, "columns", rows if isinstance(rows, Mapping) else ())]
            known = f"; there are {', '.join(names)[:200]}" if names else "; give a frame or a mapping that has it"
            raise InvalidParameter(f"no column is called {name[:60]!r}{known}") from None
        return values.to_numpy() if hasattr(values, "to_numpy") else values
    return np.asarray(rows)[:, name]
