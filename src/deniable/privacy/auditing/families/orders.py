"""The order of fields: which of two is larger, which is the largest of all, and how many are out of order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.privacy.auditing.events import Codes, Feature, most_telling
from deniable.privacy.auditing.fields import Table
from deniable.privacy.auditing.octets import Octets, words_of

MOST_FIELDS = 12
MOST_FEATURES = 4
NOT_VALUES = ("length of ", "spare length of ", "type of ", "keys of ", "layout of ", "the text", "the headers")


def propose(fit: Table, inputs: int) -> Iterator[Feature]:
    """The pairs of fields whose order differs most between the test values."""
    groups: dict[str, list[str]] = {}
    for name, column in fit.columns.items():
        if not name.startswith(NOT_VALUES):
            groups.setdefault(column.kind if isinstance(column, Octets) else "number", []).append(name)
    features: list[Feature] = []
    for kind, names in groups.items():
        chosen = names if len(names) <= MOST_FIELDS else names[: MOST_FIELDS // 2] + names[-MOST_FIELDS // 2 :]
        features += [Feature(f"{a} against {b}", partial(_compared, a, b), 3) for a, b in combinations(chosen, 2)]
        if len(chosen) > 2:
            what = f"of {len(chosen)} fields of {kind}s"
            features.append(Feature(f"the place of the largest {what}", partial(_largest, chosen, 1), len(chosen)))
            features.append(Feature(f"the place of the smallest {what}", partial(_largest, chosen, -1), len(chosen)))
            features.append(Feature(f"pairs out of order {what}", partial(_inversions, chosen), len(chosen) ** 2))
    yield from most_telling(features, fit, inputs, MOST_FEATURES)


def _largest(names: list[str], sign: int, table: Table) -> Codes:
    columns = np.stack([_leading(table, name) for name in names])
    return np.asarray(np.argmax(columns, axis=0) if sign > 0 else np.argmin(columns, axis=0), np.intp)


def _inversions(names: list[str], table: Table) -> Codes:
    columns = [_leading(table, name) for name in names]
    return np.asarray(np.sum([first > second for first, second in combinations(columns, 2)], axis=0), np.intp)


def _compared(first: str, second: str, table: Table) -> Codes:
    a, b = _leading(table, first), _leading(table, second)
    return np.where(a < b, 0, np.where(a > b, 2, 1)).astype(np.intp)


def _leading(table: Table, name: str) -> NDArray[Any]:
    column = table.columns.get(name)
    if column is None:
        return np.zeros(len(table))
    return words_of(column)[:, 0] if isinstance(column, Octets) else column
